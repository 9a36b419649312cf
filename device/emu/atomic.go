package emu

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("atom", func(d *decoder, x *inst, o *op) {
		o.run = buildAtomic(d, x)
		o.polls(d, x)
	})
	build("red", buildAtomic)
}

// combine is what an atomic makes of the old value and its operands; only cas has
// a c.
type combine func(old, b, c uint64) uint64

// combines are the operations of atom and red, by operation and type.
var combines = map[string]combine{
	"and b32": bitAnd, "and b64": bitAnd,
	"or b32": bitOr, "or b64": bitOr,
	"xor b32": bitXor, "xor b64": bitXor,
	"exch b32": swap, "exch b64": swap,
	"cas b16": compareSwap, "cas b32": compareSwap, "cas b64": compareSwap,
	"add u32": wrapAdd, "add s32": wrapAdd, "add u64": wrapAdd,
	"inc u32": func(old, b, _ uint64) uint64 {
		if old >= b {
			return 0
		}
		return old + 1
	},
	"dec u32": func(old, b, _ uint64) uint64 {
		if old == 0 || old > b {
			return b
		}
		return old - 1
	},
	"min u32": func(old, b, _ uint64) uint64 { return min(old, b) },
	"max u32": func(old, b, _ uint64) uint64 { return max(old, b) },
	"min u64": func(old, b, _ uint64) uint64 { return min(old, b) },
	"max u64": func(old, b, _ uint64) uint64 { return max(old, b) },
	"min s32": func(old, b, _ uint64) uint64 { return uint64(uint32(min(int32(old), int32(b)))) },
	"max s32": func(old, b, _ uint64) uint64 { return uint64(uint32(max(int32(old), int32(b)))) },
	"min s64": func(old, b, _ uint64) uint64 { return uint64(min(int64(old), int64(b))) },
	"max s64": func(old, b, _ uint64) uint64 { return uint64(max(int64(old), int64(b))) },

	"add f32":    func(old, b, _ uint64) uint64 { return uint64(scalar.AddF32(uint32(old), uint32(b))) },
	"add f64":    func(old, b, _ uint64) uint64 { return scalar.AddF64(old, b) },
	"add f16":    oneHalf(scalar.AddF16),
	"add bf16":   oneHalf(scalar.AddBF16),
	"min f16":    oneHalf(scalar.MinF16),
	"min bf16":   oneHalf(scalar.MinBF16),
	"max f16":    oneHalf(scalar.MaxF16),
	"max bf16":   oneHalf(scalar.MaxBF16),
	"add f16x2":  twoHalves(scalar.AddF16),
	"add bf16x2": twoHalves(scalar.AddBF16),
	"min f16x2":  twoHalves(scalar.MinF16),
	"min bf16x2": twoHalves(scalar.MinBF16),
	"max f16x2":  twoHalves(scalar.MaxF16),
	"max bf16x2": twoHalves(scalar.MaxBF16),
}

func bitAnd(old, b, _ uint64) uint64  { return old & b }
func bitOr(old, b, _ uint64) uint64   { return old | b }
func bitXor(old, b, _ uint64) uint64  { return old ^ b }
func wrapAdd(old, b, _ uint64) uint64 { return old + b }
func swap(_, b, _ uint64) uint64      { return b }

func compareSwap(old, b, c uint64) uint64 {
	if old == b {
		return c
	}
	return old
}

func oneHalf(fn func(a, b uint16) uint16) combine {
	return func(old, b, _ uint64) uint64 { return uint64(fn(uint16(old), uint16(b))) }
}

func twoHalves(fn func(a, b uint16) uint16) combine {
	return func(old, b, _ uint64) uint64 {
		return uint64(fn(uint16(old), uint16(b))) | uint64(fn(uint16(old>>16), uint16(b>>16)))<<16
	}
}

// addGlobalF32 is the f32 addition of global memory's atomics, which flushes
// subnormals; those of shared memory do not.
func addGlobalF32(old, b, _ uint64) uint64 {
	sum := scalar.AddF32(scalar.FtzF32(uint32(old)), scalar.FtzF32(uint32(b)))
	return uint64(scalar.FtzF32(sum))
}

// combineOf finds the operation of an atomic, also for copies that reduce.
func combineOf(op string, t ptx.Type) combine { return combines[op+" "+t.String()] }

// atomicOp is a decoded atom or red.
type atomicOp struct {
	a       *address
	size    int // bytes of an element
	fn      combine
	global  combine // for addresses in global memory
	b       []cell
	c       cell
	hasC    bool
	d       []cell // where the old values go; none for red
	regBits []int
}

// buildAtomic is atom and red.
func buildAtomic(d *decoder, x *inst) exec {
	if x.Has("async") {
		return buildRemoteReduce(d, x)
	}
	t := x.Type("b")
	if t == ptx.B128 {
		return buildAtomicWide(d, x)
	}
	o := &atomicOp{a: d.addr(x.Arg("a"), x.SpaceName("a")), size: t.Bytes(), fn: combineOf(atomicName(x), t)}
	o.global = o.fn
	if t == ptx.F32 {
		o.global = addGlobalF32
	}
	for _, e := range vector(x.Arg("b")) {
		o.b = append(o.b, d.from(e, t))
	}
	if c := x.Arg("c"); c != nil {
		o.c, o.hasC = d.from(c, t), true
	}
	if dst := x.Arg("d"); dst != nil {
		for _, e := range vector(dst) {
			o.d = append(o.d, d.into(e, t))
			o.regBits = append(o.regBits, registerBits(e, t))
		}
	}
	return o.run
}

// atomicName is the operation, which some forms have in a slot and others spell
// out.
func atomicName(x *inst) string {
	for _, op := range []string{"add", "exch", "cas"} {
		if x.Has(op) {
			return op
		}
	}
	return x.Mod("op")
}

func (o *atomicOp) run(f *frame, m uint32) {
	lead := bits.TrailingZeros32(m)
	mem := o.a.span(f, m, o.size*len(o.b), true)
	if mem == nil {
		eachLane(m, func(l int) {
			o.update(f, l, o.a.view(f, l, o.size*len(o.b), true), o.a.inGlobal(f, l))
		})
		return
	}
	global := o.a.inGlobal(f, lead) // as all of them: they are in one piece
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		o.update(f, l, mem[f.w.offsets[l]:], global)
	}
}

// update carries the operation out for one lane, on the elements at mem.
func (o *atomicOp) update(f *frame, lane int, mem []byte, global bool) {
	fn := o.fn
	if global {
		fn = o.global
	} else if len(o.b) > 1 {
		f.raise(lane, "vectors are for global memory, and the address is of shared memory")
	}
	var c uint64
	if o.hasC {
		c = o.c.get(f, lane)
	}
	var operands [8]uint64 // read first: what is written may be among them
	for i, b := range o.b {
		operands[i] = b.get(f, lane)
	}
	for i := range o.b {
		old := update(mem[i*o.size:][:o.size], global && f.b.launch.parallel, fn, operands[i], c)
		if len(o.d) > 0 {
			o.d[i].set(f, lane, old, o.regBits[i])
		}
	}
}

// inGlobal reports whether a lane's address is one of global memory.
func (a *address) inGlobal(f *frame, lane int) bool {
	return a.space == ptx.Global || a.space == ptx.Generic && a.at(f, lane)>>windowBits != sharedBase>>windowBits
}

// update changes memory in one step and returns what was there. shared says that
// other goroutines may do the same; only operations on whole words get there, see
// order.go.
func update(mem []byte, shared bool, fn combine, b, c uint64) uint64 {
	if shared && len(mem) == 4 {
		p := (*uint32)(unsafe.Pointer(&mem[0]))
		for {
			old := atomic.LoadUint32(p)
			if atomic.CompareAndSwapUint32(p, old, uint32(fn(uint64(old), b, c))) {
				return uint64(old)
			}
		}
	}
	if shared && len(mem) == 8 {
		p := (*uint64)(unsafe.Pointer(&mem[0]))
		for {
			old := atomic.LoadUint64(p)
			if atomic.CompareAndSwapUint64(p, old, fn(old, b, c)) {
				return old
			}
		}
	}
	old := word(mem)
	putWord(mem, fn(old, b, c))
	return old
}

// buildAtomicWide is atom.exch and atom.cas on 128 bits.
func buildAtomicWide(d *decoder, x *inst) exec {
	a := d.addr(x.Arg("a"), x.SpaceName("a"))
	to, b := d.dst(x.Arg("d"), ptx.B128), d.src64(x.Arg("b"), ptx.B128)
	c, cas := b, x.Has("cas")
	if cas {
		c = d.src64(x.Arg("c"), ptx.B128)
	}
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			v := a.view(f, l, 16, true)
			lo, hi := word(v[:8]), word(v[8:])
			if !cas || lo == f.r64[b][l] && hi == f.r64[b+1][l] {
				putWord(v[:8], f.r64[c][l])
				putWord(v[8:], f.r64[c+1][l])
			}
			f.r64[to][l], f.r64[to+1][l] = lo, hi
		})
	}
}
