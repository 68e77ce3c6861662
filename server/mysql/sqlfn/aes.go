package sqlfn

import (
	"bytes"
	"crypto/aes"
	"strings"

	"millrace/server/mysql/sqlerr"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// aesFunctions encrypt as MySQL does unless it is told otherwise: AES of 128 bits, every block on its own. Take it for reading what others wrote:
// equal blocks stay equal.
func aesFunctions(memory Memory) []sql.Function {
	return []sql.Function{
		scalarFunction(scalar{name: "aes_encrypt", strict: true, typeOf: fixed(types.LongBlob), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			text, key, err := aesArguments(ctx, args, exprs)
			if err != nil {
				return nil, err
			}
			padding := aes.BlockSize - len(text)%aes.BlockSize
			if err := memory.Admits(len(text) + padding); err != nil {
				return nil, err
			}
			out := append([]byte(text), bytes.Repeat([]byte{byte(padding)}, padding)...)
			block, err := aes.NewCipher(key)
			if err != nil {
				return nil, err
			}
			for b := out; len(b) > 0; b = b[aes.BlockSize:] {
				block.Encrypt(b, b)
			}
			return out, nil
		}}, 2, 2),
		scalarFunction(scalar{name: "aes_decrypt", strict: true, typeOf: fixed(types.LongBlob), eval: func(ctx *sql.Context, args []any, exprs []sql.Expression) (any, error) {
			text, key, err := aesArguments(ctx, args, exprs)
			if err != nil || text == "" || len(text)%aes.BlockSize != 0 {
				return nil, err
			}
			if err := memory.Admits(len(text)); err != nil {
				return nil, err
			}
			out := []byte(text)
			block, err := aes.NewCipher(key)
			if err != nil {
				return nil, err
			}
			for b := out; len(b) > 0; b = b[aes.BlockSize:] {
				block.Decrypt(b, b)
			}
			padding := int(out[len(out)-1])
			if padding < 1 || padding > aes.BlockSize || !bytes.HasSuffix(out, bytes.Repeat([]byte{byte(padding)}, padding)) {
				return nil, nil
			}
			return out[:len(out)-padding], nil
		}}, 2, 2),
	}
}

// aesArguments are the text and the key, folded to the size that AES wants.
func aesArguments(ctx *sql.Context, args []any, exprs []sql.Expression) (text string, key []byte, err error) {
	if v, err := ctx.GetSessionVariable(ctx, "block_encryption_mode"); err == nil {
		if mode, ok := v.(string); ok && !strings.EqualFold(mode, "aes-128-ecb") {
			return "", nil, sqlerr.New(1235, "42000", "This version of Millrace encrypts with block_encryption_mode = 'aes-128-ecb' only")
		}
	}
	if text, err = ToText(ctx, args[0], exprs[0].Type()); err != nil {
		return "", nil, err
	}
	long, err := ToText(ctx, args[1], exprs[1].Type())
	if err != nil {
		return "", nil, err
	}
	key = make([]byte, 16)
	for i := range len(long) {
		key[i%len(key)] ^= long[i]
	}
	return text, key, nil
}
