package campaign

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/errmap"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// Show writes the result.
func (r *RunResult) Show(env *cli.Env) {
	if env.JSON {
		env.Encode(r)
		return
	}
	s := env.OutStyle()
	c := r.Case
	fmt.Fprintf(env, "%s  %s\n", s.Bold(term.Clean(r.Kernel.Name)), s.Dim(fmt.Sprintf("%s, shape %s, %s inputs of seed %d, on %s", title(r.Kernel), r.problem(), c.Distribution, c.Seed, r.Device)))
	r.printErrors(env)
	if len(r.Wrong) > 0 {
		errmap.Write(env, s, c, gate.Tolerance.Max)
	} else if c.Cause != "" {
		fmt.Fprintf(env, "  note: %s\n", term.Clean(c.Cause))
	}
	r.printTime(env)
	if r.Defects != nil {
		findingtext.NewPrinter(env, s, r.file, r.ptx).Print(r.Defects.Findings())
	}
	if len(r.Wrong) == 0 {
		fmt.Fprintf(env, "%s: within the tolerance, inputs and guard bands unchanged, the same bits in both runs%s\n", s.Green("ok"), r.checked())
		return
	}
	for _, why := range r.Wrong {
		fmt.Fprintf(env, "%s: %s\n", s.Red("bad"), term.Clean(why))
	}
}

// problem returns the shape and what else the case computed, except for the formats in the title.
func (r *RunResult) problem() string {
	c, p := r.Case, r.Kernel.Computes()
	p.Shape, p.Format, p.Output = c.Shape, "", ""
	p.Scale, p.Softcap, p.Window, p.Batch = c.Scale, c.Softcap, c.Window, c.Batch
	text := p.String()
	if p.Keys == problem.Paged {
		text += " of " + english.Count(p.PageSize, "row")
	}
	return text
}

// checked returns what the checkers add to the line of a kernel that is right.
func (r *RunResult) checked() string {
	switch d := r.Defects; {
	case d == nil:
		return ""
	case d.Warnings > 0:
		return ", " + english.Count(d.Warnings, "warning")
	}
	return ", no defects"
}

// printErrors prints the errors against float64, each with that of a plain computation in the
// same precision below it.
func (r *RunResult) printErrors(env *cli.Env) {
	c := r.Case
	if c.Errors == nil {
		return
	}
	t := term.Table{Indent: "  ", Right: "lrrr", Style: env.OutStyle()}
	t.Head("error against float64 on", "max", "mean", "rms")
	for _, row := range []struct {
		name string
		e    *ref.Errors
	}{
		{"the inputs as they were", c.Errors}, {"  plain computation", c.Plain},
		{"the quantised inputs", c.Dequantised}, {"  plain computation", c.PlainDequantised},
	} {
		if row.e != nil {
			t.Row(row.name, fmt.Sprintf("%.3g", row.e.Max), fmt.Sprintf("%.3g", row.e.Mean), fmt.Sprintf("%.3g", row.e.RMSE))
		}
	}
	t.WriteTo(env)
}

func (r *RunResult) printTime(env *cli.Env) {
	switch {
	case r.Performance != nil && r.Performance.Skipped != "":
		fmt.Fprintf(env, "  not timed: %s\n", term.Clean(r.Performance.Skipped))
	case r.Performance != nil:
		for i := range r.Performance.Shapes {
			t := &r.Performance.Shapes[i]
			sum := t.Summaries[0]
			fmt.Fprintf(env, "  %s µs (median; %s to %s), %.3g TFLOP/s; %s, %s cache\n", term.Micros(sum.P50), term.Micros(sum.Median.Low), term.Micros(sum.Median.High), t.TFLOPs[0], t.Method.Mode, t.Method.Cache)
		}
	case r.Predicted != nil:
		fmt.Fprintf(env, "  %s %s µs (%s to %s) on %s; not measured\n", env.OutStyle().Yellow("PREDICTED"), term.Micros(r.Predicted.Micros), term.Micros(r.Predicted.Low), term.Micros(r.Predicted.High), r.Predicted.Chip)
	}
}
