package ops

import (
	"encoding/binary"
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

func init() {
	control("mbarrier", func(d *decoder, x *inst, o *op) {
		switch x.Op.Mods[0] {
		case "test_wait", "try_wait":
			o.Kind = machine.OpTry
			o.Try, o.Why = buildMbarrierWait(d, x), whyMbarrier(mbarrierAddr(d, x))
		case "init":
			o.Run = buildMbarrierInit(d, x)
		case "inval":
			o.Run = buildMbarrierInval(d, x)
		case "arrive", "arrive_drop":
			o.Run = buildMbarrierArrive(d, x)
		case "expect_tx":
			o.Run = buildMbarrierBytes(d, x, 1)
		case "complete_tx":
			o.Run = buildMbarrierBytes(d, x, -1)
		case "pending_count":
			o.Run = buildMbarrierPending(d, x)
		}
	})
}

// mbarrierAddr returns the address of an mbarrier. Without .shared::cluster it must be in the shared
// memory of the own block, also if the address is generic.
func mbarrierAddr(d *decoder, x *inst) *machine.Address {
	a := d.Addr(x.Arg("addr"), x.SpaceName("addr"))
	a.Own = x.SpaceName("addr") != "shared::cluster"
	return a
}

func buildMbarrierInit(d *decoder, x *inst) exec {
	a, count := mbarrierAddr(d, x), d.Src32(x.Arg("count"), ptx.U32)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			n := f.R32[count][l]
			if n == 0 || n > memory.MbarrierMax {
				f.RaiseAs("mbarrier-misuse", l, "an mbarrier for %d arrivals: the count must be 1 to %d", n, memory.MbarrierMax)
			}
			bar := a.Barrier(f, l)
			binary.LittleEndian.PutUint64(bar.Word(), uint64(memory.NewMbarrier(n)))
			f.Origin(l).AnnounceMbarrier(bar, observe.Mbarrier{Op: observe.MbarrierInit, Count: int(n)}, 0)
		})
	}
}

func buildMbarrierInval(d *decoder, x *inst) exec {
	a := mbarrierAddr(d, x)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			bar, from := a.Barrier(f, l), f.Origin(l)
			_, err := memory.LoadMbarrier(bar.Word())
			from.AnnounceMbarrier(bar, observe.Mbarrier{Op: observe.MbarrierInval, Err: err}, 0)
			from.Misuse(err)
			clear(bar.Word())
		})
	}
}

// buildMbarrierArrive builds arrive and arrive_drop. The state that it returns is the
// barrier before the arrival.
func buildMbarrierArrive(d *decoder, x *inst) exec {
	a := mbarrierAddr(d, x)
	state := d.Dst(x.Arg("state"), ptx.B64)
	count := d.Const32(1)
	if o := x.Arg("count"); o != nil {
		count = d.Src32(o, ptx.U32)
	}
	bytes := d.Const32(0)
	if o := x.Arg("txCount"); o != nil {
		bytes = d.Src32(o, ptx.U32)
	}
	arrive := machine.Origin.Arrive
	if x.Has("arrive_drop") {
		arrive = machine.Origin.ArriveDrop
	}
	expects, stays := x.Has("expect_tx"), x.Has("noComplete")
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			bar, from := a.Barrier(f, l), f.Origin(l)
			bar.Settle()
			before := binary.LittleEndian.Uint64(bar.Word())
			if expects {
				from.Misuse(from.Expect(bar, int64(f.R32[bytes][l]), 0))
			}
			from.Misuse(arrive(from, bar, f.R32[count][l], observe.Mbarrier{}))
			if after := binary.LittleEndian.Uint64(bar.Word()); stays && memory.Mbarrier(after).Phase() != memory.Mbarrier(before).Phase() {
				f.RaiseAs("mbarrier-misuse", l, "the arrivals complete the phase, but .noComplete promises that they do not")
			}
			f.R64[state][l] = before
		})
	}
}

// buildMbarrierBytes builds expect_tx with sign 1 and complete_tx with sign -1.
func buildMbarrierBytes(d *decoder, x *inst, sign int64) exec {
	a, bytes := d.Addr(x.Arg("addr"), x.SpaceName("addr")), d.Src32(x.Arg("txCount"), ptx.U32)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			from := f.Origin(l)
			from.Misuse(from.Expect(a.Barrier(f, l), sign*int64(f.R32[bytes][l]), 0))
		})
	}
}

// buildMbarrierWait builds test_wait and try_wait. Both let other threads run if the
// phase is not complete, because programs poll with both.
func buildMbarrierWait(d *decoder, x *inst) func(f *frame, m uint32) machine.Status {
	a := mbarrierAddr(d, x)
	p := d.Dst(x.Arg("waitComplete"), ptx.Pred)
	var over func(f *frame, l int, now uint32) bool
	parity := slot(-1)
	if x.Has("parity") {
		parity = d.Src32(x.Arg("phaseParity"), ptx.U32)
		over = func(f *frame, l int, now uint32) bool {
			if f.R32[parity][l] > 1 {
				f.RaiseAs("mbarrier-misuse", l, "phase parity %d: it must be 0 or 1", f.R32[parity][l])
			}
			return now&1 != f.R32[parity][l]
		}
	} else {
		state := d.Src64(x.Arg("state"), ptx.B64)
		over = func(f *frame, l int, now uint32) bool { return now != memory.Mbarrier(f.R64[state][l]).Phase() }
	}
	return func(f *frame, m uint32) machine.Status {
		// Nearly always, all lanes wait for the same mbarrier. Its phase is read once.
		var phase uint32
		known, at := false, uint64(0)
		f.PredOf(p, m, func(l int) bool {
			if addr := a.At(f, l); !known || addr != at {
				bar, from := a.Barrier(f, l), f.Origin(l)
				b, err := memory.LoadMbarrier(bar.Word())
				if err != nil {
					from.AnnounceMbarrier(bar, observe.Mbarrier{Op: observe.MbarrierWait, Err: err}, b)
				}
				from.Misuse(err)
				known, at, phase = err == nil, addr, b.Phase()
			}
			return over(f, l, phase)
		})
		if f.Block.Watch != nil {
			announceWait(a, f, f.Pred[p]&m, parity)
		}
		if f.Pred[p]&m != m {
			return machine.Yield
		}
		return machine.Done
	}
}

func buildMbarrierPending(d *decoder, x *inst) exec {
	count, state := d.Dst(x.Arg("count"), ptx.U32), d.Src64(x.Arg("state"), ptx.B64)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) { f.R32[count][l] = memory.Mbarrier(f.R64[state][l]).Pending() })
	}
}

// whyMbarrier describes what lanes wait for at an mbarrier.
func whyMbarrier(a *machine.Address) func(f *frame, m uint32) string {
	return func(f *frame, m uint32) string {
		b, off := a.SharedAt(f, machine.FirstLane(m), 8)
		bar, err := memory.LoadMbarrier(f.BarRef(machine.FirstLane(m), b, off).Word())
		if err != nil {
			return err.Error()
		}
		s := fmt.Sprintf("the phase of the mbarrier at %s awaits %d of %d arrivals", b.SharedName(int(off)), bar.Pending(), bar.Expected())
		if n := bar.Bytes(); n != 0 {
			s += fmt.Sprintf(" and %d bytes", n)
		}
		return s
	}
}

// announceWait announces that lanes have found the phases of their mbarriers complete.
func announceWait(a *machine.Address, f *frame, m uint32, parity slot) {
	phase := func(l int) int {
		if parity < 0 {
			return -1
		}
		return int(f.R32[parity][l])
	}
	for m != 0 {
		from := f.Origin(machine.FirstLane(m))
		bar, p, same := a.Barrier(f, from.Lane), phase(machine.FirstLane(m)), uint32(0)
		machine.EachLane(m, func(l int) {
			if a.Barrier(f, l) == bar && phase(l) == p {
				same |= 1 << l
			}
		})
		m &^= same
		from.AnnounceMbarrier(bar, observe.Mbarrier{Op: observe.MbarrierWait, Mask: same, Parity: p}, 0)
	}
}
