package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

func compareCommand(env *cli.Env) *cobra.Command {
	x := &comparer{env: env}
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "What one kernel has over another: resources, errors, times",
		Long: `Compare two kernels: what they take, how far they are from float64, what they do and
how long they take. On a GPU they are timed in turns, in one run; without one the
times are PREDICTED. With --ptx and --abi one KERNEL is enough: it is A, the file is B.

Two hashes compare two records of the evidence instead, as attest evidence diff does:
nothing is measured then.

Exit code 0 when both were measured, whatever came out; 1 when one of them is wrong.

JSON: {"a", "b": the records, "difference": {"kernel", "build", "resources", "errors",
"times", …}, "predicted": {"a", "b"} or null}.`,
		Example: `  attest compare stage2 stage3b
  attest compare stage3b stage5 --shape long --format e4m3
  attest compare stage3b --ptx mine.ptx --abi mine.json
  attest compare 3f9a2c 81c0de --evidence evidence`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c, args) },
	}
	x.kernelFlags.register(c, false)
	x.campaign.register(c, true)
	shapeFlag(c, &x.shape, "mission", "what is timed")
	c.Flags().StringVar(&x.evidence, "evidence", evidence.Dir, "the folder that hashes are looked up in")
	return c
}

// comparer is the compare command.
type comparer struct {
	env *cli.Env
	kernelFlags
	campaign
	shape    string
	evidence string
}

// compareReport is the JSON of compare.
type compareReport struct {
	A          *record.Record     `json:"a"`
	B          *record.Record     `json:"b"`
	Difference *report.Difference `json:"difference"`
	Predicted  *predictedPair     `json:"predicted"`
}

type predictedPair struct {
	A *predict.Profile `json:"a"`
	B *predict.Profile `json:"b"`
}

var hashLike = regexp.MustCompile(`^[0-9a-f]{4,64}$`)

func (x *comparer) run(c *cobra.Command, args []string) error {
	isHash := func(a string) bool { return hashLike.MatchString(a) && !slices.Contains(presetNames(), a) }
	if len(args) == 2 && isHash(args[0]) && isHash(args[1]) {
		return x.kept(c, args)
	}
	shape, err := parseShape(x.shape)
	if err != nil {
		return fmt.Errorf("--shape: %w", err)
	}
	if err := errors.Join(x.kernelFlags.misuse(), x.campaign.misuse()); err != nil {
		return err
	}
	x.dim, x.want = shape.Shape.D, shape.Shape
	subjects, err := x.subjects(args)
	if err != nil {
		return err
	}
	if len(subjects) != 2 {
		return fmt.Errorf("%s given, want two, or two hashes of the evidence; see %s --help", term.Count(len(subjects), "KERNEL"), c.CommandPath())
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.close()
	if _, err := x.fitting(subjects, false); err != nil {
		return err
	}
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	r, err := x.measure(c.Context(), subjects[0], subjects[1], shape, startSteps(progress, 2))
	if err != nil {
		return err
	}
	progress.Print(func() { x.show(r) })
	for _, rec := range []*record.Record{r.A, r.B} {
		if v := gate.Judge(rec); !v.OK() {
			return cli.Exit(cli.Red)
		}
	}
	return nil
}

// kept compares two records of the evidence.
func (x *comparer) kept(c *cobra.Command, hashes []string) error {
	kept := &evidenceStore{env: x.env, dir: x.evidence, flags: c.Flags()}
	var items [2]*evidence.Item
	for i, prefix := range hashes {
		store, entry, err := kept.find(prefix)
		if err != nil {
			return err
		}
		if items[i], err = kept.item(store, entry); err != nil {
			return err
		}
	}
	x.show(&compareReport{A: items[0].Record, B: items[1].Record, Difference: report.Diff(items[0], items[1])})
	return nil
}

// measure measures A alone and B against A.
func (x *comparer) measure(ctx context.Context, a, b *lab.Subject, shape problem.Named, progress *steps) (*compareReport, error) {
	r := &compareReport{}
	p := planOf("smoke")
	p.Device, p.Sensor, p.KeepGoing = x.dev, x.sensor, true
	p.Defects, p.References, p.Counters = lab.Defects{}, &lab.References{}, shape.Shape
	var err error
	if r.A, err = lab.Measure(ctx, a, p, progress.of(a.Name)); err != nil {
		return nil, err
	}
	progress.next()
	p.Baseline = a
	if x.gpu() {
		p.Times = x.times(lab.Times{Shapes: []problem.Named{shape}, Methods: methods([]timing.Mode{timing.Graph, timing.Event}, []timing.Cache{timing.Warm, timing.Cold})}, b, a)
	}
	if r.B, err = lab.Measure(ctx, b, p, progress.of(b.Name)); err != nil {
		return nil, err
	}
	progress.next()
	r.Difference = report.Diff(&evidence.Item{Hash: a.Name, Record: r.A}, &evidence.Item{Hash: b.Name, Record: r.B})
	if x.gpu() {
		return r, nil
	}
	r.Predicted = &predictedPair{}
	for _, one := range []struct {
		s  *lab.Subject
		to **predict.Profile
	}{{a, &r.Predicted.A}, {b, &r.Predicted.B}} {
		progress.Say("%s, %v: counting", one.s.Name, shape.Shape)
		counted, err := profileOf(ctx, one.s, shape, predict.For(one.s.Target, nil))
		if err != nil {
			return nil, err
		}
		*one.to = counted.Predicted
	}
	return r, nil
}

func (x *comparer) show(r *compareReport) {
	if x.env.JSON {
		x.env.Encode(r)
		return
	}
	s := x.env.OutStyle()
	r.Difference.WriteText(x.env, s)
	if r.B.Performance != nil && len(r.B.Performance.Shapes) > 0 && r.B.Baseline != nil && r.B.Baseline.SHA256 == r.A.Kernel.SHA256 {
		fmt.Fprintf(x.env, "\n%s in turns with %s\n", s.Bold(term.Clean(r.B.Kernel.Name)), term.Clean(r.A.Kernel.Name))
		printTimes(x.env, r.B.Performance)
	}
	x.printCounters(r.B.Counters)
	x.printPredicted(r)
}

// printCounters is what the two do, where it differs.
func (x *comparer) printCounters(c *record.Counters) {
	if c == nil || len(c.Baseline) == 0 {
		return
	}
	t := term.Table{Right: "lrrr", Style: x.env.OutStyle()}
	t.Head("counters on "+c.Shape, "A", "B", "B / A")
	n := 0
	for _, name := range sortedKeys(c.Kernel, c.Baseline) {
		a, b := c.Baseline[name], c.Kernel[name]
		if a == b {
			continue
		}
		over := ""
		if a > 0 {
			over = fmt.Sprintf("%.2f", b/a)
		}
		n++
		t.Row(name, fmt.Sprintf("%.6g", a), fmt.Sprintf("%.6g", b), over)
	}
	if n > 0 {
		fmt.Fprintln(x.env)
		t.WriteTo(x.env)
	}
}

func sortedKeys(maps ...map[string]float64) (names []string) {
	for _, m := range maps {
		for name := range m {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (x *comparer) printPredicted(r *compareReport) {
	if r.Predicted == nil {
		return
	}
	a, b := r.Predicted.A, r.Predicted.B
	t := term.Table{Right: "lrrr", Style: x.env.OutStyle()}
	t.Head("PREDICTED µs on "+a.Chip, "A", "B", "B / A")
	row := func(name string, a, b float64) {
		over := ""
		if a > 0 {
			over = fmt.Sprintf("%.2f", b/a)
		}
		t.Row(name, micros(a), micros(b), over)
	}
	for u := range a.Units {
		row(a.Units[u].Unit.String(), a.Units[u].Micros, b.Units[u].Micros)
	}
	row("the busiest unit alone", a.Low, b.Low)
	row("phase by phase", a.High, b.High)
	fmt.Fprintln(x.env)
	t.WriteTo(x.env)
}
