package emu

import (
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// tile is a box of a tensor: the rows of its innermost dimension in the order they
// have in shared memory.
type tile struct {
	m     *tensorMap
	width int // bytes of a row
	rows  []tileRow
}

// tileRow is a row of a box. Its middle lies in the tensor; what is before and
// after is out of bounds.
type tileRow struct {
	lead   int
	global []byte
}

func (t *tile) size() int { return t.width * len(t.rows) }

// tile finds the box at the coordinates.
func (f *frame) tile(lane int, m *tensorMap, at []int32, write bool) *tile {
	es := m.typ().Bytes()
	t := &tile{m: m, width: int(m.box[0]) * es}
	first := max(0, -int64(at[0]))
	last := int64(m.dims[0]) - int64(at[0])
	if write { // rows are written to the end of a unit of 16 bytes, as an H200 does
		per := int64(16 / es)
		last = (last + per - 1) / per * per
	}
	last = min(last, int64(m.box[0]))
	var count [5]int
	rows := 1
	for i := 1; i < int(m.rank); i++ {
		step := max(1, int(m.steps[i]))
		count[i] = (int(m.box[i]) + step - 1) / step
		rows *= count[i]
	}
	t.rows = make([]tileRow, rows)
	for r := range t.rows {
		addr, inside, rest := m.addr, last > first, r
		for i := 1; i < int(m.rank); i++ {
			c := int64(at[i]) + int64(rest%count[i])*int64(max(1, m.steps[i]))
			rest /= count[i]
			inside = inside && c >= 0 && c < int64(m.dims[i])
			addr += uint64(c) * m.strides[i-1]
		}
		if !inside {
			t.rows[r].lead = t.width
			continue
		}
		addr += uint64((int64(at[0]) + first) * int64(es))
		t.rows[r] = tileRow{int(first) * es, f.global(lane, addr, int(last-first)*es, write)}
	}
	return t
}

// load reads the box, filling what is out of bounds.
func (t *tile) load() []byte {
	box := make([]byte, t.size())
	if t.m.fill == 1 {
		for i := range box { // every float type's NaN of all ones
			box[i] = 0xff
		}
	}
	for i, r := range t.rows {
		copy(box[i*t.width+r.lead:], r.global)
	}
	return box
}

// store writes the part of the box that lies in the tensor.
func (t *tile) store(box []byte, put placing, shared bool) {
	for i, r := range t.rows {
		if len(r.global) > 0 {
			put(r.global, box[i*t.width+r.lead:][:len(r.global)], shared)
		}
	}
}

// swizzled is where a swizzle has the byte at an offset in shared memory: bits of
// the 16-byte unit's number are flipped by those of the 128-byte line's.
func swizzled(s device.Swizzle, off int) int {
	mask := [...]int{0, 1, 3, 7}[s]
	return off ^ (off>>7&mask)<<4
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

// gather is the opposite of scatter.
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
	addr   *address
	coords []slot
}

func (d *decoder) tensorOperand(x *inst) tensorOperand {
	o := x.Arg("tensorMap")
	t := tensorOperand{addr: d.addr(o, "")}
	for _, e := range elems(&o.Elems[0]) {
		t.coords = append(t.coords, d.src32(e, ptx.S32))
	}
	return t
}

// tile is the box that a lane names.
func (t tensorOperand) tile(f *frame, lane int, write bool) *tile {
	m, err := decodeTensor(f.memory(lane, ptx.Generic, t.addr.at(f, lane), 128, false))
	f.origin(lane).check(err)
	if int(m.rank) != len(t.coords) || m.interleave != 0 {
		f.raise(lane, "%d coordinates of a tensor map of rank %d with interleave %d", len(t.coords), m.rank, m.interleave)
	}
	f.origin(lane).check(m.desc().Check())
	var at [5]int32
	for i, c := range t.coords {
		at[i] = int32(f.r32[c][lane])
	}
	if n := int(at[0]) * m.typ().Bytes(); n%16 != 0 {
		f.raise(lane, "the box starts %d bytes into its rows: it must be a multiple of 16", n)
	}
	return f.tile(lane, m, at[:], write)
}

// buildTensorCopy is cp.async.bulk.tensor, its reductions and its prefetch.
func buildTensorCopy(d *decoder, x *inst) exec {
	if x.Has("im2col") || x.Has("im2col_no_offs") {
		d.fail("the emulator has tensor maps of tiles only: no im2col")
		return nil
	}
	t := d.tensorOperand(x)
	switch {
	case x.Has("prefetch"):
		return func(f *frame, m uint32) {
			eachLane(m, func(l int) { t.tile(f, l, false) })
		}
	case x.Has("bulk_group"):
		return buildTensorStore(d, x, t)
	}
	return buildTensorLoad(d, x, t)
}

func buildTensorLoad(d *decoder, x *inst, t tensorOperand) exec {
	dst := d.addr(x.Arg("dstMem"), x.SpaceName("dstMem"))
	bar := d.addr(x.Arg("mbar"), x.SpaceName("mbar"))
	cast := d.multicast(x)
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			box := t.tile(f, l, false)
			block, off := dst.sharedAt(f, l, 128)
			barBlock, barOff := bar.sharedAt(f, l, 8)
			if block != barBlock && cast < 0 {
				f.raise(l, "the destination is in block %d of the cluster, the mbarrier in block %d", block.rank, barBlock.rank)
			}
			to := cast.blocks(f, l, block)
			var bars []barRef
			for _, b := range to {
				f.tileRoom(l, b, off, box)
				f.touched(l, ptx.Shared, b, nil, off, box.size(), true)
				bars = append(bars, f.barRef(l, b, barOff))
			}
			f.b.cluster.start(transfer{from: f.origin(l), work: f.started(l, bars), bars: bars, bytes: box.size(), move: func() {
				data := box.load()
				for _, b := range to {
					scatter(b.shared, int(off), box.m.swizzle, data)
				}
			}})
		})
	}
}

// tileRoom checks that a box fits in shared memory, whole 128-byte lines of it
// where a swizzle moves units about in them.
func (f *frame) tileRoom(lane int, b *block, off uint64, box *tile) {
	n := box.size()
	if box.m.swizzle != device.NoSwizzle {
		n = (n + 127) &^ 127
	}
	f.within(lane, b.shared, off, n, "shared-memory")
}

func buildTensorStore(d *decoder, x *inst, t tensorOperand) exec {
	src := d.addr(x.Arg("srcMem"), x.SpaceName("srcMem"))
	op := x.Mod("redOp")
	return func(f *frame, m uint32) {
		eachLane(m, func(l int) {
			for _, s := range t.coords {
				if c := int32(f.r32[s][l]); c < 0 { // loads may, but an H200 faults here
					f.raise(l, "a store to a box that starts at %d, before the tensor", c)
				}
			}
			box := t.tile(f, l, true)
			put := placing(replaceBytes)
			if op != "" {
				if put = reduceBytes(op, box.m.typ()); put == nil {
					f.raise(l, "%s of a tensor of %s", op, box.m.typ())
				}
			}
			b, off := src.sharedAt(f, l, 128)
			f.tileRoom(l, b, off, box)
			f.touched(l, ptx.Shared, b, nil, off, box.size(), false)
			f.started(l, nil)
			f.w.async.bulk.add(f.origin(l),
				func() []byte { return gather(b.shared, int(off), box.m.swizzle, box.size()) },
				func(data []byte) { box.store(data, put, f.b.launch.parallel) })
		})
	}
}
