#include "textflag.h"

// Sixteen times each byte that is compared with.
DATA quotes<>+0(SB)/8, $0x2222222222222222
DATA quotes<>+8(SB)/8, $0x2222222222222222
GLOBL quotes<>(SB), RODATA|NOPTR, $16
DATA backslashes<>+0(SB)/8, $0x5c5c5c5c5c5c5c5c
DATA backslashes<>+8(SB)/8, $0x5c5c5c5c5c5c5c5c
GLOBL backslashes<>(SB), RODATA|NOPTR, $16
DATA controls<>+0(SB)/8, $0x1f1f1f1f1f1f1f1f
DATA controls<>+8(SB)/8, $0x1f1f1f1f1f1f1f1f
GLOBL controls<>(SB), RODATA|NOPTR, $16

// SSE2 only, which every amd64 has.
//
// BEGIN loads the arguments: the bytes in SI, the place in AX, and in CX the last place
// where 32 bytes are.
#define BEGIN \
	MOVQ  p+0(FP), SI; \
	MOVQ  i+8(FP), AX; \
	MOVQ  n+16(FP), CX; \
	MOVOU quotes<>(SB), X8; \
	MOVOU backslashes<>(SB), X9; \
	MOVOU controls<>(SB), X10; \
	SUBQ  $32, CX

// LOOK sets a bit of BX for each of the 32 bytes at AX that is equal to a quote or a
// backslash, at most 0x1f, or at least 0x80.
#define LOOK \
	MOVOU    (SI)(AX*1), X0; \
	MOVOU    16(SI)(AX*1), X1; \
	MOVO     X0, X2; \
	MOVO     X0, X3; \
	MOVO     X0, X4; \
	MOVO     X1, X5; \
	MOVO     X1, X6; \
	MOVO     X1, X7; \
	PCMPEQB  X8, X2; \
	PCMPEQB  X8, X5; \
	PCMPEQB  X9, X3; \
	PCMPEQB  X9, X6; \
	PMINUB   X10, X4; \
	PMINUB   X10, X7; \
	PCMPEQB  X0, X4; \
	PCMPEQB  X1, X7; \
	POR      X3, X2; \
	POR      X6, X5; \
	POR      X0, X4; \
	POR      X1, X7; \
	POR      X4, X2; \
	POR      X7, X5; \
	PMOVMSKB X2, BX; \
	PMOVMSKB X5, DX; \
	SHLL     $16, DX; \
	ORL      DX, BX

// func plainRun(p *byte, i, n int) int
TEXT ·plainRun(SB), NOSPLIT, $0-32
	BEGIN

next:
	CMPQ AX, CX
	JGT  done
	LOOK
	JNZ  found
	ADDQ $32, AX
	JMP  next

found:
	BSFL BX, BX
	ADDQ BX, AX

done:
	MOVQ AX, ret+24(FP)
	RET

// func plainString(p *byte, i, n int) int
TEXT ·plainString(SB), NOSPLIT, $0-32
	BEGIN

next:
	CMPQ AX, CX
	JGT  other
	LOOK
	JNZ  found
	ADDQ $32, AX
	JMP  next

found:
	BSFL BX, BX
	ADDQ BX, AX
	CMPB (SI)(AX*1), $0x22
	JNE  other
	INCQ AX
	MOVQ AX, ret+24(FP)
	RET

other:
	MOVQ $-1, ret+24(FP)
	RET
