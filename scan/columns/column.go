package columns

import (
	"encoding/binary"

	"millrace/blobexpand"
	"millrace/catalog"
	"millrace/internal/vector"
	"millrace/scan"
	"millrace/scan/exec"
)

// TypeOf is how column c of t comes: which vectors Open returns for it.
func TypeOf(t *catalog.Table, c scan.Column) exec.Type {
	switch c.Kind {
	case scan.Partition, scan.Offset, scan.Timestamp, scan.TimestampProducer, scan.TimestampBroker, scan.LeaderEpoch, scan.ProducerID:
		return exec.Type{Kind: vector.Int}
	case scan.Expanded:
		return typeOf(t.Expanded[c.Index].Type)
	}
	return exec.Type{Kind: vector.String}
}

func typeOf(t blobexpand.Type) exec.Type {
	switch t.Kind {
	case blobexpand.Uint64:
		return exec.Type{Kind: vector.Uint}
	case blobexpand.Float64:
		return exec.Type{Kind: vector.Float}
	case blobexpand.Decimal:
		if t.Precision > 38 {
			return exec.Type{Kind: vector.Decimal256, Scale: int32(t.Scale)}
		}
		return exec.Type{Kind: vector.Decimal128, Scale: int32(t.Scale)}
	case blobexpand.Text, blobexpand.Binary, blobexpand.JSON:
		return exec.Type{Kind: vector.String}
	}
	return exec.Type{Kind: vector.Int}
}

// keyOf names a column for all blocks of its topic, whatever the table it stands in: equal keys,
// equal cells. Columns that are not kept (they are as large as the raw values, or
// depend on all others) have none.
func keyOf(t *catalog.Table, c scan.Column) string {
	switch c.Kind {
	case scan.Value, scan.RawValue, scan.Headers, scan.RawHeaders, scan.Error, scan.Rest:
		return ""
	case scan.Expanded:
		return expandedKey(&t.Expanded[c.Index])
	}
	return string([]byte{'s', byte(c.Kind)})
}

func expandedKey(c *blobexpand.Column) string {
	t := c.Type
	if !c.Declared && t.Kind == blobexpand.Text {
		t.Length = 0 // of inferred text the length limits nothing
	}
	k := []byte{'e', byte(t.Kind), t.Bits, t.Precision, t.Scale, t.FSP, byte(t.Epoch), 0}
	if c.Declared {
		k[7] = 1
	}
	k = binary.AppendUvarint(k, uint64(t.Length))
	k = binary.AppendUvarint(k, uint64(c.Field))
	appendAll := func(all []string) {
		k = binary.AppendUvarint(k, uint64(len(all)))
		for _, s := range all {
			k = binary.AppendUvarint(k, uint64(len(s)))
			k = append(k, s...)
		}
	}
	appendAll(t.Enum)
	if c.Field == 0 {
		k = append(k, pathSuffix(c.Path)...)
	}
	return string(k)
}

// pathSuffix is how the key of a column at a path ends. Others may end so by chance.
func pathSuffix(path []string) string {
	var k []byte
	k = binary.AppendUvarint(k, uint64(len(path)))
	for _, s := range path {
		k = binary.AppendUvarint(k, uint64(len(s)))
		k = append(k, s...)
	}
	return string(k)
}
