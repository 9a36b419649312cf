package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/archive"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/targets"
)

func reportCommand(env *cli.Env) *cobra.Command {
	x := &archive.Archive{Env: env}
	var pages archive.Pages
	c := &cobra.Command{
		Use:   "report",
		Short: "Show the evidence as tables, Markdown or one HTML page",
		Long: `Show the evidence: the kernels with their verdicts, resources and errors, and the times of
each shape against baselines and rivals.

  attest report --out report.html

--out writes one HTML page with charts, which needs no network. --markdown writes COMPARE.md,
HISTORY.md, STATUS.md and one VALIDATION page per kernel into a folder. --readme puts the
table of the fastest kernels into a file, between the lines that mark its place. --svg
draws the times of the fastest kernels beside those of the rivals, and --sweep draws the
speedups of all shapes as a heat map. Nothing is measured and nothing is judged, and every
number names its record.

--status prints one page of Markdown instead of the tables: what is done, for each kernel and
chip, what did not work and why, and what is next by predicted gain. Predictions come from
attest gate --expect and from the ideas in the file of targets; kernels that were never
timed are listed too.

--targets reads a file of targets, milestones and ideas; without it, targets.json beside the
evidence is read if it exists. The report compares each target with the newest measurement on
its chip, never with a number of the emulator. A target is met, open (measured, not reached),
missed (the same after its date), not measured, or overdue (the same after its date).

  {"chip": "H200",
   "targets": [{"name": "mission", "metric": "time", "shape": "mission", "target": 3.0,
                "by": "2026-12-31"}],
   "milestones": [{"name": "release", "targets": ["mission"], "by": "2027-01-31"}],
   "ideas": [{"idea": "an earlier hand-over", "expect": "2%,3%,4%", "kernel": "hopper-pair"}]}

A target may also have "chip", "kernel", "format", "causal" and "rival". These are the metrics:

` + metricHelp() + `
A kernel is represented by its newest PTX. --evidence evidence reads the evidence that the
project publishes. Damaged files are listed on standard error and on the page, and make the
exit code 1; the rest is reported.

JSON: one object with these fields:

  "kernels"     a list of {"kernel", "config", "outcome", "why", "record", "ptx", "timed"}
  "shapes"      a list of {"device", "shape", "best", "p50", "tflops", "record"}
  "targets"     a list of {"name", "metric", "what", "chip", "unit", "target", "current",
                "value", "gap", "by", "status", "record"}
  "milestones"  a list of {"name", "met", "of", "by", "status", "left"}
  "ladder"      a list of {"device", "shape", "first", "steps"}
  "check"       what attest evidence verify found
  "written"     the paths of the pages

With --status: {"time", "head", "done", "failed", "next", "targets", "milestones", "ladder"}.`,
		Example: "  attest report\n  attest report --out report.html && open report.html\n  attest report --evidence ~/h200 --markdown docs\n  attest report --evidence evidence --readme README.md\n  attest report --evidence evidence --svg docs/times.svg\n  attest report --evidence evidence --status > STATUS.md\n  attest report --targets targets.json --json | jq '.targets[] | select(.status != \"met\")'",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return x.Report(pages) },
	}
	archiveFlag(c, x)
	f := c.Flags()
	f.StringVar(&pages.Out, "out", "", "write the HTML page to this file")
	f.StringVar(&pages.Markdown, "markdown", "", "write Markdown into this folder")
	f.StringVar(&pages.Readme, "readme", "", "put the results into this file")
	f.StringVar(&pages.Targets, "targets", "", "file of targets; targets.json beside the evidence when empty")
	f.BoolVar(&pages.Status, "status", false, "print one page: what is done, what did not work, what is next")
	f.StringVar(&pages.SVG, "svg", "", "draw our times beside the rivals' into this file")
	f.StringVar(&pages.Sweep, "sweep", "", "draw a heat map of the speedups of all shapes into this file")
	return c
}

// metricHelp lists the metrics of targets, one per line.
func metricHelp() string {
	var b strings.Builder
	for _, m := range targets.Metrics() {
		unit := m.Unit
		if unit == "" {
			unit = "-"
		}
		fmt.Fprintf(&b, "  %-14s  %-7s  %s\n", m.Name, unit, m.What)
	}
	return b.String()
}
