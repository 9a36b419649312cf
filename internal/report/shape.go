package report

import (
	"cmp"
	"iter"
	"slices"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// Shape holds the times of one shape on one device. With a causal mask it is another problem,
// with half the work.
type Shape struct {
	Device string
	Shape  problem.Shape
	Causal bool
	Name   string // "mission", or ""
	Rows   []*Row // kernels in the order of the ladder, then rivals, the fastest first
}

// Title returns the name and the sizes.
func (s *Shape) Title() string {
	if s.Name == "" {
		return masked(s.Shape.String(), s.Causal)
	}
	return masked(s.Name+" "+s.Shape.String(), s.Causal)
}

// masked adds "causal" to a shape with a causal mask.
func masked(shape string, causal bool) string {
	if causal {
		return shape + " causal"
	}
	return shape
}

// Row is the times of a kernel, a baseline or a rival.
type Row struct {
	Label  string
	Kernel *Kernel        // nil for a rival, or for a baseline without a record of its own
	Item   *evidence.Item // the record of the run
	Marks  []Mark         // the primary method first
}

// Mark is the times of a row by one method.
type Mark struct {
	Method  timing.Method
	Summary stats.Summary
	TFLOPs  float64
	Times   *record.Times
	index   int // the index of the row, among the candidates of Times
}

// Main returns the times by the primary method, or by the first method that there is.
func (r *Row) Main() *Mark { return &r.Marks[0] }

// shapes collects the newest times of each kernel and shape.
func (v *View) shapes() {
	newest := v.newest()
	for _, k := range v.Kernels {
		for _, item := range k.Items {
			if !timed(item) {
				continue
			}
			for i := range item.Performance.Shapes {
				t := &item.Performance.Shapes[i]
				if len(t.Summaries) > 0 && newest[k.of(item, t)] == item {
					v.shape(item, t).add(k.Label, k, item, t, 0)
				}
			}
		}
		v.byOtherMethods(k, newest)
	}
	for _, s := range v.Shapes {
		v.beside(s)
		for _, r := range s.Rows {
			sorted.By(r.Marks, func(a, b Mark) int { return cmp.Compare(rank(a.Method), rank(b.Method)) })
		}
		ours := slices.IndexFunc(s.Rows, func(r *Row) bool { return r.Kernel == nil })
		if ours >= 0 {
			sorted.By(s.Rows[ours:], func(a, b *Row) int { return cmp.Compare(a.Main().Summary.P50, b.Main().Summary.P50) })
		}
	}
	sorted.By(v.Shapes, func(a, b *Shape) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Shape.FLOP(), b.Shape.FLOP()), cmp.Compare(a.Shape.String(), b.Shape.String()), cmp.Compare(a.Title(), b.Title()))
	})
}

// byOtherMethods adds the methods that the record shown for a shape lacks, such as a cold
// cache, from the newest record of the same PTX.
func (v *View) byOtherMethods(k *Kernel, newest map[place]*evidence.Item) {
	for _, item := range slices.Backward(k.Items) {
		if !timed(item) {
			continue
		}
		for i := range item.Performance.Shapes {
			t := &item.Performance.Shapes[i]
			shown := newest[k.of(item, t)]
			if len(t.Summaries) == 0 || shown == nil || shown == item || !shown.Kernel.Same(&item.Kernel) {
				continue
			}
			s := v.shape(item, t)
			row := slices.IndexFunc(s.Rows, func(r *Row) bool { return r.Label == k.Label })
			same := func(m Mark) bool { return rank(m.Method) == rank(t.Method) }
			if row >= 0 && !slices.ContainsFunc(s.Rows[row].Marks, same) {
				s.add(k.Label, k, item, t, 0)
			}
		}
	}
}

// place is a kernel of any configuration on a shape and a device.
type place struct {
	id     identity
	device string
	shape  problem.Shape
}

func (k *Kernel) of(item *evidence.Item, t *record.Times) place {
	id := k.id
	id.config = ""
	return place{id, item.Build.Device.Name, t.Shape}
}

// verdict returns the verdict on a record. attest bench measures and does not judge, so for times of enough
// processes for a README the newest verdict on another record of the same PTX counts.
func (k *Kernel) verdict(item *evidence.Item) *evidence.Judgement {
	if v := item.Verdict(); v != nil || !published(item) {
		return v
	}
	for _, other := range slices.Backward(k.Items) {
		if v := other.Verdict(); v != nil && other.Kernel.Same(&item.Kernel) {
			return v
		}
	}
	return nil
}

// published reports whether all times of a record are of enough processes for a README.
func published(item *evidence.Item) bool {
	return timed(item) && !slices.ContainsFunc(item.Performance.Shapes, func(t record.Times) bool { return len(t.Runs) < fewestProcesses })
}

// newest returns the record whose times are shown for each kernel and shape. A judged record is
// preferred to one without a verdict: see [Kernel.verdict]. Of two records of the same PTX, the one with its
// own verdict is preferred, then the one with more rivals, and otherwise the newer one.
func (v *View) newest() map[place]*evidence.Item {
	found, judged := map[place]*evidence.Item{}, map[*evidence.Item]bool{}
	for _, k := range v.Kernels {
		for _, item := range k.Items {
			if !timed(item) {
				continue
			}
			for i := range item.Performance.Shapes {
				p := k.of(item, &item.Performance.Shapes[i])
				judged[item] = k.verdict(item) != nil
				if was := found[p]; was == nil || overrides(item, was, p.shape, judged) {
					found[p] = item
				}
			}
		}
	}
	return found
}

// overrides reports whether a record is shown instead of another for a shape.
func overrides(item, was *evidence.Item, shape problem.Shape, judged map[*evidence.Item]bool) bool {
	if own := item.Verdict() != nil; item.Kernel.Same(&was.Kernel) && own != (was.Verdict() != nil) {
		return own
	}
	if judged[item] != judged[was] {
		return judged[item]
	}
	if a, b := rivalsOn(item, shape), rivalsOn(was, shape); item.Kernel.Same(&was.Kernel) && a != b {
		return a > b
	}
	return item.Seq > was.Seq
}

// rivalsOn returns the number of rivals that were timed beside a kernel on a shape.
func rivalsOn(item *evidence.Item, shape problem.Shape) (most int) {
	for _, t := range item.Performance.Shapes {
		if t.Shape == shape {
			most = max(most, len(t.Rivals))
		}
	}
	return most
}

// rank returns the place of a method in the order of methods.
func rank(m timing.Method) (n int) {
	if m.Mode != timing.Graph {
		n += 2
	}
	if m.Cache != timing.Warm {
		n++
	}
	return n
}

func (v *View) shape(item *evidence.Item, t *record.Times) *Shape {
	device, causal := item.Build.Device.Name, causal(item)
	i := slices.IndexFunc(v.Shapes, func(s *Shape) bool { return s.Device == device && s.Shape == t.Shape && s.Causal == causal })
	if i < 0 {
		name := t.Name
		for _, n := range problem.Shapes() {
			if name == "" && n.Shape == t.Shape {
				name = n.Name
			}
		}
		i = len(v.Shapes)
		v.Shapes = append(v.Shapes, &Shape{Device: device, Shape: t.Shape, Causal: causal, Name: name})
	}
	return v.Shapes[i]
}

func (s *Shape) add(label string, k *Kernel, item *evidence.Item, t *record.Times, candidate int) {
	i := slices.IndexFunc(s.Rows, func(r *Row) bool { return r.Label == label })
	if i < 0 {
		i = len(s.Rows)
		s.Rows = append(s.Rows, &Row{Label: label, Kernel: k, Item: item})
	}
	m := Mark{Method: t.Method, Summary: t.Summaries[candidate], Times: t, index: candidate}
	if candidate < len(t.TFLOPs) {
		m.TFLOPs = float64(t.TFLOPs[candidate])
	}
	if len(t.Runs) > 0 && candidate < len(t.Runs[0].Candidates) {
		m.Method = t.Runs[0].Candidates[candidate].Method
	}
	s.Rows[i].Marks = append(s.Rows[i].Marks, m)
}

// beside adds rivals, and baselines without a row of their own, each from the newest run that
// timed it.
func (v *View) beside(s *Shape) {
	type key struct {
		name   string
		method timing.Method
	}
	seen := map[key]bool{}
	rows := slices.Clone(s.Rows)
	sorted.By(rows, func(a, b *Row) int { return cmp.Compare(b.Item.Seq, a.Item.Seq) })
	for _, row := range rows {
		for _, m := range row.Marks {
			for name, label := range others(row, &m, rows) {
				i := slices.Index(m.Times.Names, name)
				id := key{name, m.Times.Method}
				if i < 1 || i >= len(m.Times.Summaries) || seen[id] {
					continue
				}
				seen[id] = true
				s.add(label, nil, row.Item, m.Times, i)
			}
		}
	}
}

// others returns the names and labels of the candidates that were timed beside a row.
func others(row *Row, m *Mark, rows []*Row) iter.Seq2[string, string] {
	return func(yield func(name, label string) bool) {
		own := func(r *Row) bool { return r.Item.Kernel.Name == row.Item.Baseline.Name }
		if b := row.Item.Baseline; b != nil && !slices.ContainsFunc(rows, own) && !yield(b.Name, b.Name+", the baseline") {
			return
		}
		for _, rival := range m.Times.Rivals {
			if !yield(rival.Name, rival.Name) {
				return
			}
		}
	}
}

// Best returns the fastest kernel that was measured with right outputs and not rejected, or
// nil.
func (s *Shape) Best() (best *Row) { return s.fastest((*Row).current) }

// Shown returns the kernel that documents show: the fastest that was timed in enough processes for a README, and
// otherwise Best. It may have changed since: see [Row.Older].
func (s *Shape) Shown() *Row {
	if best := s.fastest((*Row).published); best != nil {
		return best
	}
	return s.Best()
}

// fastest returns the fastest kernel among those rows of Best that are wanted, or nil.
func (s *Shape) fastest(wanted func(*Row) bool) (best *Row) {
	for _, r := range s.Rows {
		if !r.claimable() || !wanted(r) {
			continue
		}
		if best == nil || r.Main().Summary.P50 < best.Main().Summary.P50 {
			best = r
		}
	}
	return best
}

func (r *Row) claimable() bool {
	if r.Kernel == nil {
		return false
	}
	v, t := r.Kernel.verdict(r.Item), r.Main().Times
	replaced := r.Older() && r.Kernel.Outcome() == record.Reject
	return v != nil && v.Outcome != record.Reject && !replaced && t.OutputsOK && !t.Predicted
}

// Older reports whether the times belong to other PTX than the record that represents the kernel: the
// kernel has changed since, and the new one was not timed on this shape.
func (r *Row) Older() bool {
	return r.Kernel != nil && !r.Item.Kernel.Same(&r.Kernel.Now.Kernel)
}

func (r *Row) current() bool { return !r.Older() }

// FastestRival returns the fastest rival of the same run, or nil.
func (m *Mark) FastestRival() (fastest *record.Rival) {
	for i := range m.Times.Rivals {
		r := &m.Times.Rivals[i]
		// The ratio is the time of the kernel over that of the rival.
		if r.Comparison.Ratio > 0 && (fastest == nil || r.Comparison.Ratio > fastest.Comparison.Ratio) {
			fastest = r
		}
	}
	return fastest
}

// inverse converts the interval of a ratio of times to that of a speedup.
func inverse(i stats.Interval) stats.Interval {
	return stats.Interval{Low: 1 / i.High, High: 1 / i.Low, Confidence: i.Confidence}
}

// Samples returns all times, process after process, in the order in which they were taken.
func (m *Mark) Samples() (all []float64) {
	for i := range m.Times.Runs {
		all = append(all, m.Times.Runs[i].Times(m.index)...)
	}
	return all
}
