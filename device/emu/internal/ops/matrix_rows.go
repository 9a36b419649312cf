package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/numeric/simd"
)

// arrange sets step and paired.
func (r *registers) arrange() {
	step, width := int(r.lane[4]), int(r.lane[1])
	for l, at := range r.lane {
		if int(at) != l/4*step+l%4*width {
			return
		}
	}
	for i := range r.reg {
		if width == 2 && (len(r.reg)%2 != 0 || r.reg[i] != r.reg[i&^1]+uint16(i&1)) {
			return
		}
	}
	if width == 1 || width == 2 {
		r.step, r.paired = step, width == 2
	}
}

// load collects the words of 32-bit registers.
func (r *registers) load(f *frame, words []uint32) {
	switch {
	case r.step == 0:
		for i, s := range r.slots {
			v, at := &f.R32[s], words[r.reg[i]:]
			for l := range v {
				at[r.lane[l]] = v[l]
			}
		}
	case r.paired:
		for i := 0; i+1 < len(r.slots); i += 2 {
			interleave(words[r.reg[i]:], r.step, &f.R32[r.slots[i]], &f.R32[r.slots[i+1]])
		}
	default:
		for i, s := range r.slots {
			byFours(words[r.reg[i]:], r.step, &f.R32[s])
		}
	}
}

// byFours writes eight rows of four words, step words apart.
func byFours(rows []uint32, step int, lanes *machine.Lanes32) {
	_ = rows[7*step+3]
	if simd.Has {
		simd.Spread(&rows[0], 4*step, lanes)
		return
	}
	for r := range 8 {
		*(*[4]uint32)(rows[r*step:]) = *(*[4]uint32)(lanes[4*r:])
	}
}

// store is the inverse of load.
func (r *registers) store(f *frame, m uint32, words []uint32) {
	if r.step != 0 && r.paired && m == machine.FullMask {
		for i := 0; i+1 < len(r.slots); i += 2 {
			deinterleave(&f.R32[r.slots[i]], &f.R32[r.slots[i+1]], words[r.reg[i]:], r.step)
		}
		return
	}
	for i, s := range r.slots {
		v, at := f.Result32(s, m), words[r.reg[i]:]
		for l := range v {
			v[l] = at[r.lane[l]]
		}
		f.Commit32(s, m)
	}
}

// interleave writes eight rows of eight words, step words apart: four lanes of even and of
// odd in turns.
func interleave(rows []uint32, step int, even, odd *machine.Lanes32) {
	_ = rows[7*step+7]
	if simd.Has {
		simd.Interleave(&rows[0], 4*step, even, odd)
		return
	}
	for r := range 8 {
		to, e, o := (*[8]uint32)(rows[r*step:]), (*[4]uint32)(even[4*r:]), (*[4]uint32)(odd[4*r:])
		to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7] = e[0], o[0], e[1], o[1], e[2], o[2], e[3], o[3]
	}
}

// deinterleave is the inverse of interleave.
func deinterleave(even, odd *machine.Lanes32, rows []uint32, step int) {
	_ = rows[7*step+7]
	if simd.Has {
		simd.Deinterleave(even, odd, &rows[0], 4*step)
		return
	}
	for r := range 8 {
		from, e, o := (*[8]uint32)(rows[r*step:]), (*[4]uint32)(even[4*r:]), (*[4]uint32)(odd[4*r:])
		e[0], o[0], e[1], o[1], e[2], o[2], e[3], o[3] = from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]
	}
}
