package cover

import (
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// Report is the coverage of a kernel.
type Report struct {
	Lines    int `json:"lines"`              // PTX instructions that the launched entries can execute
	Excluded int `json:"excluded,omitempty"` // lines that arguments which the call fixes exclude; Lines does not count them
	Ran      int `json:"ran"`
	Outcomes int `json:"outcomes"` // two for each guard
	Seen     int `json:"seen"`
	// Missed lists the lines that did not run.
	Missed []int `json:"missed,omitempty"`
}

// String returns the shares of the lines and of the outcomes.
func (r Report) String() string {
	return fmt.Sprintf("%s of %d lines, %s of %d branch outcomes", percent(r.Ran, r.Lines), r.Lines, percent(r.Seen, r.Outcomes), r.Outcomes)
}

// percent returns a share, rounded down: 100 % means all.
func percent(n, of int) string {
	if of == 0 {
		return "100 %"
	}
	return fmt.Sprintf("%d %%", 100*n/of)
}

// Report returns the coverage so far.
func (c *Cover) Report() Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	var r Report
	block := uint32(0) // what was seen of the first instruction of the block
	able := c.possible()
	for id := range c.points {
		p, seen := &c.points[id], c.seen[id].Load()
		if p.leads {
			block = seen & reached
		}
		if !p.counts {
			continue
		}
		if !able[id] {
			r.Excluded++
			continue
		}
		r.Lines++
		if p.guarded && !p.jumps && seen&held != 0 || (!p.guarded || p.jumps) && block != 0 {
			r.Ran++
		} else {
			r.Missed = append(r.Missed, p.line)
		}
		if p.guarded {
			r.Outcomes += 2
			r.Seen += int(seen&held/held + seen&failed/failed)
		}
	}
	sort.Ints(r.Missed)
	return r
}

// Near returns, for each comparison of integers that ran and has had one outcome only, the
// smallest distance to the other outcome since the last [Cover.Forget]. The keys number the
// instructions of the PTX text.
func (c *Cover) Near() map[int]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	near := map[int]uint64{}
	for id := range c.points {
		if c.open(id) && c.near[id].Load() != math.MaxUint64 {
			near[id] = c.near[id].Load()
		}
	}
	return near
}

// Open returns the comparisons of integers that ran and have had one outcome only, in the order of
// the text.
func (c *Cover) Open() (list []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.points {
		if c.open(id) {
			list = append(list, id)
		}
	}
	return list
}

func (c *Cover) open(id int) bool {
	both := yes | no
	seen := c.seen[id].Load() & both
	return c.points[id].compares && c.points[id].counts && seen != 0 && seen != both
}

// Line returns the line of an instruction in the PTX text.
func (c *Cover) Line(id int) int { return c.points[id].line }

// Facts returns the number of facts that have been seen. A launch that reaches nothing new does
// not change it.
func (c *Cover) Facts() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.points {
		n += bits.OnesCount32(c.seen[id].Load() & c.points[id].wants)
	}
	return n
}
