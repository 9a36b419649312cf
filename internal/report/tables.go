package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/record"
)

// Table returns the times of the shape by the primary method.
func (s *Shape) Table() *Table {
	t := &Table{
		Head:  []string{"", "p50 µs", "p90 µs", "CV", "TFLOP/s", "of floor", "against first", "against baseline", "against the fastest rival", "record"},
		Right: "lrrrrrrlll",
	}
	first := s.Rows[0].Main().Summary.P50
	for _, r := range s.Rows {
		m := r.Main()
		sum := m.Summary
		row := []Cell{r.name(), text(figures(sum.P50)), text(figures(sum.P90)), text(percent(sum.CV)), text(figures(m.TFLOPs)), text(m.ofFloor())}
		if r.Kernel == nil {
			row = append(row, mute(none), mute(none), mute(none))
		} else {
			row = append(row, text(times(first/sum.P50)), text(m.againstBaseline(r.Item)), text(m.AgainstRival()))
		}
		t.Rows = append(t.Rows, append(row, source(r.Item)))
	}
	return t
}

func (r *Row) name() Cell {
	c := Cell{Text: r.Label, Class: "name"}
	var odd []string
	if r.Kernel == nil {
		c.Class = "rival"
	} else {
		if r.Main().Times.Predicted {
			odd = append(odd, "predicted")
		}
		if r.Older() {
			odd = append(odd, "older PTX")
		}
	}
	if m := r.Main().Method; !primary(m) || m.ByHost() {
		odd = append(odd, how(m))
	}
	if len(odd) > 0 {
		c.Text += " (" + strings.Join(odd, "; ") + ")"
	}
	return c
}

// ofFloor returns the time as a multiple of the least possible time.
func (m *Mark) ofFloor() string {
	if m.Times.Floor <= 0 {
		return none
	}
	return times(m.Summary.P50 / m.Times.Floor)
}

func (m *Mark) againstBaseline(item *evidence.Item) string {
	if m.Times.Baseline == nil || item.Baseline == nil {
		return none
	}
	return speedup(m.Times.Baseline) + " " + item.Baseline.Name
}

// AgainstRival returns the speedup over the fastest rival of the same run.
func (m *Mark) AgainstRival() string {
	r := m.FastestRival()
	if r == nil {
		return none
	}
	text := speedup(&r.Comparison) + " " + r.Name
	if m.Times.ByHost(r.Name) {
		text += " (host clock)"
	}
	return text
}

// Methods returns the times of the shape by all methods.
func (s *Shape) Methods() *Table {
	t := &Table{Head: []string{"", "timed", "launches", "sets", "samples", "p50 µs", "p90 µs", "mean", "std", "min", "max", "CV", "record"}, Right: "llrrrrrrrrrrl"}
	for _, r := range s.Rows {
		for i := range r.Marks {
			m := &r.Marks[i]
			x := m.Summary
			t.Rows = append(t.Rows, []Cell{
				r.name(), text(how(m.Method)), text(strconv.Itoa(m.Method.Launches)), text(strconv.Itoa(m.Method.Sets)), text(strconv.Itoa(x.N)),
				text(figures(x.P50)), text(figures(x.P90)), text(figures(x.Mean)), text(figures(x.Std)), text(figures(x.Min)), text(figures(x.Max)),
				text(percent(x.CV)), source(r.Item),
			})
		}
	}
	return t
}

// Rivals returns the rivals of the shape: version, how they compute, and their errors beside
// those of the kernel on the same inputs.
func (s *Shape) Rivals() *Table {
	t := &Table{Head: []string{"rival", "version", "how", "rms error", "rms error of the kernel", "record"}, Right: "lllrrl"}
	seen := map[string]bool{}
	for _, r := range s.Rows {
		for i := range r.Marks {
			own := none
			if x := r.Marks[i].Times.RMSE; x > 0 {
				own = figures(x)
			}
			for _, x := range r.Marks[i].Times.Rivals {
				if seen[x.Name] {
					continue
				}
				seen[x.Name] = true
				t.Rows = append(t.Rows, []Cell{{Text: x.Name, Class: "rival"}, text(orElse(x.Version, none)), text(orElse(x.Note, none)), text(figures(x.RMSE)), text(own), source(r.Item)})
			}
		}
	}
	return t
}

// HistoryTable returns every time by the primary method, the oldest first.
func (v *View) HistoryTable() *Table {
	t := &Table{Head: []string{"date", "kernel", "device", "shape", "timed", "p50 µs", "TFLOP/s", "against baseline", "verdict", "PTX", "record"}, Right: "lllllrrrlll"}
	for _, item := range v.Items {
		if !timed(item) {
			continue
		}
		var o record.Outcome
		if j := item.Verdict(); j != nil {
			o = j.Outcome
		}
		for i := range item.Performance.Shapes {
			times := &item.Performance.Shapes[i]
			if len(times.Summaries) == 0 || len(times.TFLOPs) == 0 {
				continue
			}
			m := Mark{Method: times.Method, Summary: times.Summaries[0], Times: times}
			if !primary(m.Method) && slices.ContainsFunc(item.Performance.Shapes, func(o record.Times) bool { return o.Shape == times.Shape && primary(o.Method) }) {
				continue
			}
			t.Rows = append(t.Rows, []Cell{
				text(day(item.Build.Time)), text(item.Kernel.Name), text(item.Build.Device.Name), text(masked(times.Shape.String(), causal(item))), mute(how(times.Method)),
				text(figures(m.Summary.P50)), text(figures(float64(times.TFLOPs[0]))), text(m.againstBaseline(item)), outcome(o),
				{Text: short(item.Kernel.SHA256), Class: "hash"}, source(item),
			})
		}
	}
	return t
}

// Cases returns the errors of a record, case by case.
func Cases(c *record.Correctness) *Table {
	t := &Table{Head: []string{"shape", "inputs", "seed", "max", "mean", "above " + limit(c.Tolerance.BadAbove), "plain max", "impostors", "remark"}, Right: "llrrrrrrl"}
	for i := range c.Cases {
		x := &c.Cases[i]
		row := []Cell{text(caseName(x)), text(x.Distribution), text(strconv.FormatUint(x.Seed, 10))}
		if e := x.Errors; e != nil {
			row = append(row, text(figures(e.Max)), text(figures(e.Mean)), text(percent(e.BadShare)))
		} else {
			row = append(row, mute(none), mute(none), mute(none))
		}
		plain := none
		if x.Plain != nil {
			plain = figures(x.Plain.Max)
		}
		t.Rows = append(t.Rows, append(row, mute(plain), text(caught(x.Powers)), Cell{Text: remark(x), Class: "why"}))
	}
	return t
}

func caseName(c *record.Case) string {
	name := c.Shape.String()
	if c.Name != "" {
		name = c.Name + " " + name
	}
	if c.Sweep != nil {
		name += fmt.Sprintf(", the worst of %s", english.Count(c.Sweep.Lengths, "length"))
	}
	return name
}

// caught returns how many of the applicable impostors were caught.
func caught(powers []record.Power) string {
	n, of := 0, 0
	for _, p := range powers {
		if p.Why == "" || p.Caught {
			of++
		}
		if p.Caught {
			n++
		}
	}
	return fmt.Sprintf("%d of %d", n, of)
}

// Counters returns the counters of the kernel and its baseline.
func Counters(c *record.Counters) *Table {
	t := &Table{Head: []string{"counter, " + c.Shape.String(), "kernel", "baseline", "ratio"}, Right: "lrrr"}
	for _, name := range sorted.Keys(c.Kernel) {
		row := []Cell{text(name), text(Counter(c.Kernel[name]))}
		if b, ok := c.Baseline[name]; ok && b != 0 {
			row = append(row, text(Counter(b)), text(times(c.Kernel[name]/b)))
		} else if ok {
			row = append(row, text(Counter(b)), mute(none))
		} else {
			row = append(row, mute(none), mute(none))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func orNone(s string) string {
	if s == "" {
		return none
	}
	return s
}

// anchor returns a label with only the characters that file names and anchors may have.
func anchor(label string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, label)
}
