package ops

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("atom", func(d *decoder, x *inst, o *op) {
		o.Run = buildAtomic(d, x)
		markPoll(o, d, x)
	})
	build("red", buildAtomic)
}

// combine computes the new value of an atomic from the old value and its operands. Only
// cas has an operand c.
type combine func(old, b, c uint64) uint64

// combines are the operations of atom and red, by operation and type.
var combines = map[string]combine{
	"and b32": bitAnd, "and b64": bitAnd,
	"or b32": bitOr, "or b64": bitOr,
	"xor b32": bitXor, "xor b64": bitXor,
	"exch b32": swap, "exch b64": swap,
	"cas b16": compareSwap, "cas b32": compareSwap, "cas b64": compareSwap,
	"add u32": wrapAdd, "add s32": wrapAdd, "add u64": wrapAdd, "add s64": wrapAdd,
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

func bitAnd(old, b, _ uint64) uint64 { return old & b }

func bitOr(old, b, _ uint64) uint64 { return old | b }

func bitXor(old, b, _ uint64) uint64 { return old ^ b }

func wrapAdd(old, b, _ uint64) uint64 { return old + b }

func swap(_, b, _ uint64) uint64 { return b }

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

// addGlobalF32 is the f32 addition of atomics in global memory. It flushes subnormals.
// Atomics in shared memory do not flush them.
func addGlobalF32(old, b, _ uint64) uint64 {
	sum := scalar.AddF32(scalar.FtzF32(uint32(old)), scalar.FtzF32(uint32(b)))
	return uint64(scalar.FtzF32(sum))
}

// combineOf returns the operation of an atomic or of a bulk reduction, or nil if there is
// none.
func combineOf(op string, t ptx.Type) combine { return combines[op+" "+t.String()] }

// atomicOp is a decoded atom or red.
type atomicOp struct {
	a       *machine.Address
	size    int // bytes of an element
	fn      combine
	global  combine // for addresses in global memory
	b       []machine.Cell
	c       machine.Cell
	hasC    bool
	d       []machine.Cell // registers for the old values; none for red
	regBits []int
}

// buildAtomic builds atom and red.
func buildAtomic(d *decoder, x *inst) exec {
	if x.Has("async") {
		return buildRemoteReduce(d, x)
	}
	t := x.Type("b")
	if t == ptx.B128 {
		return buildAtomicWide(d, x)
	}
	o := &atomicOp{a: d.Addr(x.Arg("a"), x.SpaceName("a")), size: t.Bytes(), fn: combineOf(atomicName(x), t)}
	o.global = o.fn
	if t == ptx.F32 {
		o.global = addGlobalF32
	}
	for _, e := range machine.Elements(x.Arg("b")) {
		o.b = append(o.b, d.StoreSrc(e, t))
	}
	if c := x.Arg("c"); c != nil {
		o.c, o.hasC = d.StoreSrc(c, t), true
	}
	if dst := x.Arg("d"); dst != nil {
		for _, e := range machine.Elements(dst) {
			o.d = append(o.d, d.LoadDst(e, t))
			o.regBits = append(o.regBits, operand.RegisterBits(e, t))
		}
	}
	return o.run
}

// atomicName returns the name of the operation. In some forms of the table it is a
// variable modifier, in others it is fixed.
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
	mem := o.a.Span(f, m, o.size*len(o.b), true)
	if mem == nil {
		machine.EachLane(m, func(l int) {
			o.update(f, l, o.a.View(f, l, o.size*len(o.b), true), inGlobal(o.a, f, l))
		})
		return
	}
	global := inGlobal(o.a, f, lead) // the same in all lanes, because they access one piece of memory
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		o.update(f, l, mem[f.Warp.Offsets[l]:], global)
	}
}

// update executes the operation for one lane, on the elements in mem.
func (o *atomicOp) update(f *frame, lane int, mem []byte, global bool) {
	fn := o.fn
	if global {
		fn = o.global
	} else if len(o.b) > 1 {
		f.Raise(lane, "vector atomics work on global memory, but the address is in shared memory")
	}
	var c uint64
	if o.hasC {
		c = o.c.Get(f, lane)
	}
	var operands [8]uint64 // copies, because a destination may be the same register
	for i, b := range o.b {
		operands[i] = b.Get(f, lane)
	}
	for i := range o.b {
		old := update(mem[i*o.size:][:o.size], global && f.Block.Launch.Parallel, fn, operands[i], c)
		if len(o.d) > 0 {
			o.d[i].Set(f, lane, old, o.regBits[i])
		}
	}
}

// inGlobal reports whether a lane's address is in global memory.
func inGlobal(a *machine.Address, f *frame, lane int) bool {
	return a.Space == ptx.Global || a.Space == ptx.Generic && a.At(f, lane)>>memory.WindowBits != memory.SharedBase>>memory.WindowBits
}

// update changes memory atomically and returns the old value. shared is set if other
// goroutines may update the same memory at the same time. That happens only for operations
// on whole words, because the blocks of kernels with other atomics run in turns.
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
	old := memory.Word(mem)
	memory.PutWord(mem, fn(old, b, c))
	return old
}

// buildAtomicWide builds atom.exch and atom.cas on 128 bits.
func buildAtomicWide(d *decoder, x *inst) exec {
	a := d.Addr(x.Arg("a"), x.SpaceName("a"))
	to, b := d.Dst(x.Arg("d"), ptx.B128), d.Src64(x.Arg("b"), ptx.B128)
	c, cas := b, x.Has("cas")
	if cas {
		c = d.Src64(x.Arg("c"), ptx.B128)
	}
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			v := a.View(f, l, 16, true)
			lo, hi := memory.Word(v[:8]), memory.Word(v[8:])
			if !cas || lo == f.R64[b][l] && hi == f.R64[b+1][l] {
				memory.PutWord(v[:8], f.R64[c][l])
				memory.PutWord(v[8:], f.R64[c+1][l])
			}
			f.R64[to][l], f.R64[to+1][l] = lo, hi
		})
	}
}
