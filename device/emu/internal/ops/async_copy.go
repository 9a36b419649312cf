package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/ptx"
)

// buildCopyAsync builds cp.async of 4, 8 or 16 bytes per thread.
func buildCopyAsync(d *decoder, x *inst) exec {
	dst, src := d.Addr(x.Arg("dst"), x.SpaceName("dst")), d.Addr(x.Arg("src"), x.SpaceName("src"))
	n := int(x.Arg("cpSize").Val)
	size := d.Const32(uint32(n))
	if o := x.Arg("srcSize"); o != nil {
		size = d.Src32(o, ptx.U32)
	}
	ignore, not := slot(-1), false
	if o := x.Arg("ignoreSrc"); o != nil {
		ignore, not = d.Pred(o)
	}
	return func(f *frame, m uint32) {
		zero := uint32(0)
		if ignore >= 0 {
			if zero = f.Pred[ignore]; not {
				zero = ^zero
			}
		}
		q := &f.Warp.Async.Copies
		machine.EachLane(m, func(l int) {
			it := machine.CopyItem{From: f.Origin(l), Group: q.Groups[l], Dst: dst.View(f, l, n, true)}
			read := int(f.R32[size][l])
			switch {
			case read > n:
				f.Raise(l, "source size %d is more than the %d bytes of the copy", read, n)
			case read > 0 && zero>>l&1 == 0:
				it.Src = src.View(f, l, n, false)[:read]
			}
			q.Items = append(q.Items, it)
		})
		if f.Block.Cluster.Async.Early() {
			q.FinishAll(m)
		}
	}
}

// buildCopyArrive builds cp.async.mbarrier.arrive: an arrival that takes effect after the
// thread's earlier copies. Without .noinc, the present phase of the mbarrier awaits one
// more arrival.
func buildCopyArrive(d *decoder, x *inst) exec {
	a := d.Addr(x.Arg("addr"), x.SpaceName("addr"))
	inc := !x.Has("noinc")
	return func(f *frame, m uint32) {
		q := &f.Warp.Async.Copies
		machine.EachLane(m, func(l int) {
			bar := a.Barrier(f, l)
			from := f.Origin(l)
			if inc {
				from.Misuse(memory.AwaitOneMore(bar.Word()))
			}
			q.Items = append(q.Items, machine.CopyItem{From: from, Group: q.Groups[l], Bar: &bar})
			q.Arrivals++
		})
		if f.Block.Cluster.Async.Early() {
			q.FinishAll(m)
		}
	}
}

func init() {
	control("cp", func(d *decoder, x *inst, o *op) {
		switch {
		case x.Has("bulk"):
			o.Run = buildBulk(d, x)
		case x.Has("mbarrier"):
			o.Run = buildCopyArrive(d, x)
		case x.Has("commit_group"):
			o.Run = func(f *frame, m uint32) { f.Warp.Async.Copies.Commit(m) }
		case x.Has("wait_all"):
			o.Run = func(f *frame, m uint32) {
				f.Warp.Async.Copies.Commit(m)
				f.Warp.Async.Copies.Finish(m, 0)
			}
		case x.Has("wait_group"):
			keep := uint32(x.Arg("N").Val)
			o.Run = func(f *frame, m uint32) { f.Warp.Async.Copies.Finish(m, keep) }
		default:
			o.Run = buildCopyAsync(d, x)
		}
	})
}
