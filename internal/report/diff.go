package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// Difference is the difference of two records.
type Difference struct {
	A string `json:"a"` // hashes
	B string `json:"b"`
	// Same reports whether both have the same PTX, and SameKernel whether they run the same
	// instructions in the same way.
	Same       bool     `json:"same_ptx"`
	SameKernel bool     `json:"same_kernel"`
	Parity     Parity   `json:"parity"` // the parity of B with A
	Kernel     []Change `json:"kernel"` // name, formats, config
	Build      []Change `json:"build"`  // device, driver, tools, sources
	Outcome    []Change `json:"outcome"`
	Resources  []Number `json:"resources"`
	Errors     []Number `json:"errors"` // the largest and the mean error of each case
	Times      []Number `json:"times"`  // the median of each shape and method, in microseconds
}

// Change is a text that differs.
type Change struct {
	What string `json:"what"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Number is a number of both records; nil where a record has none.
type Number struct {
	What string     `json:"what"`
	A    *ref.Float `json:"a"`
	B    *ref.Float `json:"b"`
	// Ratio is B / A, or nil. Below 1, B is smaller.
	Ratio *ref.Float `json:"ratio"`

	unit unit
}

// Diff compares two records.
func Diff(a, b *evidence.Item) *Difference {
	d := &Difference{A: a.Hash, B: b.Hash, Same: a.Kernel.SHA256 == b.Kernel.SHA256, SameKernel: a.Kernel.Same(&b.Kernel), Parity: ParityOf(a.Record, b.Record)}
	d.Kernel = texts(kernelTexts(&a.Kernel), kernelTexts(&b.Kernel))
	d.Build = texts(buildTexts(a.Record), buildTexts(b.Record))
	d.Outcome = texts(outcomeTexts(a), outcomeTexts(b))
	d.Resources = numbers(resourceNumbers(a.Resources), resourceNumbers(b.Resources))
	d.Errors = numbers(errorNumbers(a.Correctness), errorNumbers(b.Correctness))
	d.Times = numbers(timeNumbers(a.Performance), timeNumbers(b.Performance))
	return d
}

type named[T any] struct {
	name  string
	value T
	unit  unit // the unit of a number
}

// unit says how a number is written.
type unit int

const (
	plainNumber unit = iota
	bytesUnit        // 43 KiB
	shareUnit        // 25.0 %
)

func kernelTexts(k *record.Kernel) []named[string] {
	all := labelled([][2]string{{"name", k.Name}, {"entry", k.Entry}, {"target", k.Target}, {"format", k.Format}, {"output", k.Output}, {"PTX", short(k.SHA256)}})
	for _, name := range sorted.Keys(k.Config) {
		label := "config " + name
		if name == "config" { // the whole configuration in one text
			label = "configuration"
		}
		all = append(all, named[string]{name: label, value: k.Config[name]})
	}
	return all
}

// labelled returns texts with their names.
func labelled(texts [][2]string) (all []named[string]) {
	for _, t := range texts {
		all = append(all, named[string]{name: t[0], value: t[1]})
	}
	return all
}

func buildTexts(r *record.Record) []named[string] {
	b := &r.Build
	baseline := ""
	if r.Baseline != nil {
		baseline = r.Baseline.Name + " " + short(r.Baseline.SHA256)
	}
	return labelled([][2]string{
		{"date", day(b.Time)}, {"device", b.Device.Name}, {"host", b.Host}, {"driver", b.Driver}, {"ptxas", b.Ptxas}, {"attest", b.Attest},
		{"sources", b.Git.Commit + map[bool]string{true: " + changes"}[b.Git.Dirty]}, {"Go", b.Go}, {"system", b.OS}, {"baseline", baseline},
	})
}

func outcomeTexts(i *evidence.Item) []named[string] {
	j := i.Verdict()
	if j == nil {
		return nil
	}
	return labelled([][2]string{{"outcome", string(j.Outcome)}, {"why", j.Why}})
}

func resourceNumbers(r *record.Resources) (all []named[float64]) {
	if r == nil {
		return nil
	}
	say := func(name string, f resources.Figure, in unit) {
		if !f.Known() {
			return
		}
		all = append(all, named[float64]{name, float64(f.Value), in})
	}
	for i := range r.Usage {
		u := &r.Usage[i]
		registers := "registers, " + u.Target
		if u.Registers.Source == resources.Estimate { // an estimate is not compared with a figure of ptxas
			registers += " (estimate)"
		}
		say(registers, u.Registers, plainNumber)
		say("spill stores, "+u.Target, u.SpillStores, bytesUnit)
		say("spill loads, "+u.Target, u.SpillLoads, bytesUnit)
		say("stack, "+u.Target, u.Stack, bytesUnit)
		say("static shared, "+u.Target, u.Shared, bytesUnit)
	}
	all = append(all, named[float64]{"dynamic shared", float64(r.Dynamic), bytesUnit})
	if r.Occupancy != nil {
		all = append(all, named[float64]{"occupancy", r.Occupancy.Fraction, shareUnit})
	}
	return all
}

func errorNumbers(c *record.Correctness) (all []named[float64]) {
	if c == nil {
		return nil
	}
	for i := range c.Cases {
		x := &c.Cases[i]
		if x.Errors == nil {
			continue
		}
		name := fmt.Sprintf("%s %s seed %d", x.Shape, x.Distribution, x.Seed)
		all = append(all, named[float64]{name: name + ", max", value: x.Errors.Max}, named[float64]{name: name + ", mean", value: x.Errors.Mean})
	}
	return all
}

func timeNumbers(p *record.Performance) (all []named[float64]) {
	if p == nil {
		return nil
	}
	for i := range p.Shapes {
		t := &p.Shapes[i]
		if len(t.Summaries) > 0 {
			all = append(all, named[float64]{name: t.Shape.String() + " " + how(t.Method), value: t.Summaries[0].P50})
		}
	}
	return all
}

// pair is a name with the value of each side, or nil.
type pair[T any] struct {
	name string
	a, b *T
	unit unit
}

// pairs joins the values with the same name, in the order of a and then of b.
func pairs[T any](a, b []named[T]) (all []pair[T]) {
	at := map[string]int{}
	place := func(n *named[T]) *pair[T] {
		if _, ok := at[n.name]; !ok {
			at[n.name] = len(all)
			all = append(all, pair[T]{name: n.name, unit: n.unit})
		}
		return &all[at[n.name]]
	}
	for i := range a {
		place(&a[i]).a = &a[i].value
	}
	for i := range b {
		place(&b[i]).b = &b[i].value
	}
	return all
}

func texts(a, b []named[string]) []Change {
	out := []Change{}
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for _, p := range pairs(a, b) {
		if value(p.a) != value(p.b) {
			out = append(out, Change{p.name, value(p.a), value(p.b)})
		}
	}
	return out
}

func numbers(a, b []named[float64]) []Number {
	out := []Number{}
	for _, p := range pairs(a, b) {
		n := Number{What: p.name, A: (*ref.Float)(p.a), B: (*ref.Float)(p.b), unit: p.unit}
		if p.a != nil && p.b != nil && *p.a != 0 {
			ratio := ref.Float(*p.b / *p.a)
			n.Ratio = &ratio
		}
		out = append(out, n)
	}
	return out
}

// WriteText writes the difference for a terminal.
func (d *Difference) WriteText(w io.Writer, style term.Style) {
	same := "different PTX"
	switch {
	case d.Same:
		same = "the same PTX"
	case d.SameKernel:
		same = "the same kernel in different PTX: comments or source lines differ"
	}
	fmt.Fprintf(w, "A %s\nB %s\n%s\n", short(d.A), short(d.B), same)
	if d.Parity.Of > 0 {
		fmt.Fprintf(w, "B has the %s\n", d.Parity)
	}
	for _, s := range []struct {
		title   string
		changes []Change
	}{{"Kernel", d.Kernel}, {"Build", d.Build}, {"Outcome", d.Outcome}} {
		if len(s.changes) == 0 {
			continue
		}
		t := &Table{Head: []string{"", "A", "B"}}
		for _, c := range s.changes {
			t.Rows = append(t.Rows, []Cell{text(c.What), text(orNone(c.A)), text(orNone(c.B))})
		}
		fmt.Fprintf(w, "\n%s\n", style.Bold(s.title))
		t.WriteText(w, "  ", style)
	}
	for _, s := range []struct {
		title   string
		numbers []Number
	}{{"Resources", d.Resources}, {"Errors", d.Errors}, {"Times, medians in µs", d.Times}} {
		if len(s.numbers) == 0 {
			continue
		}
		t := &Table{Head: []string{"", "A", "B", "B / A"}, Right: "lrrr"}
		for _, n := range s.numbers {
			t.Rows = append(t.Rows, []Cell{text(n.What), text(n.unit.text(n.A)), text(n.unit.text(n.B)), text(ratioText(n.Ratio))})
		}
		fmt.Fprintf(w, "\n%s\n", style.Bold(s.title))
		t.WriteText(w, "  ", style)
	}
	if len(d.Times) > 0 {
		fmt.Fprintf(w, "\n%s\n", style.Dim("these times are from two runs; attest compare times both kernels in one run"))
	}
}

// ratioText returns a ratio with three significant digits.
func ratioText(x *ref.Float) string {
	if x == nil {
		return none
	}
	return figures(float64(*x))
}

func (u unit) text(x *ref.Float) string {
	switch {
	case x == nil:
		return none
	case u == bytesUnit:
		return kib(int(*x))
	case u == shareUnit:
		return percent(float64(*x))
	case *x == ref.Float(int64(*x)):
		return strconv.FormatInt(int64(*x), 10)
	}
	return figures(float64(*x))
}
