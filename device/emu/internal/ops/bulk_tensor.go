package ops

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/numeric/scalar"
	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

// tile is a box of a tensor: its rows along the innermost dimension, in the order of shared
// memory.
type tile struct {
	m     *memory.TensorMap
	width int // bytes of a row
	rows  []tileRow
}

// tileRow is a row of a box. The bytes in global are the part of the row that lies in the
// tensor. They start lead bytes after the start of the row. The rest is out of bounds.
type tileRow struct {
	lead   int
	global []byte
}

func (t *tile) size() int { return t.width * len(t.rows) }

// rowSpan is the part of a row of a box that lies in the tensor: elements first to last of the row.
type rowSpan struct{ first, last int64 }

func spanAt(m *memory.TensorMap, at int32, write bool) (s rowSpan) {
	s.first = max(0, -int64(at))
	s.last = int64(m.Dims[0]) - int64(at)
	if write { // an H200 writes rows up to a multiple of 16 bytes
		per := int64(16 / m.Type().Bytes())
		s.last = (s.last + per - 1) / per * per
	}
	s.last = min(s.last, int64(m.Box[0]))
	return s
}

// row returns the row at the coordinates of the outer dimensions.
func (t *tile) row(f *frame, lane int, s rowSpan, at *[5]int64, write bool) tileRow {
	m := t.m
	addr, inside := m.Addr, s.last > s.first
	for i := 1; i < int(m.Rank); i++ {
		inside = inside && at[i] >= 0 && at[i] < int64(m.Dims[i])
		addr += uint64(at[i]) * m.Strides[i-1]
	}
	if !inside {
		return tileRow{lead: t.width}
	}
	es := m.Type().Bytes()
	addr += uint64((at[0] + s.first) * int64(es))
	return tileRow{int(s.first) * es, f.Global(lane, addr, int(s.last-s.first)*es, write)}
}

// tileAt returns the box at the coordinates.
func tileAt(f *frame, lane int, m *memory.TensorMap, at []int32, write bool) *tile {
	t := &tile{m: m, width: int(m.Box[0]) * m.Type().Bytes()}
	span := spanAt(m, at[0], write)
	var count [5]int
	rows := 1
	for i := 1; i < int(m.Rank); i++ {
		step := max(1, int(m.Steps[i]))
		count[i] = (int(m.Box[i]) + step - 1) / step
		rows *= count[i]
	}
	t.rows = make([]tileRow, rows)
	for r := range t.rows {
		rest, c := r, [5]int64{int64(at[0])}
		for i := 1; i < int(m.Rank); i++ {
			c[i] = int64(at[i]) + int64(rest%count[i])*int64(max(1, m.Steps[i]))
			rest /= count[i]
		}
		t.rows[r] = t.row(f, lane, span, &c, write)
	}
	return t
}

// load reads the box and fills the part that is out of bounds.
func (t *tile) load() []byte {
	box := make([]byte, t.size())
	if t.m.Fill == 1 {
		for i := 0; i+2 <= len(box); i += 2 { // the copy engine fills 16 bits at a time, in every type
			memory.PutWord(box[i:][:2], scalar.OutOfBounds)
		}
	}
	for i, r := range t.rows {
		copy(box[i*t.width+r.lead:], r.global)
	}
	return box
}

// store writes the part of the box that lies in the tensor.
func (t *tile) store(box []byte, put bulkWrite, shared bool) {
	for i, r := range t.rows {
		if len(r.global) > 0 {
			put(r.global, box[i*t.width+r.lead:][:len(r.global)], shared)
		}
	}
}

// swizzled returns the offset to which a swizzle moves the byte at an offset in shared
// memory.
func swizzled(s device.Swizzle, off int) int {
	return layout.Swizzle([...]int{16, 32, 64, 128}[s], off)
}

// scatter writes a box to shared memory at an offset, swizzled.
func scatter(shared []byte, off int, s device.Swizzle, box []byte) {
	if s == device.NoSwizzle {
		copy(shared[off:], box)
		return
	}
	for i := 0; i < len(box); i += 16 {
		copy(shared[swizzled(s, off+i):][:16], box[i:])
	}
}

// gather is the inverse of scatter: it reads a box from shared memory.
func gather(shared []byte, off int, s device.Swizzle, size int) []byte {
	box := make([]byte, size)
	if s == device.NoSwizzle {
		copy(box, shared[off:])
		return box
	}
	for i := 0; i < size; i += 16 {
		copy(box[i:], shared[swizzled(s, off+i):][:16])
	}
	return box
}

// tensorOperand is a tensor map with coordinates.
type tensorOperand struct {
	addr    *machine.Address
	coords  []slot
	im2col  bool
	offsets []slot // the offsets of im2col, one per axis of an image; none for stores
}

func tensorOperandOf(d *decoder, x *inst) tensorOperand {
	o := x.Arg("tensorMap")
	t := tensorOperand{addr: d.Addr(o, ""), im2col: x.Has("im2col") || x.Has("im2col_no_offs")}
	if offsets := x.Arg("im2colOffsets"); offsets != nil {
		for _, e := range machine.Elements(offsets) {
			t.offsets = append(t.offsets, d.Src32(e, ptx.U16))
		}
	}
	for _, e := range machine.Elements(&o.Elems[0]) {
		t.coords = append(t.coords, d.Src32(e, ptx.S32))
	}
	return t
}

// tile returns the box at a lane's coordinates.
func (t tensorOperand) tile(f *frame, lane int, write bool) *tile {
	m, err := memory.DecodeTensorMap(f.Memory(lane, ptx.Generic, t.addr.At(f, lane), 128, false))
	f.Origin(lane).Check(err)
	if int(m.Rank) != len(t.coords) || m.Interleave != 0 {
		f.Raise(lane, "%d coordinates for a tensor map of rank %d with interleave %d", len(t.coords), m.Rank, m.Interleave)
	}
	if m.Im2col != t.im2col {
		f.Raise(lane, "the tensor map is for %s, the instruction for %s", tensorMode(m.Im2col), tensorMode(t.im2col))
	}
	f.Origin(lane).Check(m.Desc().Check())
	var at [5]int32
	for i, c := range t.coords {
		at[i] = int32(f.R32[c][lane])
	}
	if n := int(at[0]) * m.Type().Bytes(); n%16 != 0 {
		f.Raise(lane, "the box starts %d bytes into a row: this must be a multiple of 16", n)
	}
	if t.im2col {
		return t.pixels(f, lane, m, at, write)
	}
	return tileAt(f, lane, m, at[:], write)
}

// buildTensorCopy builds cp.async.bulk.tensor, its reductions and its prefetch.
func buildTensorCopy(d *decoder, x *inst) exec {
	t := tensorOperandOf(d, x)
	switch {
	case x.Has("prefetch"):
		return func(f *frame, m uint32) {
			machine.EachLane(m, func(l int) { t.tile(f, l, false) })
		}
	case x.Has("bulk_group"):
		return buildTensorStore(d, x, t)
	}
	return buildTensorLoad(d, x, t)
}

func buildTensorLoad(d *decoder, x *inst, t tensorOperand) exec {
	dst := d.Addr(x.Arg("dstMem"), x.SpaceName("dstMem"))
	bar := d.Addr(x.Arg("mbar"), x.SpaceName("mbar"))
	cast := multicastOf(d, x)
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			box := t.tile(f, l, false)
			block, off := dst.SharedAt(f, l, 128)
			barBlock, barOff := bar.SharedAt(f, l, 8)
			if block != barBlock && cast < 0 {
				f.Raise(l, "the destination is in block %d of the cluster, the mbarrier in block %d", block.Rank, barBlock.Rank)
			}
			to := cast.blocks(f, l, block)
			var bars []machine.BarRef
			for _, b := range to {
				checkTileFits(f, l, b, off, box)
				f.AnnounceLane(l, ptx.Shared, b, nil, off, box.size(), true)
				bars = append(bars, f.BarRef(l, b, barOff))
			}
			f.Block.Cluster.Start(machine.Transfer{From: f.Origin(l), Work: f.AnnounceStart(l, bars), Bars: bars, Bytes: box.size(), Move: func() {
				data := box.load()
				for _, b := range to {
					scatter(b.Shared, int(off), box.m.Swizzle, data)
				}
			}})
		})
	}
}

// checkTileFits raises a fault unless a box fits in shared memory. A swizzled box needs
// whole 128-byte lines.
func checkTileFits(f *frame, lane int, b *machine.Block, off uint64, box *tile) {
	n := box.size()
	if box.m.Swizzle != device.NoSwizzle {
		n = (n + 127) &^ 127
	}
	f.Within(lane, b.Shared, off, n, "shared-memory")
}

func buildTensorStore(d *decoder, x *inst, t tensorOperand) exec {
	src := d.Addr(x.Arg("srcMem"), x.SpaceName("srcMem"))
	op := x.Mod("redOp")
	return func(f *frame, m uint32) {
		machine.EachLane(m, func(l int) {
			for _, s := range t.coords {
				if c := int32(f.R32[s][l]); c < 0 { // a load may start before the tensor, but an H200 faults on a store
					f.Raise(l, "a store to a box that starts at %d, before the tensor", c)
				}
			}
			box := t.tile(f, l, true)
			put := bulkWrite(replaceBytes)
			if op != "" {
				if put = reduceBytes(op, box.m.Type()); put == nil {
					f.Raise(l, "the reduction %s is not defined for a tensor of type %s", op, box.m.Type())
				}
			}
			b, off := src.SharedAt(f, l, 128)
			checkTileFits(f, l, b, off, box)
			f.AnnounceLane(l, ptx.Shared, b, nil, off, box.size(), false)
			f.AnnounceStart(l, nil)
			f.Warp.Async.Bulk.Add(f.Origin(l),
				func() []byte { return gather(b.Shared, int(off), box.m.Swizzle, box.size()) },
				func(data []byte) { box.store(data, put, f.Block.Launch.Parallel) })
		})
	}
}
