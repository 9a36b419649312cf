package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

func reportCommand(env *cli.Env) *cobra.Command {
	x := &reporter{evidenceStore: evidenceStore{env: env}}
	c := &cobra.Command{
		Use:   "report",
		Short: "Evidence as tables, Markdown or one HTML page",
		Long: `Show the evidence: the ladder of kernels with their verdicts, resources and errors,
and the times of each shape against baselines and rivals.

--out writes it as one HTML page with charts, which needs no network. --markdown writes
COMPARE.md, HISTORY.md and a VALIDATION page a kernel into a directory. --readme puts
the table of the fastest kernels into a file, between the lines that mark its place.
Nothing is measured and nothing is judged, and every figure names its record.

What stands for a kernel is its newest PTX. Damaged evidence is told on standard error
and in the page, and makes the exit code 1; the rest is reported.

JSON: {"kernels": [{"kernel", "outcome", "why", "record", "ptx", "timed"}], "shapes":
[{"device", "shape", "best", "p50", "tflops", "record"}], "check": as attest evidence
verify, "written": [paths]}.`,
		Example: "  attest report\n  attest report --out report.html && open report.html\n  attest report --evidence ~/h200 --markdown docs\n  attest report --readme README.md",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return x.run() },
	}
	x.flag(c)
	c.Flags().StringVar(&x.out, "out", "", "write the HTML page to this file")
	c.Flags().StringVar(&x.markdown, "markdown", "", "write Markdown into this directory")
	c.Flags().StringVar(&x.readme, "readme", "", "put the results into this file")
	return c
}

// reporter is the report command.
type reporter struct {
	evidenceStore
	out, markdown, readme string
	written               []string
}

func (x *reporter) run() error {
	s, err := x.open()
	if err != nil {
		return err
	}
	v := report.New(s.Load())
	for _, write := range []func(*report.View) error{x.writeHTML, x.writeMarkdown, x.writeReadme} {
		if err := write(v); err != nil {
			return err
		}
	}
	if x.env.JSON {
		x.env.Encode(summariseReport(v, x.written))
	} else {
		v.WriteText(x.env, x.env.OutStyle())
		for _, path := range x.written {
			fmt.Fprintf(x.env, "wrote %s\n", term.Clean(path))
		}
	}
	return x.damaged(v.Check.Problems)
}

func (x *reporter) writeHTML(v *report.View) error {
	if x.out == "" {
		return nil
	}
	var page bytes.Buffer
	if err := v.WriteHTML(&page); err != nil {
		return err
	}
	x.written = append(x.written, x.out)
	return atomicfile.Write(x.out, page.Bytes())
}

func (x *reporter) writeMarkdown(v *report.View) error {
	if x.markdown == "" {
		return nil
	}
	names, err := v.WriteMarkdown(x.markdown)
	for _, name := range names {
		x.written = append(x.written, filepath.Join(x.markdown, name))
	}
	return err
}

func (x *reporter) writeReadme(v *report.View) error {
	if x.readme == "" {
		return nil
	}
	old, err := os.ReadFile(x.readme)
	if err != nil {
		return err
	}
	now, err := report.ReplaceResults(string(old), v.Results())
	if err != nil {
		return fmt.Errorf("%s: %w", x.readme, err)
	}
	if now == string(old) {
		return nil
	}
	x.written = append(x.written, x.readme)
	return atomicfile.Write(x.readme, []byte(now))
}

// reportSummary is a report for a program.
type reportSummary struct {
	Kernels []kernelSummary `json:"kernels"`
	Shapes  []shapeSummary  `json:"shapes"`
	Check   *evidence.Check `json:"check"`
	Written []string        `json:"written"`
}

type kernelSummary struct {
	Kernel  string         `json:"kernel"`
	Outcome record.Outcome `json:"outcome"`
	Why     string         `json:"why"`
	Record  string         `json:"record"`
	PTX     string         `json:"ptx"`
	Timed   string         `json:"timed"` // the record with its times, or ""
}

type shapeSummary struct {
	Device string  `json:"device"`
	Shape  string  `json:"shape"`
	Best   string  `json:"best"` // the fastest kernel that was not rejected
	P50    float64 `json:"p50"`
	TFLOPs float64 `json:"tflops"`
	Record string  `json:"record"`
}

func summariseReport(v *report.View, written []string) *reportSummary {
	out := &reportSummary{Kernels: []kernelSummary{}, Shapes: []shapeSummary{}, Check: v.Check, Written: append([]string{}, written...)}
	for _, k := range v.Kernels {
		s := kernelSummary{Kernel: k.Label, Outcome: k.Outcome(), Record: k.Now.Hash, PTX: k.Now.Kernel.SHA256}
		if j := k.Now.Verdict(); j != nil {
			s.Why = j.Why
		}
		if k.Timed != nil {
			s.Timed = k.Timed.Hash
		}
		out.Kernels = append(out.Kernels, s)
	}
	for _, sh := range v.Shapes {
		if best := sh.Best(); best != nil {
			m := best.Main()
			out.Shapes = append(out.Shapes, shapeSummary{sh.Device, sh.Shape, best.Label, m.Summary.P50, m.TFLOPs, best.Item.Hash})
		}
	}
	return out
}
