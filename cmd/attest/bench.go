package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

func benchCommand(env *cli.Env) *cobra.Command {
	x := &bencher{env: env}
	c := &cobra.Command{
		Use:   "bench KERNEL… [--against torch,fa3,triton,jax]",
		Short: "Time kernels against each other and against libraries, on a GPU",
		Long: `Time kernels on this machine's GPU. The first is the baseline of the others; each of
them takes turns with it and with the libraries of --against in one process, in random
order, and --processes repeats that in others. A kernel that is not right is not timed,
and outputs of timed launches are checked.

A figure is the time of one launch: "graph" is many launches in a graph, replayed,
divided by their number; "event" is one launch between two events. "warm" uses the same
buffers again, "cold" others. Ratios are of medians, below 1 the kernel is faster, with
a 95 % interval. TFLOP/s count 4·B·H·Sq·Skv·D, half for causal.

A kernel is written for one head dimension, and hopper for a shape: --shapes that need
other texts are timed one group after the other, each with all the kernels. One that
cannot be had for a shape is left out there, and so is one whose text is the baseline's.

Without a GPU there is nothing to time: the command says so and exits with 0. Exit
code 1: a kernel is wrong. --evidence keeps records of what was measured, but no
verdicts: attest gate judges.

JSON, one object a kernel and group of shapes: {"kernel", "baseline", "shapes", "skipped",
"wrong", "performance": every sample and the ceilings of the card, "record": its hash}.`,
		Example: `  attest bench stage3b
  attest bench stage2 stage3b stage5 --shapes mission,long
  attest bench stage3b --against torch,triton --processes 5 --format e4m3
  attest bench hopper --against torch,fa3,triton,jax --shapes mission,long,big64,big128 --json
  attest bench hopper --causal --shapes big64,huge128
  attest bench hopper hopper-pair hopper-latency --shapes 1,8,777,64 --evidence evidence
  attest bench stage3b --modes graph --caches warm,cold --json | jq '.performance.shapes[].summaries[0].p50'`,
		RunE: func(c *cobra.Command, args []string) error { return x.run(c, args) },
	}
	x.kernelFlags.register(c, true)
	x.campaign.register(c, true)
	x.evidenceFlag(c, "", "records are")
	shapesFlag(c, &x.shapes, "what is timed; mission when empty")
	f := c.Flags()
	f.StringSliceVar(&x.modes, "modes", []string{"graph", "event"}, "how a launch is timed: graph, event")
	f.StringSliceVar(&x.caches, "caches", []string{"warm", "cold"}, "what is in the L2 cache: warm, cold")
	f.IntVar(&x.samples, "samples", 500, "how many samples each gets at most")
	f.DurationVar(&x.time, "time", 20*time.Second, "how long each shape and method is measured at most")
	f.Uint64Var(&x.seed, "seed", 0, "the seed of the order")
	complete(c, "modes", "graph", "event")
	complete(c, "caches", "warm", "cold")
	return c
}

// bencher is the bench command.
type bencher struct {
	env *cli.Env
	kernelFlags
	campaign
	keeper
	shapes        shapeList
	modes, caches []string
	samples       int
	time          time.Duration
	seed          uint64

	methods    []timing.Method
	references lab.References
	built      record.Build
}

// benchResult is the JSON of bench: one kernel, timed.
type benchResult struct {
	Kernel      record.Kernel       `json:"kernel"`
	Baseline    string              `json:"baseline"`
	Shapes      []string            `json:"shapes"`
	Skipped     string              `json:"skipped"` // why nothing was timed, or ""
	Wrong       []string            `json:"wrong"`   // with the kernel, which was not timed then
	Performance *record.Performance `json:"performance"`
	Record      string              `json:"record"` // hash, "" when it was not kept
}

func (x *bencher) run(c *cobra.Command, names []string) error {
	batches, err := x.prepare(c, names)
	if err != nil {
		return err
	}
	if err := x.open(); err != nil {
		return err
	}
	defer x.close()
	for _, b := range batches {
		if _, err := x.fitting(b.subjects, false); err != nil {
			return err
		}
	}
	if err := x.openStore(); err != nil {
		return err
	}
	x.built = x.build(c.Context())
	progress := term.StartProgress(x.env.Err)
	defer progress.Stop()
	total := 0
	for _, b := range batches {
		total += max(len(b.subjects)-1, 1)
	}
	steps := startSteps(progress, total)
	code, shown := cli.OK, 0
	show := func(r *benchResult) {
		progress.Print(func() { r.show(x.env, shown > 0) })
		shown++
	}
	for _, b := range batches {
		for i, s := range b.subjects {
			var baseline *lab.Subject
			if len(b.subjects) > 1 {
				if i == 0 {
					continue // it is timed with each of the others
				}
				baseline = b.subjects[0]
			}
			r, err := x.measure(c.Context(), s, baseline, b.shapes, steps)
			if r != nil {
				show(r) // a full disk must not cost what was found
			}
			if err != nil {
				return err
			}
			if len(r.Wrong) > 0 {
				code = cli.Red
			}
			steps.next()
			if r.Skipped != "" {
				return cli.Exit(code) // the others would be too
			}
		}
		for _, l := range b.left {
			show(&benchResult{Kernel: record.Kernel{Name: l.name}, Baseline: b.subjects[0].Name, Shapes: b.shapes.titles(), Skipped: l.why, Wrong: []string{}})
		}
	}
	return cli.Exit(code)
}

// batch is shapes that the same texts are timed on.
type batch struct {
	subjects []*lab.Subject
	left     []leftOut
	shapes   shapeList
}

// leftOut is a kernel that is not timed on some shapes, and why.
type leftOut struct {
	name, why string
	refused   error // where it cannot be had at all
}

func (x *bencher) prepare(c *cobra.Command, names []string) ([]batch, error) {
	if err := errors.Join(x.kernelFlags.misuse(), x.campaign.misuse(), x.misuse()); err != nil {
		return nil, err
	}
	if len(x.shapes) == 0 {
		x.shapes = shapeList{defaultShape(x.dim)}
	}
	if len(names) == 0 && x.ptx == "" {
		return nil, fmt.Errorf("no KERNEL is given; see %s --help", c.CommandPath())
	}
	dim := x.dim
	var list []batch
	for _, n := range x.shapes {
		if dim != 0 && dim != n.Shape.D {
			return nil, fmt.Errorf("--head-dim is %d, and --shapes have %d", dim, n.Shape.D)
		}
		b, err := x.batch(names, n)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(o batch) bool { return slices.EqualFunc(o.subjects, b.subjects, sameText) })
		if i < 0 {
			list = append(list, b)
			continue
		}
		list[i].shapes = append(list[i].shapes, n)
	}
	return list, neverHad(names, list)
}

// batch is the kernels for a shape. The first must be had: the others are compared with it.
func (x *bencher) batch(names []string, n problem.Named) (batch, error) {
	x.dim, x.want = n.Shape.D, n.Shape
	b := batch{shapes: shapeList{n}}
	for i, name := range names {
		s, err := x.preset(name)
		switch {
		case err != nil && i == 0:
			return b, err
		case err != nil:
			b.left = append(b.left, leftOut{name, err.Error(), err})
		case i > 0 && name != names[0] && sameText(s, b.subjects[0]):
			b.left = append(b.left, leftOut{name, "here it is " + names[0] + ": the PTX is the same", nil})
		default:
			b.subjects = append(b.subjects, s)
		}
	}
	if x.ptx != "" {
		s, err := x.external()
		if err != nil {
			return b, err
		}
		b.subjects = append(b.subjects, s)
	}
	return b, nil
}

// neverHad is why a kernel cannot be had for any of the shapes, nil where all can be.
func neverHad(names []string, list []batch) error {
	for _, name := range names {
		var why error
		for _, b := range list {
			i := slices.IndexFunc(b.left, func(l leftOut) bool { return l.name == name && l.refused != nil })
			if i < 0 {
				why = nil
				break
			}
			why = b.left[i].refused
		}
		if why != nil {
			return why
		}
	}
	return nil
}

// sameText reports whether two kernels are one.
func sameText(a, b *lab.Subject) bool { return a.Kernel().SHA256 == b.Kernel().SHA256 }

func (x *bencher) misuse() error {
	x.methods = nil
	for _, m := range x.modes {
		if m != string(timing.Graph) && m != string(timing.Event) {
			return fmt.Errorf("--modes %s: use graph or event", m)
		}
		for _, c := range x.caches {
			if c != string(timing.Warm) && c != string(timing.Cold) {
				return fmt.Errorf("--caches %s: use warm or cold", c)
			}
			x.methods = append(x.methods, timing.Method{Mode: timing.Mode(m), Cache: timing.Cache(c)})
		}
	}
	if x.samples < 1 || x.time <= 0 {
		return errors.New("--samples and --time must be above 0")
	}
	return nil
}

// measure checks a kernel and times it.
func (x *bencher) measure(ctx context.Context, s, baseline *lab.Subject, shapes shapeList, progress *steps) (*benchResult, error) {
	r := &benchResult{Kernel: s.Kernel(), Shapes: shapes.titles(), Wrong: []string{}}
	if baseline != nil {
		r.Baseline = baseline.Name
	}
	if !x.gpu() {
		r.Skipped = "no GPU here: times of an emulator say nothing; attest profile predicts some"
		return r, nil
	}
	quick := lab.Quick()
	p := lab.Plan{
		Device: x.dev, Sensor: x.sensor, Baseline: baseline, Cases: quick.Cases, Rows: quick.Rows, Counters: quick.Counters,
		References: &x.references, Build: x.built,
	}
	p.Times = x.times(lab.Times{Shapes: shapes, Methods: x.methods, Seed: x.seed, Stop: timing.Stop{Least: min(30, x.samples), Most: x.samples, Time: x.time}}, s, baseline)
	rec, err := lab.Measure(ctx, s, p, progress.of(s.Name))
	if err != nil {
		return nil, err
	}
	r.Performance = rec.Performance
	for _, g := range gate.Judge(rec).Gates {
		if g.Status == record.Red || g.Status == record.Void {
			r.Wrong = append(r.Wrong, g.Reasons...)
		}
	}
	r.Record, _, err = x.keep(rec, nil)
	return r, err
}

func (r *benchResult) show(env *cli.Env, another bool) {
	if env.JSON {
		env.Encode(r)
		return
	}
	if another {
		fmt.Fprintln(env)
	}
	s := env.OutStyle()
	if r.Skipped != "" && r.Kernel.SHA256 != "" {
		fmt.Fprintf(env, "skipped: %s\n", r.Skipped)
		return
	}
	if r.Skipped != "" {
		fmt.Fprintf(env, "%s  %s\n  left out: %s\n", s.Bold(term.Clean(r.Kernel.Name)), s.Dim(strings.Join(r.Shapes, ", ")), term.Clean(r.Skipped))
		return
	}
	fmt.Fprintf(env, "%s  %s\n", s.Bold(term.Clean(r.Kernel.Name)), s.Dim(fmt.Sprintf("%s, %s%s; µs of one launch", r.Kernel.Format, r.Kernel.Target, configured(r.Kernel))))
	if p := r.Performance; p != nil {
		printTimes(env, p)
	}
	for _, why := range r.Wrong {
		fmt.Fprintf(env, "  %s: %s\n", s.Red("wrong"), term.Clean(why))
	}
	if r.Record != "" {
		fmt.Fprintf(env, "  record %s\n", r.Record[:12])
	}
}

// printTimes is a table of all candidates, shape by shape and method by method.
func printTimes(env *cli.Env, p *record.Performance) {
	s := env.OutStyle()
	if p.Skipped != "" {
		fmt.Fprintf(env, "  not timed: %s\n", term.Clean(p.Skipped))
		return
	}
	t := term.Table{Indent: "  ", Right: "lllrrrrrl", Style: s}
	t.Head("shape", "mode, cache", "candidate", "p50", "95 % interval", "p90", "CV %", "TFLOP/s", "kernel over it")
	for i := range p.Shapes {
		one := &p.Shapes[i]
		for j, sum := range one.Summaries {
			shape, method := "", ""
			if j == 0 {
				shape, method = one.Shape, fmt.Sprintf("%s, %s", one.Method.Mode, one.Method.Cache)
			}
			t.Row(shape, method, term.Clean(one.Names[j]), micros(sum.P50), micros(sum.Median.Low)+" – "+micros(sum.Median.High),
				micros(sum.P90), fmt.Sprintf("%.1f", 100*sum.CV), fmt.Sprintf("%.3g", one.TFLOPs[j]), ratio(comparison(one, j)))
		}
	}
	t.WriteTo(env)
	fmt.Fprintf(env, "  this card: %.4g GB/s, %.4g TFLOP/s, %s µs for an empty launch, probed in the same run\n", p.Ceiling.Bandwidth, p.Ceiling.FLOPs, micros(p.Ceiling.Launch))
	for _, n := range p.Notes {
		fmt.Fprintf(env, "  %s\n", term.Clean(n))
	}
}

// comparison is the kernel against a candidate, nil for itself.
func comparison(t *record.Times, candidate int) *stats.Comparison {
	own := len(t.Names) - len(t.Rivals)
	switch {
	case candidate == 0:
		return nil
	case candidate < own:
		return t.Baseline
	}
	return &t.Rivals[candidate-own].Comparison
}

func ratio(c *stats.Comparison) string {
	if c == nil || c.Ratio == 0 {
		return ""
	}
	text := fmt.Sprintf("%.3f [%.3f, %.3f]", c.Ratio, c.Interval.Low, c.Interval.High)
	if c.Replicates < 2 {
		text += ", 1 process"
	}
	return text
}
