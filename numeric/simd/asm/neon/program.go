package main

import (
	"fmt"
	"strings"
)

// program is an assembly file under construction.
type program struct{ text strings.Builder }

// v is a vector register.
type v int

func (r v) String() string { return fmt.Sprintf("V%d", int(r)) }

// function begins a function with a frame for local variables and its arguments, in bytes.
func (p *program) function(name, signature string, frame, args int) {
	fmt.Fprintf(&p.text, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $%d-%d\n", name, signature, name, frame, args)
}

func (p *program) label(name string) { fmt.Fprintf(&p.text, "\n%s:\n", name) }

// op appends an instruction that Go's assembler knows.
func (p *program) op(format string, args ...any) {
	fmt.Fprintf(&p.text, "\t"+format+"\n", args...)
}

// encodings holds the instructions that Go's assembler does not know, by name and arrangement, without
// their registers.
var encodings = map[string]uint32{
	"FADD.S4": 0x4e20d400, "FADD.D2": 0x4e60d400,
	"FSUB.S4": 0x4ea0d400, "FSUB.D2": 0x4ee0d400,
	"FMUL.S4": 0x6e20dc00, "FMUL.D2": 0x6e60dc00,
	"FCMEQ.S4": 0x4e20e400,
	"CMGT.H8":  0x4e603400, "CMGT.S4": 0x4ea03400,
	"CMGE.S4": 0x4ea03c00,
	"SMAX.H8": 0x4e606400, "SMAX.S4": 0x4ea06400, "SMIN.H8": 0x4e606c00, "SMIN.S4": 0x4ea06c00,
	"USHL.S4": 0x6ea04400, "USHL.D2": 0x6ee04400,
	"MUL.S4": 0x4ea09c00, "UMULL.S2": 0x2ea0c000, "UMULL2.S4": 0x6ea0c000,
	"BIC.B16": 0x4e601c00,

	"FRINTZ.S4": 0x4ea19800, "FRINTZ.D2": 0x4ee19800,
	"UCVTF.S4": 0x6e21d800, "UCVTF.D2": 0x6e61d800,
	"UADDLP.B16": 0x6e202800, "UADDLP.H8": 0x6e602800, "UADDLP.S4": 0x6ea02800, // the arrangement of the source
	"FCVTL.H4": 0x0e217800, "FCVTL2.H8": 0x4e217800, // f16 to f32
	"FCVTL.S2": 0x0e617800, "FCVTL2.S4": 0x4e617800, // f32 to f64
	"FCVTN.S4": 0x0e216800, "FCVTN2.S4": 0x4e216800, // f32 to f16
	"FCVTN.D2": 0x0e616800, "FCVTN2.D2": 0x4e616800, // f64 to f32
	"FCVTXN.D2": 0x2e616800, "FCVTXN2.D2": 0x6e616800, // f64 to f32, rounded to odd
	"SSHR15.H8": 0x4f110400,
	"CMLT0.S4":  0x4ea0a800, "CMLT0.D2": 0x4ee0a800, // d = -1 where n < 0
	"SXTL.S2": 0x0f20a400, "SXTL2.S4": 0x4f20a400,
	"SMINV.S4": 0x4eb1a800, "SMAXV.S4": 0x4eb0a800,
}

// three appends an instruction d = n op m with the registers of an arrangement. op is the name in Arm's
// manual; Go's assembler puts a V before it.
func (p *program) three(op, arrangement string, d, n, m v) {
	if code, ok := encodings[op+"."+arrangement]; ok {
		p.op("WORD $%#08x // %s %v.%[4]s, %v.%[4]s, %[6]v.%[4]s", code|uint32(m)<<16|uint32(n)<<5|uint32(d), op, d, arrangement, n, m)
		return
	}
	p.op("V%s %v.%[3]s, %v.%[3]s, %[5]v.%[3]s", op, m, arrangement, n, d)
}

// long appends an instruction d = n op m whose elements of d are twice as long as those of n and m.
func (p *program) long(op, arrangement string, d, n, m v) {
	p.op("WORD $%#08x // %s %v.D2, %v.%s, %v.%[5]s", encodings[op+"."+arrangement]|uint32(m)<<16|uint32(n)<<5|uint32(d), op, d, n, arrangement, m)
}

// two appends an encoded instruction d = op n. The arrangement is that of the source.
func (p *program) two(op, arrangement string, d, n v) {
	code, ok := encodings[op+"."+arrangement]
	if !ok {
		panic("no encoding of " + op + "." + arrangement)
	}
	p.op("WORD $%#08x // %s %v, %v.%s", code|uint32(n)<<5|uint32(d), op, d, n, arrangement)
}

// fmla appends d += n·m[i] for four f32 or two f64.
func (p *program) fmla(arrangement string, d, n, m v, i int) {
	code := uint32(0x4f801000) | uint32(i&1)<<21 | uint32(i>>1)<<11
	element := "S"
	if arrangement == "D2" {
		code, element = 0x4fc01000|uint32(i)<<11, "D"
	}
	p.op("WORD $%#08x // FMLA %v.%[3]s, %v.%[3]s, %[5]v.%s[%d]", code|uint32(m)<<16|uint32(n)<<5|uint32(d), d, arrangement, n, m, element, i)
}

// smlal appends d += n·m[i]: four products of 16-bit integers, of the upper half of n if high is set.
func (p *program) smlal(d, n, m v, i int, high bool) {
	code, name, from := uint32(0x0f402000), "SMLAL", "H4"
	if high {
		code, name, from = 0x4f402000, "SMLAL2", "H8"
	}
	code |= uint32(i>>1&1)<<21 | uint32(i&1)<<20 | uint32(i>>2)<<11
	p.op("WORD $%#08x // %s %v.S4, %v.%s, %v.H[%d]", code|uint32(m)<<16|uint32(n)<<5|uint32(d), name, d, n, from, m, i)
}

// constant sets all elements of d. It changes R26.
func (p *program) constant(d v, arrangement string, value uint64) {
	p.op("MOVD $%#x, R26", value)
	p.op("VDUP R26, %v.%s", d, arrangement)
}

// laneBits sets the elements of d to the bits 0 to 3. Shifts by four give those of the next lanes.
func (p *program) laneBits(d v) {
	p.op("MOVD $0x200000001, R25")
	p.op("MOVD $0x800000004, R26")
	p.op("VMOV R25, %v.D[0]", d)
	p.op("VMOV R26, %v.D[1]", d)
}

func (p *program) zero(d v) { p.three("EOR", "B16", d, d, d) }

func (p *program) move(d, n v) { p.op("VMOV %v.B16, %v.B16", n, d) }

// shift appends a shift by a constant: SHL or USHR.
func (p *program) shift(op string, by int, arrangement string, d, n v) {
	p.op("V%s $%d, %v.%s, %v.%s", op, by, n, arrangement, d, arrangement)
}

// field loads a field of the argument, which R0 points to.
func (p *program) field(fields []string, name, register string) {
	p.op("MOVD %d(R0), %s", offset(fields, name), register)
}

// fields loads fields into the registers with the numbers from first on.
func (p *program) fields(all []string, first int, names ...string) {
	for i, name := range names {
		p.field(all, name, fmt.Sprintf("R%d", first+i))
	}
}

func offset(fields []string, name string) int {
	for i, f := range fields {
		if f == name {
			return 8 * i
		}
	}
	panic("no field " + name)
}

// The rounding modes of FPCR.
const (
	upwards     = 1 << 22
	towardsZero = 3 << 22
)

// round sets the rounding mode and keeps the old control word in R19, which restore needs.
func (p *program) round(mode int) {
	p.op("MOVD FPCR, R19")
	p.op("MOVD $%d, R26", mode)
	p.op("MOVD R26, FPCR")
}

func (p *program) restore() { p.op("MOVD R19, FPCR") }

// leaveIf jumps if a bit of the register is set.
func (p *program) leaveIf(bad v, label string) {
	p.op("VMOV %v.D[0], R25", bad)
	p.op("VMOV %v.D[1], R26", bad)
	p.op("ORR R25, R26, R26")
	p.op("CBNZ R26, %s", label)
}

// canonical replaces the NaNs of four f32. It leaves a mask of the other elements in ordered.
func (p *program) canonical(d, nan, ordered v) {
	p.three("FCMEQ", "S4", ordered, d, d)
	p.three("BIF", "B16", d, nan, ordered)
}
