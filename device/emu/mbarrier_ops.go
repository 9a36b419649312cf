package emu

import (
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("mbarrier", func(d *decoder, x *inst, o *op) {
		switch x.Op.Mods[0] {
		case "test_wait", "try_wait":
			o.kind = opTry
			o.try, o.why = buildMbarrierWait(d, x), whyMbarrier(d.addr(x.Arg("addr"), x.SpaceName("addr")))
		case "init":
			o.run = buildMbarrierInit(d, x)
		case "inval":
			o.run = buildMbarrierInval(d, x)
		case "arrive", "arrive_drop":
			o.run = buildMbarrierArrive(d, x)
		case "expect_tx":
			o.run = buildMbarrierBytes(d, x, 1)
		case "complete_tx":
			o.run = buildMbarrierBytes(d, x, -1)
		case "pending_count":
			o.run = buildMbarrierPending(d, x)
		}
	})
}

func buildMbarrierInit(d *decoder, x *inst) exec {
	a, count := d.addr(x.Arg("addr"), x.SpaceName("addr")), d.src32(x.Arg("count"), ptx.U32)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			n := f.r32[count][l]
			if n == 0 || n > mbarrierMost {
				f.raiseAs("mbarrier-misuse", l, "an mbarrier for %d arrivals; it takes 1 to %d", n, mbarrierMost)
			}
			bar := a.barrier(f, l)
			binary.LittleEndian.PutUint64(bar.word(), uint64(newMbarrier(n)))
			f.origin(l).mbarrier(bar, observe.Mbarrier{Op: observe.MbarrierInit, Count: int(n)}, 0)
		})
	}
}

func buildMbarrierInval(d *decoder, x *inst) exec {
	a := d.addr(x.Arg("addr"), x.SpaceName("addr"))
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			bar, from := a.barrier(f, l), f.origin(l)
			_, err := loadMbarrier(bar.word())
			from.mbarrier(bar, observe.Mbarrier{Op: observe.MbarrierInval, Err: err}, 0)
			from.misuse(err)
			clear(bar.word())
		})
	}
}

// buildMbarrierArrive is arrive and arrive_drop. The state it gives is the barrier
// as it was before.
func buildMbarrierArrive(d *decoder, x *inst) exec {
	a := d.addr(x.Arg("addr"), x.SpaceName("addr"))
	state := d.dst(x.Arg("state"), ptx.B64)
	count := d.const32(1)
	if o := x.Arg("count"); o != nil {
		count = d.src32(o, ptx.U32)
	}
	bytes := d.const32(0)
	if o := x.Arg("txCount"); o != nil {
		bytes = d.src32(o, ptx.U32)
	}
	arrive := origin.arrive
	if x.Has("arrive_drop") {
		arrive = origin.arriveDrop
	}
	expects, stays := x.Has("expect_tx"), x.Has("noComplete")
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			bar, from := a.barrier(f, l), f.origin(l)
			bar.settle()
			before := binary.LittleEndian.Uint64(bar.word())
			if expects {
				from.misuse(from.expect(bar, int64(f.r32[bytes][l]), 0))
			}
			from.misuse(arrive(from, bar, f.r32[count][l], observe.Mbarrier{}))
			if after := binary.LittleEndian.Uint64(bar.word()); stays && mbarrier(after).phase() != mbarrier(before).phase() {
				f.raiseAs("mbarrier-misuse", l, "the arrivals end the phase; .noComplete promises that they do not")
			}
			f.r64[state][l] = before
		})
	}
}

// buildMbarrierBytes is expect_tx with sign 1 and complete_tx with sign -1.
func buildMbarrierBytes(d *decoder, x *inst, sign int64) exec {
	a, bytes := d.addr(x.Arg("addr"), x.SpaceName("addr")), d.src32(x.Arg("txCount"), ptx.U32)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			from := f.origin(l)
			from.misuse(from.expect(a.barrier(f, l), sign*int64(f.r32[bytes][l]), 0))
		})
	}
}

// buildMbarrierWait is test_wait and try_wait. Either lets other threads run when
// it finds the phase unfinished: programs poll with both.
func buildMbarrierWait(d *decoder, x *inst) func(f *frame, m uint32) status {
	a := d.addr(x.Arg("addr"), x.SpaceName("addr"))
	p := d.dst(x.Arg("waitComplete"), ptx.Pred)
	var over func(f *frame, l int, now uint32) bool
	parity := slot(-1)
	if x.Has("parity") {
		parity = d.src32(x.Arg("phaseParity"), ptx.U32)
		over = func(f *frame, l int, now uint32) bool {
			if f.r32[parity][l] > 1 {
				f.raiseAs("mbarrier-misuse", l, "phase parity %d; it is 0 or 1", f.r32[parity][l])
			}
			return now&1 != f.r32[parity][l]
		}
	} else {
		state := d.src64(x.Arg("state"), ptx.B64)
		over = func(f *frame, l int, now uint32) bool { return now != mbarrier(f.r64[state][l]).phase() }
	}
	return func(f *frame, m uint32) status {
		f.predOf(p, m, func(l int) bool {
			bar, from := a.barrier(f, l), f.origin(l)
			b, err := loadMbarrier(bar.word())
			if err != nil {
				from.mbarrier(bar, observe.Mbarrier{Op: observe.MbarrierWait, Err: err}, b)
			}
			from.misuse(err)
			return over(f, l, b.phase())
		})
		if f.b.watch != nil {
			a.waited(f, f.p[p]&m, parity)
		}
		if f.p[p]&m != m {
			return yield
		}
		return done
	}
}

func buildMbarrierPending(d *decoder, x *inst) exec {
	count, state := d.dst(x.Arg("count"), ptx.U32), d.src64(x.Arg("state"), ptx.B64)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) { f.r32[count][l] = mbarrier(f.r64[state][l]).pending() })
	}
}

// whyMbarrier says what lanes wait for at an mbarrier.
func whyMbarrier(a *address) func(f *frame, m uint32) string {
	return func(f *frame, m uint32) string {
		b, off := a.sharedAt(f, firstLane(m), 8)
		bar, err := loadMbarrier(f.barRef(firstLane(m), b, off).word())
		if err != nil {
			return err.Error()
		}
		s := fmt.Sprintf("the phase of the mbarrier at %s awaits %d of %d arrivals", b.sharedName(int(off)), bar.pending(), bar.expected())
		if n := bar.bytes(); n != 0 {
			s += fmt.Sprintf(" and %d bytes", n)
		}
		return s
	}
}

// waited announces that lanes have found the phases of their mbarriers over.
func (a *address) waited(f *frame, m uint32, parity slot) {
	phase := func(l int) int {
		if parity < 0 {
			return -1
		}
		return int(f.r32[parity][l])
	}
	for m != 0 {
		from := f.origin(firstLane(m))
		bar, p, same := a.barrier(f, from.lane), phase(firstLane(m)), uint32(0)
		eachLane(m, func(l int) {
			if a.barrier(f, l) == bar && phase(l) == p {
				same |= 1 << l
			}
		})
		m &^= same
		from.mbarrier(bar, observe.Mbarrier{Op: observe.MbarrierWait, Mask: same, Parity: p}, 0)
	}
}
