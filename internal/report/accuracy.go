package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// Deviations returns the errors of a kernel and of rivals, case by case.
func Deviations(a *record.Accuracy) *Table {
	t := &Table{Head: []string{"shape", "inputs", "rows", "candidate", "rms, total", "rms, added", "total / candidate", "added / candidate"}, Right: "llrlrrrr"}
	figure := func(x float64) Cell { return text(fmt.Sprintf("%.4g", x)) }
	for i := range a.Cases {
		c := &a.Cases[i]
		t.Rows = append(t.Rows, []Cell{text(c.Shape.String()), text(c.Distribution), text(strconv.Itoa(c.Rows)), text(c.Kernel.Name), figure(c.Kernel.Total.RMSE), figure(c.Kernel.Added.RMSE), {}, {}})
		for _, d := range c.Rivals {
			row := []Cell{{}, {}, {}, text(d.Name), mute(none), mute(none), {}, {}}
			if d.Why == "" {
				row[4], row[5], row[6], row[7] = figure(d.Total.RMSE), figure(d.Added.RMSE), quotient(c.Kernel.Total, d.Total), quotient(c.Kernel.Added, d.Added)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// DeviationNotes returns what is to be said of the rivals: which are missing, how they compute, and why they
// have no errors.
func DeviationNotes(a *record.Accuracy) []string {
	notes := slices.Clone(a.Notes)
	for i := range a.Cases {
		for _, d := range a.Cases[i].Rivals {
			for _, text := range []string{d.Note, d.Why} {
				if note := d.Name + ": " + text; text != "" && !slices.Contains(notes, note) {
					notes = append(notes, note)
				}
			}
		}
	}
	return notes
}

// quotient returns the ratio of two errors. Below 1 the kernel is more accurate.
func quotient(own, other record.Spread) Cell {
	if !(other.RMSE > 0) {
		return Cell{}
	}
	return text(fmt.Sprintf("%.3f", own.RMSE/other.RMSE))
}

// compared is the comparison of one case with one rival.
type compared struct {
	shape         problem.Shape
	causal        bool
	inputs, rival string
	own, other    record.Deviation
}

func (c *compared) total() float64 { return c.own.Total.RMSE / c.other.Total.RMSE }
func (c *compared) added() float64 { return c.own.Added.RMSE / c.other.Added.RMSE }

// place names the case, without its inputs.
func (c *compared) place() string {
	if c.causal {
		return "(" + c.shape.String() + ") causal"
	}
	return "(" + c.shape.String() + ")"
}

// Accuracy compares the errors of kernels with those of rivals, by all records of attest bench --distribution.
type Accuracy struct{ cases []compared }

// newAccuracy collects the comparisons. Of the same case, the newest record counts. A case without errors, such as
// that of zeros, compares nothing.
func newAccuracy(items []*evidence.Item) *Accuracy {
	a := &Accuracy{}
	for _, item := range items {
		if item.Accuracy == nil {
			continue
		}
		for _, c := range item.Accuracy.Cases {
			for _, d := range c.Rivals {
				one := compared{c.Shape, causal(item), c.Distribution, d.Name, c.Kernel, d}
				if d.Why != "" || !(d.Total.RMSE > 0 && d.Added.RMSE > 0 && c.Kernel.Added.RMSE > 0) {
					continue
				}
				a.cases = slices.DeleteFunc(a.cases, func(o compared) bool {
					return o.shape == one.shape && o.causal == one.causal && o.inputs == one.inputs && o.rival == one.rival && o.own.Name == one.own.Name
				})
				a.cases = append(a.cases, one)
			}
		}
	}
	return a
}

// Empty reports whether there is no comparison.
func (a *Accuracy) Empty() bool { return len(a.cases) == 0 }

// Markdown returns, for each rival, the ratios by inputs and by length, and the errors on normal inputs without a mask.
func (a *Accuracy) Markdown() string {
	rivals := map[string][]compared{}
	for _, c := range a.cases {
		rivals[c.rival] = append(rivals[c.rival], c)
	}
	var out strings.Builder
	for i, rival := range sorted.Keys(rivals) {
		if i > 0 {
			out.WriteString("\n")
		}
		cases := rivals[rival]
		worse := 0
		for i := range cases {
			if cases[i].total() > 1.01 {
				worse++
			}
		}
		fmt.Fprintf(&out, "Beside %s, on %s. The total error is more than 1 %% above that of the rival on %d of them.\n\n", rival, english.Count(len(cases), "case"), worse)
		out.WriteString(ratios("inputs", cases, func(c *compared) string { return c.inputs }, nil).Markdown())
		out.WriteString("\n")
		keys := func(c *compared) string { return strconv.Itoa(c.shape.Skv) }
		byNumber := func(x, y string) int { return cmp.Or(len(x)-len(y), strings.Compare(x, y)) }
		out.WriteString(ratios("keys", cases, keys, byNumber).Markdown())
		out.WriteString("\n")
		out.WriteString(normalErrors(rival, cases).Markdown())
	}
	return out.String()
}

// ratios returns the ratios of groups of cases: their geometric means and the largest ones.
func ratios(head string, cases []compared, group func(*compared) string, order func(x, y string) int) *Table {
	t := &Table{Head: []string{head, "cases", "total", "largest", "added", "largest", "where"}, Right: "lrrrrrl"}
	groups := map[string][]*compared{}
	for i := range cases {
		name := group(&cases[i])
		groups[name] = append(groups[name], &cases[i])
	}
	names := sorted.Keys(groups)
	if order != nil {
		slices.SortFunc(names, order)
	}
	for _, name := range names {
		some := groups[name]
		total, mostTotal := summed(some, (*compared).total)
		added, mostAdded := summed(some, (*compared).added)
		where := mostAdded.place()
		if head != "inputs" {
			where = mostAdded.inputs + " " + where
		}
		ratio := func(x float64) Cell { return text(fmt.Sprintf("%.3f", x)) }
		t.Rows = append(t.Rows, []Cell{text(name), text(strconv.Itoa(len(some))), ratio(total), ratio(mostTotal.total()), ratio(added), ratio(mostAdded.added()), text(where)})
	}
	return t
}

// summed returns the geometric mean of a ratio, and the case in which it is largest.
func summed(cases []*compared, ratio func(*compared) float64) (mean float64, most *compared) {
	logs := 0.0
	for _, c := range cases {
		logs += math.Log(ratio(c))
		if most == nil || ratio(c) > ratio(most) {
			most = c
		}
	}
	return math.Exp(logs / float64(len(cases))), most
}

// normalErrors returns the errors on normal inputs without a mask.
func normalErrors(rival string, cases []compared) *Table {
	t := &Table{Head: []string{"normal inputs", rival + ", total", "attest, total", rival + ", added", "attest, added"}, Right: "lrrrr"}
	some := slices.DeleteFunc(slices.Clone(cases), func(c compared) bool { return c.causal || c.inputs != "normal" })
	slices.SortStableFunc(some, func(x, y compared) int { return cmp.Or(x.shape.D-y.shape.D, x.shape.Skv-y.shape.Skv) })
	figure := func(x record.Spread) Cell { return text(fmt.Sprintf("%.6f", x.RMSE)) }
	for _, c := range some {
		t.Rows = append(t.Rows, []Cell{text(c.place()), figure(c.other.Total), figure(c.own.Total), figure(c.other.Added), figure(c.own.Added)})
	}
	return t
}
