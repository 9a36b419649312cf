package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/targets"
	"github.com/GOATnote-Inc/attest/record"
)

// targetsSection compares the evidence with the targets of the project.
var targetsSection = section{
	id: "targets", title: "Targets",
	show: func(p *Page) bool { return len(p.All.Goals()) > 0 },
	body: `{{template "table" .All.TargetTable}}
<p class="note">{{.All.TargetsKey}}</p>
{{with .All.Reached}}<h3>Milestones</h3>{{template "table" $.All.MilestoneTable}}{{end}}`,
}

// SetTargets makes the view compare its evidence with targets as of a moment.
func (v *View) SetTargets(f *targets.File, now time.Time) { v.targets, v.now = f, now }

// Known returns the names of GPUs and kernels in the evidence, which a file of targets may use.
func (v *View) Known() (k targets.Known) {
	for _, item := range v.Items {
		if !item.Build.Emulated() {
			k.Devices = append(k.Devices, item.Build.Device.Name)
		}
		k.Kernels = append(k.Kernels, item.Kernel.Name)
	}
	return k
}

// Goal is a target beside the evidence.
type Goal struct {
	Name    string         `json:"name"`
	Metric  string         `json:"metric"`
	What    string         `json:"what"` // kernel, shape, format and mask
	Chip    string         `json:"chip"`
	Unit    string         `json:"unit"`
	Target  string         `json:"target"`  // with its unit
	Current string         `json:"current"` // with its unit, "" if nothing was measured
	Value   *float64       `json:"value"`   // the current number, nil if there is none
	Gap     *float64       `json:"gap"`     // current minus target, nil if there is none
	By      string         `json:"by"`      // the last day, or ""
	Status  targets.Status `json:"status"`
	Record  string         `json:"record"` // the hash of the record of the current value, or ""

	relative float64 // the gap over the target, 0 for the target 0
	item     *evidence.Item
}

// Goals returns the targets with their current values.
func (v *View) Goals() (list []Goal) {
	if v.targets == nil {
		return nil
	}
	for i := range v.targets.Targets {
		list = append(list, v.goal(&v.targets.Targets[i]))
	}
	return list
}

func (v *View) goal(t *targets.Target) Goal {
	g := Goal{Name: t.Name, Metric: t.Metric.Name, What: subjectOf(t), Chip: t.Chip, Unit: t.Metric.Unit, By: lastDay(t.By)}
	if t.Metric.Name == targets.Verdict {
		g.Target = string(t.Outcome)
		var reached bool
		g.Current, reached, g.item = v.verdictOf(t)
		g.Status = targets.StatusOf(g.item != nil, reached, t.By, v.now)
	} else {
		g.Target = withUnit(limit(t.Value), t.Value, t.Metric.Unit)
		if value, item := v.measured(t); item != nil {
			gap := value - t.Value
			g.item, g.Value, g.Gap, g.Current = item, &value, &gap, amount(value, t.Metric.Unit)
			if t.Value != 0 {
				g.relative = gap / t.Value
			}
		}
		g.Status = targets.StatusOf(g.item != nil, g.Value != nil && t.Reached(*g.Value), t.By, v.now)
	}
	if g.item != nil {
		g.Record = g.item.Hash
	}
	return g
}

// subjectOf says what a target is about.
func subjectOf(t *targets.Target) string {
	var words []string
	say := func(s string) {
		if s != "" {
			words = append(words, s)
		}
	}
	say(t.Kernel)
	say(t.Format)
	if t.Shape.Shape.D > 0 {
		say(t.Shape.Name)
		say(masked(t.Shape.Shape.String(), t.Causal))
	}
	if t.Rival != "" {
		say("over " + t.Rival)
	}
	return strings.Join(words, " ")
}

func lastDay(by time.Time) string {
	if by.IsZero() {
		return ""
	}
	return by.AddDate(0, 0, -1).Format(time.DateOnly)
}

// measured returns the current number of a target and its record; the record is nil if nothing
// was measured on the chip. Records of the emulator never count.
func (v *View) measured(t *targets.Target) (value float64, item *evidence.Item) {
	if t.Metric.Shape {
		return v.measuredOnShape(t)
	}
	for _, one := range v.newestOn(t) {
		if x, ok := kernelValue(t.Metric.Name, one.Record); ok && (item == nil || x > value) { // the worst of its configurations
			value, item = x, one
		}
	}
	return value, item
}

// measuredOnShape returns the best number of the kernels that the target allows.
func (v *View) measuredOnShape(t *targets.Target) (best float64, item *evidence.Item) {
	for _, s := range v.Shapes {
		if s.Shape != t.Shape.Shape || s.Causal != t.Causal || !chips.OnChip(s.Device, t.Chip) {
			continue
		}
		for _, r := range s.Rows {
			if !r.counts() || t.Kernel != "" && r.Item.Kernel.Name != t.Kernel || t.Format != "" && r.Item.Kernel.Format != t.Format {
				continue
			}
			x, ok := shapeValue(t, s, r)
			if ok && (item == nil || t.Metric.Less && x < best || !t.Metric.Less && x > best) {
				best, item = x, r.Item
			}
		}
	}
	return best, item
}

// counts reports whether the times of a row can be claimed: measured on a GPU by the primary
// method, with right outputs and not rejected.
func (r *Row) counts() bool {
	return r.claimable() && primary(r.Main().Method) && !r.Item.Build.Emulated()
}

// shapeValue returns a metric of a kernel on a shape.
func shapeValue(t *targets.Target, s *Shape, r *Row) (x float64, ok bool) {
	m := r.Main()
	switch t.Metric.Name {
	case targets.Time:
		return m.Summary.P50, true
	case targets.TFLOPs:
		return m.TFLOPs, m.TFLOPs > 0
	case targets.OfFloor:
		return m.Summary.P50 / m.Times.Floor, m.Times.Floor > 0
	case targets.RivalSpeedup:
		return m.overRival(t.Rival)
	case targets.LadderSpeedup:
		first := s.rung(targets.FirstStage, r.Item.Kernel.Format)
		if first == nil {
			return 0, false
		}
		return first.Main().Summary.P50 / m.Summary.P50, true
	}
	return 0, false
}

// overRival returns the speedup over the fastest rival whose name contains a text.
func (m *Mark) overRival(name string) (speedup float64, ok bool) {
	for i := range m.Times.Rivals {
		r := &m.Times.Rivals[i]
		if x := 1 / r.Comparison.Ratio; strings.Contains(r.Name, name) && r.Comparison.Ratio > 0 && (!ok || x < speedup) {
			speedup, ok = x, true
		}
	}
	return speedup, ok
}

// newestOn returns the newest judged record of each kernel that a target names, on its chip.
func (v *View) newestOn(t *targets.Target) (list []*evidence.Item) {
	for _, k := range v.Kernels {
		if k.id.name != t.Kernel || t.Format != "" && k.id.format != t.Format {
			continue
		}
		for _, item := range slices.Backward(k.Items) {
			if item.Verdict() != nil && !item.Build.Emulated() && chips.OnChip(item.Build.Device.Name, t.Chip) {
				list = append(list, item)
				break
			}
		}
	}
	return list
}

// kernelValue returns a metric of a record. Estimates of registers do not count.
func kernelValue(metric string, r *record.Record) (x float64, ok bool) {
	if metric == targets.MaxError {
		return worstError(r)
	}
	if r.Resources == nil {
		return 0, false
	}
	u := usageOn(r.Resources, r.Build.Device.Target)
	if u == nil {
		return 0, false
	}
	exact := func(f resources.Figure) (float64, bool) {
		return float64(f.Value), f.Known() && f.Source != resources.Estimate
	}
	switch metric {
	case targets.Registers:
		return exact(u.Registers)
	case targets.Shared:
		return float64(u.Shared.Value + r.Resources.Dynamic), true
	case targets.Spills:
		stores, known := exact(u.SpillStores)
		loads, alsoKnown := exact(u.SpillLoads)
		return max(stores, loads), known && alsoKnown
	}
	return 0, false
}

// verdictOf returns the outcomes of a target's kernel on its chip, whether all of them are the
// wanted one, and a record with a different outcome if there is one.
func (v *View) verdictOf(t *targets.Target) (text string, reached bool, item *evidence.Item) {
	n := map[record.Outcome]int{}
	for _, one := range v.newestOn(t) {
		o := one.Verdict().Outcome
		n[o]++
		if item == nil || o != t.Outcome {
			item = one
		}
	}
	var parts []string
	for _, o := range record.Outcomes() {
		switch {
		case n[o] > 0 && len(n) == 1:
			return string(o), o == t.Outcome, item
		case n[o] > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n[o], o))
		}
	}
	return strings.Join(parts, ", "), false, item
}

// TargetTable returns the targets with their current values.
func (v *View) TargetTable() *Table {
	t := &Table{Head: []string{"target", "metric", "of", "chip", "wanted", "current", "gap", "by", "status", "record"}, Right: "llllrrrlll"}
	for _, g := range v.Goals() {
		current, gap, from := mute(none), mute(none), mute(none)
		if g.item != nil {
			current, from = text(g.Current), source(g.item)
		}
		if g.Gap != nil {
			gap = text(gapText(&g))
		}
		t.Rows = append(t.Rows, []Cell{
			text(g.Name), text(g.Metric), text(g.What), text(g.Chip), text(g.bound()), current, gap, text(orNone(g.By)),
			{Text: string(g.Status), Class: "badge " + anchor(string(g.Status))}, from,
		})
	}
	return t
}

// bound returns the target with its direction: "≤ 3 µs".
func (g *Goal) bound() string {
	m, _ := targets.Find(g.Metric)
	sign := "≥ "
	switch {
	case m.Name == targets.Verdict:
		sign = ""
	case m.Less:
		sign = "≤ "
	}
	return sign + g.Target
}

// amount returns a number that is not negative, with its unit.
func amount(x float64, unit string) string {
	s := figures(x)
	if x == math.Trunc(x) && x < 1<<53 {
		s = strconv.FormatFloat(x, 'f', 0, 64)
	}
	return withUnit(s, x, unit)
}

// withUnit returns a number, which is written as s, with its unit.
func withUnit(s string, x float64, unit string) string {
	switch unit {
	case "":
		return s
	case "bytes":
		return kib(int(x))
	case "x":
		return s + unit
	}
	return s + " " + unit
}

// gapText returns the current value minus the target, and relative to the target.
func gapText(g *Goal) string {
	s := amount(math.Abs(*g.Gap), g.Unit)
	switch {
	case *g.Gap > 0:
		s = "+" + s
	case *g.Gap < 0:
		s = "-" + s
	}
	if g.relative != 0 {
		s += fmt.Sprintf(" (%+.1f %%)", 100*g.relative)
	}
	return s
}

// TargetsKey explains the table of targets.
func (v *View) TargetsKey() string {
	key := "Current values are measured on the chip and never come from the emulator. The gap is current minus wanted. " +
		"open: measured and not reached. not measured: no record on this chip counts."
	if v.dated() {
		key += " missed and overdue: the same after the date. As of " + v.now.UTC().Format(time.DateOnly) + "."
	}
	return key
}

// dated reports whether a target or a milestone has a date.
func (v *View) dated() bool {
	return slices.ContainsFunc(v.targets.Targets, func(t targets.Target) bool { return !t.By.IsZero() }) ||
		slices.ContainsFunc(v.targets.Milestones, func(m targets.Milestone) bool { return !m.By.IsZero() })
}

// Reached is a milestone beside the evidence.
type Reached struct {
	Name   string         `json:"name"`
	Met    int            `json:"met"` // how many of its targets
	Of     int            `json:"of"`
	By     string         `json:"by"`
	Status targets.Status `json:"status"`
	Left   []string       `json:"left"` // the targets that are not met
}

// Reached returns the milestones.
func (v *View) Reached() (list []Reached) {
	if v.targets == nil {
		return nil
	}
	goals := v.Goals()
	for i := range v.targets.Milestones {
		m := &v.targets.Milestones[i]
		r := Reached{Name: m.Name, Of: len(m.Targets), By: lastDay(m.By), Left: []string{}}
		var all []targets.Status
		for _, g := range goals {
			if !slices.Contains(m.Targets, g.Name) {
				continue
			}
			all = append(all, g.Status)
			if g.Status == targets.Met {
				r.Met++
			} else {
				r.Left = append(r.Left, g.Name)
			}
		}
		r.Status = m.StatusOf(all, v.now)
		list = append(list, r)
	}
	return list
}

// MilestoneTable returns the milestones.
func (v *View) MilestoneTable() *Table {
	t := &Table{Head: []string{"milestone", "targets met", "by", "status", "left"}, Right: "lrlll"}
	for _, r := range v.Reached() {
		t.Rows = append(t.Rows, []Cell{
			text(r.Name), text(fmt.Sprintf("%d of %d", r.Met, r.Of)), text(orNone(r.By)),
			{Text: string(r.Status), Class: "badge " + anchor(string(r.Status))}, text(orNone(strings.Join(r.Left, ", "))),
		})
	}
	return t
}
