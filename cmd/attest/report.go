package main

import (
	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/archive"
	"github.com/GOATnote-Inc/attest/internal/cli"
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

--out writes one HTML page with charts, which needs no network. --markdown writes
COMPARE.md, HISTORY.md and one VALIDATION page per kernel into a folder. --readme puts the
table of the fastest kernels into a file, between the lines that mark its place. --svg
draws the times of the fastest kernels beside those of the rivals. Nothing is measured and
nothing is judged, and every number names its record.

A kernel is represented by its newest PTX. --evidence evidence reads the evidence that the
project publishes. Damaged files are listed on standard error and on the page, and make the
exit code 1; the rest is reported.

JSON: {"kernels": [{"kernel", "config", "outcome", "why", "record", "ptx", "timed"}], "shapes":
[{"device", "shape", "best", "p50", "tflops", "record"}], "check": as attest evidence
verify, "written": [paths]}.`,
		Example: "  attest report\n  attest report --out report.html && open report.html\n  attest report --evidence ~/h200 --markdown docs\n  attest report --evidence evidence --readme README.md\n  attest report --evidence evidence --svg docs/times.svg",
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return x.Report(pages) },
	}
	archiveFlag(c, x)
	f := c.Flags()
	f.StringVar(&pages.Out, "out", "", "write the HTML page to this file")
	f.StringVar(&pages.Markdown, "markdown", "", "write Markdown into this folder")
	f.StringVar(&pages.Readme, "readme", "", "put the results into this file")
	f.StringVar(&pages.SVG, "svg", "", "draw our times beside the rivals' into this file")
	return c
}
