package merge

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/problem"
)

// Problem says what to merge: Parts outputs of Rows rows with D columns.
type Problem struct {
	Parts, Rows, D int
	Input          problem.Format // the format of the parts: F16, BF16 or F32
	Output         problem.Format // the format of O: F16, BF16 or F32
	LSE            bool           // also write the LSE of the merged rows
	// With the layout BSHD the rows of O are [B,S,H] and those of the LSE [B,H,S], as attention writes them.
	// Otherwise, and with the layout BHSD, both have the same order.
	Layout   problem.Layout
	Heads, S int // H and S, only with the layout BSHD
}

var formats = []problem.Format{problem.F16, problem.BF16, problem.F32}

const (
	columns = 4 // the columns that a thread merges
	threads = 128
	// maxRows keeps the number of a row of all parts, and of a thread, in a signed 32-bit integer.
	maxRows = 1<<31 - 1
)

// Op names the operation.
func (p Problem) Op() string { return "merge" }

// Check returns an error if a field has a value that is not allowed.
func (p Problem) Check() error {
	switch {
	case !slices.Contains(formats, p.Input) || !slices.Contains(formats, p.Output):
		return fmt.Errorf("input %q and output %q: use f16, bf16 or f32", p.Input, p.Output)
	case p.Parts < 1 || p.Rows < 1:
		return fmt.Errorf("%d parts of %d rows: there must be at least one of each", p.Parts, p.Rows)
	case p.Layout != "" && p.Layout != problem.BHSD && p.Layout != problem.BSHD:
		return fmt.Errorf("layout %q: use %s or %s", p.Layout, problem.BHSD, problem.BSHD)
	case p.bshd() && (p.Heads < 1 || p.S < 1 || p.Rows%p.Heads != 0 || p.Rows/p.Heads%p.S != 0):
		return fmt.Errorf("%d rows of %d heads and %d queries: use a multiple of their product", p.Rows, p.Heads, p.S)
	case p.D < columns || p.D%columns != 0:
		return fmt.Errorf("head dimension %d: use a multiple of %d", p.D, columns)
	}
	return nil
}

// Facts returns the values that the text depends on.
func (p Problem) Facts() map[string]string {
	facts := map[string]string{"input": string(p.Input), "output": string(p.Output), "lse": strconv.FormatBool(p.LSE)}
	if p.bshd() {
		facts["layout"] = string(p.Layout)
	}
	return facts
}

// bshd reports whether the rows of O and of the LSE have different orders.
func (p Problem) bshd() bool { return p.Layout == problem.BSHD }

// Uses returns no feature.
func (p Problem) Uses() []string { return nil }

// Names returns the sizes that expressions of the launch may use.
func (p Problem) Names() expr.Env {
	return expr.Env{"parts": expr.Int(int64(p.Parts)), "rows": expr.Int(int64(p.Rows)), "D": expr.Int(int64(p.D)), "heads": expr.Int(int64(p.Heads)), "S": expr.Int(int64(p.S))}
}
