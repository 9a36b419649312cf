package ops

import "github.com/GOATnote-Inc/attest/device/emu/internal/memory"

// tensorMode returns the mode of a tensor map or an instruction, for an error.
func tensorMode(im2col bool) string {
	if im2col {
		return "im2col"
	}
	return "tiles"
}

// pixels returns the pixels of a copy in im2col mode, each as a row of channels. at holds the first
// channel, the position in the bounding box and the number of the image.
func (t tensorOperand) pixels(f *frame, lane int, m *memory.TensorMap, at [5]int32, write bool) *tile {
	box := &tile{m: m, width: int(m.Box[0]) * m.Type().Bytes(), rows: make([]tileRow, m.Box[1])}
	span := spanAt(m, at[0], write)
	w := boundingBox{m: m, batch: int(m.Rank) - 1}
	for i := range int(m.Rank) {
		w.at[i] = int64(at[i])
	}
	if axis := w.outside(); axis > 0 {
		f.Raise(lane, "coordinate %d of an im2col copy is %d; the bounding box goes from %d to %d", axis, at[axis], w.low(axis), w.high(axis))
	}
	for axis := 1; axis < w.batch && write; axis++ {
		if w.low(axis) < 0 || m.Upper[axis-1] > 0 {
			f.Raise(lane, "an im2col store needs a bounding box inside the tensor: dimension %d goes from %d to %d", axis, w.low(axis), w.high(axis))
		}
	}
	for r := range box.rows {
		pixel := w.at
		for i, s := range t.offsets {
			pixel[i+1] += int64(f.R32[s][lane] & 0xffff)
		}
		box.rows[r] = box.row(f, lane, span, &pixel, write)
		w.next()
	}
	return box
}

// boundingBox is a walk through the pixels of the bounding box of im2col.
type boundingBox struct {
	m     *memory.TensorMap
	batch int // the dimension of the images
	at    [5]int64
}

// low and high return the least and the greatest coordinate of an axis of the box.
func (w *boundingBox) low(axis int) int64 { return int64(w.m.Lower[axis-1]) }

func (w *boundingBox) high(axis int) int64 {
	return int64(w.m.Dims[axis]) - 1 + int64(w.m.Upper[axis-1])
}

// outside returns an axis in which the position is outside the box, or 0.
func (w *boundingBox) outside() int {
	for axis := 1; axis < w.batch; axis++ {
		if w.at[axis] < w.low(axis) || w.at[axis] > w.high(axis) {
			return axis
		}
	}
	return 0
}

// next moves to the next pixel: along the width, then to the next row, layer and image.
func (w *boundingBox) next() {
	for axis := 1; axis < w.batch; axis++ {
		w.at[axis] += int64(max(1, w.m.Steps[axis]))
		if w.at[axis] <= w.high(axis) {
			return
		}
		w.at[axis] = w.low(axis)
	}
	w.at[w.batch]++
}
