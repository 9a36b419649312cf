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
	case p.D < columns || p.D%columns != 0:
		return fmt.Errorf("head dimension %d: use a multiple of %d", p.D, columns)
	}
	return nil
}

// Facts returns the values that the text depends on.
func (p Problem) Facts() map[string]string {
	return map[string]string{"input": string(p.Input), "output": string(p.Output), "lse": strconv.FormatBool(p.LSE)}
}

// Uses returns no feature.
func (p Problem) Uses() []string { return nil }

// Names returns the sizes that expressions of the launch may use.
func (p Problem) Names() expr.Env {
	return expr.Env{"parts": expr.Int(int64(p.Parts)), "rows": expr.Int(int64(p.Rows)), "D": expr.Int(int64(p.D))}
}
