package main

import "fmt"

// interpolation describes a function of package sfu. All terms of its sum are multiples of a
// power of two, and this package computes the sum divided by that power:
//
//	C0·2^shift0 ± C1·x·2^shift1 ± C2·s·2^shift2 + bias
//
// where s is the truncated square of x, divided by 2^19. The bit of the sum with the value 1
// is bit weight.
type interpolation struct {
	name                   string
	shift0, shift1, shift2 int
	minus1, minus2         bool
	double                 bool // s is the square of 2x
	bias                   uint64
	weight                 int
}

var (
	ex2   = interpolation{name: "Ex2", shift0: 13, bias: 0x37e2, weight: 38}
	rcp   = interpolation{name: "Rcp", shift0: 13, minus1: true, double: true, bias: 0x67e7, weight: 39}
	rsqrt = interpolation{name: "Rsqrt", shift0: 14, shift2: 2, minus1: true, bias: 0xffff, weight: 40}
	sqrt  = interpolation{name: "Sqrt", shift0: 15, shift2: 1, minus2: true, bias: 0xffff, weight: 40}
	lg2   = interpolation{name: "Lg2", shift0: 13, shift1: 1, shift2: 2, minus2: true, bias: 0x868b, weight: 39}
	sin   = interpolation{name: "SinCos", shift0: 12, minus2: true, weight: 37}
	tanh  = interpolation{name: "Tanh", shift0: 15, shift2: 1, minus2: true, weight: 39}
)

// approximator is the function that is being generated. It computes four lanes at a time. A pair holds
// sums of 64 bits, of the first two and of the last two lanes.
type approximator struct {
	*program
	interpolation
	constants [][2]uint64 // the constants that R4 points to
	next      v           // the first register that is not used
}

type pair [2]v

const modeV v = 31 // the argument mode in all lanes

// fresh returns a register. scope frees the registers that were taken since.
func (f *approximator) fresh() v {
	if f.next == modeV-2 {
		panic(f.name + ": too many registers")
	}
	f.next++
	return f.next - 1
}

func (f *approximator) scope() func() {
	n := f.next
	return func() { f.next = n }
}

// bytes16 returns a register with a constant of 16 bytes. word and quad return one with a constant in all
// elements of 32 or 64 bits.
func (f *approximator) bytes16(c [2]uint64) v {
	at := -1
	for i := range f.constants {
		if f.constants[i] == c {
			at = i
		}
	}
	if at < 0 {
		at = len(f.constants)
		f.constants = append(f.constants, c)
	}
	d := f.fresh()
	f.op("FMOVQ %d(R4), F%d", 16*at, d)
	return d
}

func (f *approximator) quad(q uint64) v { return f.bytes16([2]uint64{q, q}) }

func (f *approximator) word(w uint32) v { return f.quad(uint64(w)<<32 | uint64(w)) }

// approx generates a function. compute returns the result and, as masks or -1, the lanes that it
// cannot compute.
func (p *program) approx(i interpolation, compute func(f *approximator, x v) (result, left v)) {
	const mask, all v = 29, 30
	f := &approximator{program: p, interpolation: i}
	p.function(i.name, "(d, a *[32]uint32, table *uint32, mode uint32) uint32", 0, 36)
	p.arguments("d", "a", "table")
	p.op("MOVWU mode+24(FP), R3")
	p.op("VDUP R3, %v.S4", modeV)
	p.op("MOVD $·%sConstants<>(SB), R4", i.name)
	p.op("MOVD $12, R5") // the bytes of a segment of the table
	p.zero(all)
	p.laneBits(mask)
	p.op("MOVD $8, R8")
	p.label("next")
	x := f.fresh()
	p.op("VLD1.P 16(R1), [%v.S4]", x)
	result, left := compute(f, x)
	p.op("VST1.P [%v.S4], 16(R0)", result)
	if left >= 0 {
		p.two("CMLT0", "S4", left, left)
		p.three("AND", "B16", left, left, mask)
		p.three("ORR", "B16", all, all, left)
		p.shift("SHL", 4, "S4", mask, mask)
	}
	p.op("SUBS $1, R8")
	p.op("BNE next")
	p.op("VADDV %v.S4, V0", all) // no bit is set twice
	p.op("VMOV V0.S[0], R8")
	p.op("MOVW R8, ret+32(FP)")
	p.op("RET")
	for at, c := range f.constants {
		for h, q := range c {
			fmt.Fprintf(&p.text, "\nDATA ·%sConstants<>+%d(SB)/8, $%#x", i.name, 16*at+8*h, q)
		}
	}
	fmt.Fprintf(&p.text, "\nGLOBL ·%sConstants<>(SB), RODATA|NOPTR, $%d\n", i.name, 16*len(f.constants))
}

// and, or, add and sub append operations on 32-bit elements and constants.
func (f *approximator) and(d, n v, c uint32) {
	defer f.scope()()
	f.three("AND", "B16", d, n, f.word(c))
}

func (f *approximator) or(d, n v, c uint32) {
	defer f.scope()()
	f.three("ORR", "B16", d, n, f.word(c))
}

func (f *approximator) add(d, n v, c uint32) {
	defer f.scope()()
	f.three("ADD", "S4", d, n, f.word(c))
}

func (f *approximator) sub(d, n v, c uint32) { f.add(d, n, -c) }

// lost returns the sum of the partial products of x², x < 2^17, that the squarer omits. Let u
// be the low eight bits of x, and v the others. The squarer omits all products of two bits of
// u, the products of bit i of u with v modulo 2^(10-i), and three products of the low bits of
// v.
func (f *approximator) lost(x v) v {
	sum := f.fresh()
	defer f.scope()()
	u, high, t := f.fresh(), f.fresh(), f.fresh()
	f.and(u, x, 0xff)
	f.shift("USHR", 8, "S4", high, x)
	f.and(t, u, 3)
	f.three("MUL", "S4", sum, high, t)
	for i := 2; i < 8; i++ {
		f.and(t, u, 1<<i)
		f.three("MUL", "S4", t, high, t)
		f.and(t, t, 0x3ff)
		f.three("ADD", "S4", sum, sum, t)
	}
	f.shift("SHL", 9, "S4", sum, sum)
	f.three("MUL", "S4", u, u, u)
	f.three("ADD", "S4", sum, sum, u)
	bit8, bit9 := u, high
	f.and(bit8, x, 0x100)
	f.and(bit9, x, 0x200)
	f.shift("SHL", 8, "S4", t, bit8)
	f.three("ADD", "S4", sum, sum, t)
	f.shift("SHL", 9, "S4", t, bit9)
	f.three("ADD", "S4", sum, sum, t)
	f.three("ADD", "S4", bit8, bit8, bit8)
	f.three("AND", "B16", bit8, bit8, bit9)
	f.shift("SHL", 9, "S4", bit8, bit8)
	f.three("ADD", "S4", sum, sum, bit8)
	return sum
}

// products returns the products of the four lanes of n and m.
func (f *approximator) products(n, m v) pair {
	d := pair{f.fresh(), f.fresh()}
	f.long("UMULL", "S2", d[0], n, m)
	f.long("UMULL2", "S4", d[1], n, m)
	return d
}

// merge returns the low words of a pair.
func (f *approximator) merge(p pair) v {
	f.three("UZP1", "S4", p[0], p[0], p[1])
	return p[0]
}

// eval returns the sums. index is the segment, x the position in the segment.
func (f *approximator) eval(index, x v) pair {
	to := pair{f.fresh(), f.fresh()}
	defer f.scope()()
	c := [3]v{f.fresh(), f.fresh(), f.fresh()}
	for lane := range 4 {
		f.op("VMOV %v.S[%d], R6", index, lane)
		f.op("MADD R5, R2, R6, R6") // R6 = R2 + R6·R5
		f.op("WORD $%#08x // LD3 {%v.S-%v.S}[%d], [R6]", 0x0d40a000|uint32(lane>>1)<<30|uint32(lane&1)<<12|6<<5|uint32(c[0]), c[0], c[2], lane)
	}
	square := x
	if f.double {
		square = f.fresh()
		f.three("ADD", "S4", square, x, x)
	}
	lost := f.lost(square)
	s := f.products(square, square)
	wide := pair{f.fresh(), f.fresh()}
	f.op("VUXTL %v.S2, %v.D2", lost, wide[0])
	f.op("VUXTL2 %v.S4, %v.D2", lost, wide[1])
	for h := range s {
		f.three("SUB", "D2", s[h], s[h], wide[h])
		f.shift("USHR", 19, "D2", s[h], s[h])
	}
	s2, t := f.products(c[2], f.merge(s)), f.products(c[1], x)
	f.op("VUSHLL $%d, %v.S2, %v.D2", f.shift0, c[0], to[0])
	f.op("VUSHLL2 $%d, %v.S4, %v.D2", f.shift0, c[0], to[1])
	for h := range to {
		f.term(to[h], t[h], f.shift1, f.minus1)
		f.term(to[h], s2[h], f.shift2, f.minus2)
		if f.bias != 0 {
			f.three("ADD", "D2", to[h], to[h], f.quad(f.bias))
		}
	}
	return to
}

// term adds a shifted term to a sum or subtracts it.
func (f *approximator) term(sum, t v, shift int, minus bool) {
	if shift != 0 {
		f.shift("SHL", shift, "D2", t, t)
	}
	f.three(map[bool]string{false: "ADD", true: "SUB"}[minus], "D2", sum, sum, t)
}

// fixed returns the sums as numbers with the given number of bits after the point.
func (f *approximator) fixed(index, x v, bits int) v {
	s := f.eval(index, x)
	for _, r := range s {
		f.shift("USHR", f.weight-bits, "D2", r, r)
	}
	return f.merge(s)
}

// fromFixed returns sums of 52 bits as f32, rounded towards zero. In a sum with 2^52, the low
// bits of an f64 are an integer.
func (f *approximator) fromFixed(s pair) v {
	const magic = 0x4330000000000000 // 2^52
	defer f.scope()()
	zero, m, exponents := f.fresh(), f.quad(magic), f.quad(uint64(1023-127+f.weight)<<23)
	for _, r := range s {
		f.zero(zero)
		f.three("CMEQ", "D2", zero, r, zero)
		f.three("ORR", "B16", r, r, m)
		f.three("FSUB", "D2", r, r, m)
		f.shift("USHR", 29, "D2", r, r)
		f.three("SUB", "D2", r, r, exponents)
		f.three("BIC", "B16", r, r, zero)
	}
	return f.merge(s)
}
