package launchfile

import (
	"bytes"
	"fmt"
	"math"
)

// Comparison is a buffer held against what it must be.
type Comparison struct {
	What       string // "parameter 1"
	Expect     string // the file with the values it must have, or what else it was held against
	Type       string // of the elements
	Compared   int64  // elements
	Mismatches int64
	// The largest differences of all elements, mismatches or not. A NaN against
	// anything else is an infinite one.
	MaxAbs, MaxRel float64
	MaxULP         uint64
	First          []Mismatch // the first few
}

// Mismatch is an element that is not what it must be.
type Mismatch struct {
	Index     int64
	Got, Want string
}

// mostMismatches is how many mismatches are told one by one.
const mostMismatches = 8

// compare holds bytes against those they must be. With near they may differ a
// little.
func (e *elem) compare(got, want []byte, near *near) *Comparison {
	n := len(want) / e.size
	c := &Comparison{Type: e.name, Compared: int64(n)}
	const stretch = 4096 // elements, most of them equal
	for from := 0; from < n; from += stretch {
		to := min(from+stretch, n)
		if bytes.Equal(got[from*e.size:to*e.size], want[from*e.size:to*e.size]) {
			continue
		}
		for i := from; i < to; i++ {
			if g, w := e.get(got, i), e.get(want, i); g != w {
				c.add(e, int64(i), g, w, near)
			}
		}
	}
	return c
}

// add counts two elements with different bits.
func (c *Comparison) add(e *elem, i int64, got, want uint64, near *near) {
	g, w := e.value(got), e.value(want)
	if near != nil && (g == w || math.IsNaN(g) && math.IsNaN(w)) {
		return // both zeros, any NaNs
	}
	abs, rel, ulp := math.Inf(1), math.Inf(1), uint64(math.MaxInt64)
	if !math.IsNaN(g) && !math.IsNaN(w) {
		ulp = e.ulps(got, want)
		if !math.IsInf(g, 0) && !math.IsInf(w, 0) {
			abs = math.Abs(g - w)
			rel = abs / math.Abs(w)
			if abs == 0 { // zeros of both signs
				rel = 0
			}
		}
	}
	c.MaxAbs, c.MaxRel, c.MaxULP = max(c.MaxAbs, abs), max(c.MaxRel, rel), max(c.MaxULP, ulp)
	if near != nil && !math.IsInf(abs, 0) && (abs <= near.abs+near.rel*math.Abs(w) || ulp <= near.ulp) {
		return
	}
	c.Mismatches++
	if len(c.First) < mostMismatches {
		c.First = append(c.First, Mismatch{i, e.show(got), e.show(want)})
	}
}

func (c *Comparison) String() string {
	s := fmt.Sprintf("%s: %d of %d %s differ from %s", c.What, c.Mismatches, c.Compared, c.Type, c.Expect)
	if !math.IsInf(c.MaxAbs, 0) {
		s += fmt.Sprintf(", at most by %.3g", c.MaxAbs)
		if elemNamed(c.Type).float() {
			s += fmt.Sprintf(" (%d ulp)", c.MaxULP)
		}
	}
	return s
}
