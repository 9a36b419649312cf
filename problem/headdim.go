package problem

import (
	"fmt"
	"strings"
)

// HeadDim is the number of columns of a head: D in Q and K, DV in V and O. A DV of 0 is D.
type HeadDim struct{ D, DV int }

// ParseHeadDim reads "D" or "D/DV".
func ParseHeadDim(text string) (HeadDim, error) {
	var h HeadDim
	if err := parseExtent(strings.TrimSpace(text), [2]*int{&h.D, &h.DV}); err != nil || h.D < 1 || h.DV < 1 {
		return HeadDim{}, fmt.Errorf("head dimension %q: give one number such as 128, or D/DV such as 192/128", text)
	}
	return h.short(), nil
}

// V returns the number of columns of V and O.
func (h HeadDim) V() int {
	if h.DV == 0 {
		return h.D
	}
	return h.DV
}

// String returns "D", or "D/DV" if V has another head dimension.
func (h HeadDim) String() string { return both(h.D, h.V()) }

// short returns the form in which DV is 0 if it is D.
func (h HeadDim) short() HeadDim {
	if h.DV == h.D {
		h.DV = 0
	}
	return h
}

// HeadDim returns the number of columns of the heads.
func (s Shape) HeadDim() HeadDim { return HeadDim{s.D, s.DV} }

// WithHeadDim returns the shape with other heads.
func (s Shape) WithHeadDim(h HeadDim) Shape {
	h = h.short()
	s.D, s.DV = h.D, h.DV
	return s
}
