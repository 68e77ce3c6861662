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

// func plainRun(b []byte, i int) int
//
// SSE2 only, which every amd64 has. A byte's high bit ends up set where it is equal to a
// quote or a backslash, at most 0x1f, or has it set already.
TEXT ·plainRun(SB), NOSPLIT, $0-40
	MOVQ  b_base+0(FP), SI
	MOVQ  b_len+8(FP), CX
	MOVQ  i+24(FP), AX
	MOVOU quotes<>(SB), X8
	MOVOU backslashes<>(SB), X9
	MOVOU controls<>(SB), X10
	SUBQ  $32, CX // the last place where 32 bytes are

next:
	CMPQ     AX, CX
	JGT      done
	MOVOU    (SI)(AX*1), X0
	MOVOU    16(SI)(AX*1), X1
	MOVO     X0, X2
	MOVO     X0, X3
	MOVO     X0, X4
	MOVO     X1, X5
	MOVO     X1, X6
	MOVO     X1, X7
	PCMPEQB  X8, X2
	PCMPEQB  X8, X5
	PCMPEQB  X9, X3
	PCMPEQB  X9, X6
	PMINUB   X10, X4
	PMINUB   X10, X7
	PCMPEQB  X0, X4
	PCMPEQB  X1, X7
	POR      X3, X2
	POR      X6, X5
	POR      X0, X4
	POR      X1, X7
	POR      X4, X2
	POR      X7, X5
	PMOVMSKB X2, BX
	PMOVMSKB X5, DX
	SHLL     $16, DX
	ORL      DX, BX
	JNZ      found
	ADDQ     $32, AX
	JMP      next

found:
	BSFL BX, BX
	ADDQ BX, AX

done:
	MOVQ AX, ret+32(FP)
	RET
