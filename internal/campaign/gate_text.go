package campaign

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/errmap"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
)

// GateResult is the JSON of attest gate: the verdict on one kernel.
type GateResult struct {
	Kernel      record.Kernel   `json:"kernel"`
	Baseline    string          `json:"baseline"`
	Device      string          `json:"device"`
	Seed        uint64          `json:"seed"` // the seed of the inputs that no kernel can know
	Verdict     *record.Verdict `json:"verdict"`
	Record      string          `json:"record"` // hash, "" when it was not kept
	VerdictHash string          `json:"verdict_hash"`
	Evidence    string          `json:"evidence"`
	// Parity is the comparison of bits with the kernel that this one builds on, nil where
	// no record of that kernel has a case in common.
	Parity *report.Parity `json:"parity"`
	// OtherChips says on which chips the verdict may not hold, or "".
	OtherChips string `json:"other_chips"`

	record    *record.Record
	file, ptx string // the PTX of the kernel: the name of its file and its text
}

// newGateResult judges a record of a kernel. file is the PTX file of the kernel, "" for a
// kernel of attest.
func newGateResult(rec *record.Record, s *lab.Subject, file, dir string) *GateResult {
	r := &GateResult{Kernel: rec.Kernel, Device: rec.Build.Device.Name, Seed: rec.Seed, Evidence: dir, record: rec, file: file, ptx: s.PTX}
	if file == "" {
		r.file = s.Name + ".ptx"
	}
	if rec.Baseline != nil {
		r.Baseline = rec.Baseline.Name
	}
	v := gate.Judge(rec)
	v.Time = time.Now().UTC()
	r.Verdict = &v
	return r
}

// Show writes the result, after an empty line if it is not the first.
func (r *GateResult) Show(env *cli.Env, another bool) {
	if env.JSON {
		env.Encode(r)
		return
	}
	if another {
		fmt.Fprintln(env)
	}
	r.print(env)
}

func (r *GateResult) print(env *cli.Env) {
	s := env.OutStyle()
	k := &r.Kernel
	title := []string{k.Format}
	if d := k.Problem.HeadDim(); d.D > 0 {
		title = append(title, fmt.Sprintf("D %v", d))
	}
	if k.Problem.Causal {
		title = append(title, "causal")
	}
	title = append(title, k.Target)
	if r.Baseline != "" {
		title = append(title, "against "+r.Baseline)
	}
	fmt.Fprintf(env, "%s  %s\n", s.Bold(term.Clean(k.Name)), s.Dim(term.Clean(strings.Join(title, ", "))))
	if c := lab.Configuration(*k); c != "" {
		fmt.Fprintf(env, "  %s\n", s.Dim(term.Clean(c)))
	}
	for i := range r.Verdict.Gates {
		printGate(env, s, &r.Verdict.Gates[i])
	}
	if r.Parity != nil {
		line(env, "parity", len("parity"), r.Parity.String())
	}
	r.printFindings(env, s)
	r.printMap(env, s)
	why := r.Verdict.Why
	for _, g := range r.Verdict.Gates {
		why = strings.TrimSuffix(why, ": "+g.Summary) // the line of the gate shows it
	}
	line(env, outcome(s, r.Verdict.Outcome), len(r.Verdict.Outcome), why)
	if r.OtherChips != "" {
		line(env, "other chips", len("other chips"), r.OtherChips)
	}
	if p := report.Prediction(r.record); p != "" {
		line(env, "prediction", len("prediction"), p)
	}
	if r.Record != "" {
		line(env, s.Dim("evidence"), len("evidence"), "record "+r.Record[:12])
	}
}

// The text of a verdict has three columns: the name of a gate, its status, and its summary.
const (
	nameColumn   = 13
	statusColumn = 9
)

// line writes a name and a text that starts in the third column, wrapped to the terminal. width
// is the width of name without its colours.
func line(env *cli.Env, name string, width int, text string) {
	pad := max(nameColumn+statusColumn-width, 1)
	hang := strings.Repeat(" ", 2+nameColumn+statusColumn)
	fmt.Fprintf(env, "  %s%s%s\n", name, strings.Repeat(" ", pad), wrapped(env, text, hang))
}

// wrapped breaks text into lines that fit to the right of an indent.
func wrapped(env *cli.Env, text, hang string) string {
	text = term.Clean(text)
	columns := term.Width(env.Out)
	if columns == term.Unlimited {
		return text
	}
	return strings.Join(term.Wrap(text, columns-len(hang)), "\n"+hang)
}

func printGate(env *cli.Env, s term.Style, g *record.Gate) {
	name := fmt.Sprintf("%-*s%s", nameColumn, g.Name, status(s, g.Status))
	line(env, name, nameColumn+len(g.Status), g.Summary)
	if g.Status != record.Red && g.Status != record.Void || g.Name == record.DefectsGate {
		return // the findings are printed below the gates
	}
	const most = 4
	hang := strings.Repeat(" ", 2+nameColumn+statusColumn)
	for i, why := range g.Reasons {
		if i == 0 {
			continue // the summary is the first reason
		}
		if i == most {
			fmt.Fprintf(env, "%sand %d more\n", hang, len(g.Reasons)-most)
			break
		}
		fmt.Fprintf(env, "%s%s\n", hang, wrapped(env, why, hang))
	}
}

// mostFindings is the number of findings that are printed for a kernel.
const mostFindings = 2

// printFindings prints the defects of a rejected kernel, each with its excerpt, cause and
// fix, and the reasons of the defects gate that have no finding.
func (r *GateResult) printFindings(env *cli.Env, s term.Style) {
	d := r.record.Defects
	if d == nil || len(d.Found) == 0 || r.Verdict.OK() {
		return
	}
	errors := slices.DeleteFunc(d.Findings(), func(f finding.Finding) bool { return f.Severity != finding.Error })
	if len(errors) == 0 {
		return
	}
	fmt.Fprintln(env)
	shown := errors[:min(len(errors), mostFindings)]
	findingtext.NewPrinter(env, s, r.file, r.ptx).Print(shown)
	if more := len(errors) - len(shown); more > 0 {
		fmt.Fprintf(env, "and %s", english.Count(more, "more error"))
		if r.Record != "" {
			fmt.Fprintf(env, "; attest evidence show %s lists them all", r.Record[:12])
		}
		fmt.Fprintln(env)
	}
	if d.Depends && r.record.Kernel.Deterministic() {
		fmt.Fprintln(env, "the output depends on the order in which warps run, or on the SM, the clock or the number of the launch")
	}
	fmt.Fprintln(env)
}

// printMap prints the map of errors of the wrong case with the largest map.
func (r *GateResult) printMap(env *cli.Env, s term.Style) {
	c := r.record.Correctness
	if c == nil || r.Verdict.OK() {
		return
	}
	var most *record.Case
	for i := range c.Cases {
		if one := &c.Cases[i]; len(one.Map) > 0 && (most == nil || len(one.Map) > len(most.Map)) {
			most = one
		}
	}
	if most == nil {
		return
	}
	fmt.Fprintf(env, "\n  %s, %s, seed %d\n", most.Shape, most.Distribution, most.Seed)
	errmap.Write(env, s, most, gate.Tolerance.Max)
	fmt.Fprintln(env)
}

func status(s term.Style, st record.Status) string {
	switch st {
	case record.Green:
		return s.Green(string(st))
	case record.Skipped:
		return s.Yellow(string(st))
	}
	return s.Red(string(st))
}

func outcome(s term.Style, o record.Outcome) string {
	switch o {
	case record.Merge, record.Correct, record.NoChange:
		return s.Green(string(o))
	case record.Reject:
		return s.Red(string(o))
	}
	return s.Yellow(string(o))
}

// interrupted prints what an interrupted campaign has kept.
func (g *Gate) interrupted(env *cli.Env, judged, of int) {
	if g.store == nil {
		return
	}
	fmt.Fprintf(env.Err, "%d of %s judged; the results are kept in %s\n", judged, english.Count(of, "kernel"), g.Dir)
}

// finish writes the report beside the evidence and prints the outcomes of all kernels.
func (g *Gate) finish(ctx context.Context, env *cli.Env, results []*GateResult) error {
	page, err := g.writeReport(results)
	if err != nil {
		return err
	}
	tagged, err := g.setTag(ctx, results)
	if err != nil || env.JSON {
		return err
	}
	n := map[record.Outcome]int{}
	for _, r := range results {
		n[r.Verdict.Outcome]++
	}
	var parts []string
	for _, o := range record.Outcomes() {
		if n[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[o], outcome(env.OutStyle(), o)))
		}
	}
	fmt.Fprintf(env, "\n%s on %s: %s\n", english.Count(len(results), "kernel"), g.Where(), strings.Join(parts, ", "))
	if g.store != nil {
		fmt.Fprintf(env, "evidence  %s\nreport    %s\n", g.Dir, filepath.ToSlash(page))
	}
	if tagged != "" {
		fmt.Fprintln(env, tagged)
	}
	return nil
}

// writeReport writes the page of this run beside the evidence and returns its path.
func (g *Gate) writeReport(results []*GateResult) (string, error) {
	if g.store == nil {
		return "", nil
	}
	var run []string
	for _, r := range results {
		run = append(run, r.Record)
	}
	var page bytes.Buffer
	if err := report.New(g.store.Load()).WriteHTML(&page, run...); err != nil {
		return "", fmt.Errorf("the report: %w", err)
	}
	path := filepath.Join(g.Dir, "report.html")
	return path, atomicfile.Write(path, page.Bytes())
}
