package findingtext

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// mostWaiters is the number of rows of waiters that are shown, to fit one screen. JSON has all.
const mostWaiters = 20

// waiterRow is the warps of a block that wait at one line for the same thing.
type waiterRow struct {
	*finding.Waiter
	warps []int
}

// waiters writes a table of the threads that wait, where, and for what. Warps that wait
// alike share a row.
func (p *Printer) waiters(all []finding.Waiter) {
	if len(all) == 0 {
		return
	}
	rows := groupWaiters(all)
	p.note("", "threads that wait, and what they wait for:")
	t := term.Table{Indent: strings.Repeat(" ", gutter+3), Right: "lllrll", Style: p.style}
	t.Head("block", "warps", "lanes", "line", "at", "waits for")
	for _, r := range rows[:min(len(rows), mostWaiters)] {
		t.Row(fmt.Sprintf("(%d,%d,%d)", r.Block[0], r.Block[1], r.Block[2]), ranges(r.warps), r.Lanes.Numbers(),
			r.Line, term.Clean(r.Inst), term.Clean(r.For))
	}
	t.WriteTo(p.out)
	if more := len(rows) - mostWaiters; more > 0 {
		fmt.Fprintf(p.out, "%*s and %d more\n", gutter+2, "", more)
	}
}

// groupWaiters joins the warps that wait alike, in the order of the first warp of each
// row.
func groupWaiters(all []finding.Waiter) (rows []*waiterRow) {
	type alike struct {
		block [3]int
		lanes finding.Lanes
		line  int32
		why   string
	}
	known := map[alike]*waiterRow{}
	for i := range all {
		a := &all[i]
		k := alike{a.Block, a.Lanes, a.Line, a.For}
		r := known[k]
		if r == nil {
			r = &waiterRow{Waiter: a}
			known[k] = r
			rows = append(rows, r)
		}
		r.warps = append(r.warps, a.Warp)
	}
	return rows
}

// ranges writes numbers as "0-3,8".
func ranges(n []int) string {
	n = slices.Clone(n)
	sort.Ints(n)
	n = slices.Compact(n)
	var parts []string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i == j {
			parts = append(parts, fmt.Sprint(n[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", n[i], n[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}
