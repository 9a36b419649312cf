package launchfile

import (
	"bytes"
	"fmt"
	"math"
)

// Comparison is the comparison of a buffer with its expected content.
type Comparison struct {
	What       string // "parameter 1"
	Expect     string // the file with the expected values, or another name for them
	Type       string // the type of the elements
	Compared   int64  // elements
	Mismatches int64
	// MaxAbs and MaxRel are the largest differences of all elements, including those within
	// the tolerance. The difference between a NaN and a number is infinite.
	MaxAbs, MaxRel float64
	MaxULP         uint64
	First          []Mismatch // the first few
}

// Mismatch is an element that differs from its expected value by more than the tolerance.
type Mismatch struct {
	Index     int64
	Got, Want string
}

// maxMismatches is the number of mismatches that are listed.
const maxMismatches = 8

// compare compares bytes with the expected bytes. If tol is nil, they must be equal.
func (e *elem) compare(got, want []byte, tol *tolerance) *Comparison {
	n := len(want) / e.size
	c := &Comparison{Type: e.name, Compared: int64(n)}
	const stretch = 4096 // elements that are compared at once, because most are equal
	for from := 0; from < n; from += stretch {
		to := min(from+stretch, n)
		if bytes.Equal(got[from*e.size:to*e.size], want[from*e.size:to*e.size]) {
			continue
		}
		for i := from; i < to; i++ {
			if g, w := e.get(got, i), e.get(want, i); g != w {
				c.add(e, int64(i), g, w, tol)
			}
		}
	}
	return c
}

// add counts two elements with different bits.
func (c *Comparison) add(e *elem, i int64, got, want uint64, tol *tolerance) {
	g, w := e.value(got), e.value(want)
	if tol != nil && (g == w || math.IsNaN(g) && math.IsNaN(w)) {
		return // zeros of both signs are equal, and all NaNs are equal
	}
	abs, rel, ulp := math.Inf(1), math.Inf(1), uint64(math.MaxInt64)
	if !math.IsNaN(g) && !math.IsNaN(w) {
		ulp = e.ulps(got, want)
		if !math.IsInf(g, 0) && !math.IsInf(w, 0) {
			abs = math.Abs(g - w)
			rel = abs / math.Abs(w)
			if abs == 0 { // both are zeros, with different signs
				rel = 0
			}
		}
	}
	c.MaxAbs, c.MaxRel, c.MaxULP = max(c.MaxAbs, abs), max(c.MaxRel, rel), max(c.MaxULP, ulp)
	if tol != nil && !math.IsInf(abs, 0) && (abs <= tol.abs+tol.rel*math.Abs(w) || ulp <= tol.ulp) {
		return
	}
	c.Mismatches++
	if len(c.First) < maxMismatches {
		c.First = append(c.First, Mismatch{i, e.format(got), e.format(want)})
	}
}

func (c *Comparison) String() string {
	s := fmt.Sprintf("%s: %d of %d %s differ from %s", c.What, c.Mismatches, c.Compared, c.Type, c.Expect)
	if !math.IsInf(c.MaxAbs, 0) {
		s += fmt.Sprintf(", by at most %.3g", c.MaxAbs)
		if elemNamed(c.Type).float() {
			s += fmt.Sprintf(" (%d ulp)", c.MaxULP)
		}
	}
	return s
}
