package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/targets"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// View is the content of a store, arranged for readers.
type View struct {
	Items   []*evidence.Item // the items in the order in which they were added
	Kernels []*Kernel        // the kernels in the order of their first records, which is that of the ladder
	Shapes  []*Shape         // what was timed: one entry per device and shape
	Scores  []evidence.ScoreOfKernel
	Check   *evidence.Check
	// Accuracy compares the errors of kernels with those of rivals.
	Accuracy *Accuracy

	targets *targets.File // nil without targets
	now     time.Time     // the moment that dates of targets are compared with
}

// Kernel is everything that is known about one kernel.
type Kernel struct {
	// Label is the name of the kernel and what distinguishes it from others of that name. It
	// is short and unique within a view.
	Label  string
	Config string           // the whole configuration, where the name does not imply it
	Items  []*evidence.Item // oldest first
	Now    *evidence.Item   // the record that represents the kernel
	Timed  *evidence.Item   // the newest record with times, or nil

	id identity
}

// Outdated reports whether the times belong to other PTX than the record that represents the
// kernel.
func (k *Kernel) Outdated() bool {
	return k.Timed != nil && !k.Timed.Kernel.Same(&k.Now.Kernel)
}

// Outcome returns the outcome of the newest verdict on the record that represents the
// kernel, or "".
func (k *Kernel) Outcome() record.Outcome {
	if v := k.Now.Verdict(); v != nil {
		return v.Outcome
	}
	return ""
}

// New arranges the content of a store.
func New(c *evidence.Contents) *View { return newView(c, false) }

// newView arranges records. With apart, each record is a kernel of its own: a run lists what
// it judged.
func newView(c *evidence.Contents, apart bool) *View {
	v := &View{Items: campaigns(c.Items), Scores: c.Scores, Check: c.Check, Accuracy: newAccuracy(c.Items)}
	byID := map[identity]*Kernel{}
	for _, item := range v.Items {
		id := identify(item.Record)
		for apart && byID[id] != nil {
			id.copy++
		}
		if byID[id] == nil {
			byID[id] = &Kernel{id: id, Config: id.config}
			v.Kernels = append(v.Kernels, byID[id])
		}
		byID[id].Items = append(byID[id].Items, item)
	}
	for _, k := range v.Kernels {
		k.choose()
	}
	v.label()
	v.shapes()
	return v
}

// identity is what two records of one kernel have in common. Records with different head
// dimensions, masks or configurations are different kernels. Records with different PTX are
// the same kernel at different times.
type identity struct {
	name, format, target, dim, causal, heads, lse, config string
	copy                                                  int // tells records apart that would otherwise be the same kernel
}

func identify(r *record.Record) identity {
	k := &r.Kernel
	id := identity{name: k.Name, format: k.Format, target: k.Target}
	if d := k.Problem.HeadDim(); d.D > 0 {
		id.dim = d.String()
	}
	if k.Problem.Causal {
		id.causal = "causal"
	}
	if sharesHeads(r) {
		id.heads = "shared heads"
	}
	if k.Problem.LSE {
		id.lse = "lse"
	}
	if k.Config["chosen"] != "" {
		id.config = k.Config["config"]
	}
	return id
}

// sharesHeads reports whether the kernel was timed with query heads that share K and V.
// Such a kernel has a text of its own.
func sharesHeads(r *record.Record) bool {
	return r.Performance != nil && slices.ContainsFunc(r.Performance.Shapes, func(t record.Times) bool {
		return t.Shape.Hq != t.Shape.Hkv
	})
}

// label names the kernels.
func (v *View) label() {
	for _, k := range v.Kernels {
		var others []identity
		for _, o := range v.Kernels {
			if o.id.name == k.id.name {
				others = append(others, o.id)
			}
		}
		k.Label = k.id.label(others)
	}
}

// label returns the name with what distinguishes it from others of that name.
func (i identity) label(others []identity) string {
	differ := func(of func(identity) string) bool {
		return slices.ContainsFunc(others, func(o identity) bool { return of(o) != of(i) })
	}
	words := []string{i.name}
	if differ(func(i identity) string { return i.format + " " + i.target }) {
		words = append(words, i.format, i.target)
	}
	if differ(func(i identity) string { return i.dim }) && i.dim != "" {
		words = append(words, "D "+i.dim)
	}
	for _, of := range []func(identity) string{
		func(i identity) string { return i.causal }, func(i identity) string { return i.heads }, func(i identity) string { return i.lse },
	} {
		if word := of(i); word != "" && differ(of) {
			words = append(words, word)
		}
	}
	if i.config != "" && differ(func(i identity) string { return i.config }) {
		words = append(words, i.design(others)...)
	}
	if i.copy > 0 {
		words = append(words, fmt.Sprintf("(%d)", i.copy+1))
	}
	return strings.Join(words, " ")
}

// design returns the first word of the configuration, which is the tile, and the words in
// which the configuration differs from others that have the same tile and are otherwise the
// same kernel.
func (i identity) design(others []identity) []string {
	all := strings.Fields(i.config)
	words := slices.Clone(all[:1])
	for _, word := range all[1:] {
		if slices.ContainsFunc(others, func(o identity) bool { return i.sameDesign(o) && !slices.Contains(strings.Fields(o.config), word) }) {
			words = append(words, word)
		}
	}
	return words
}

// sameDesign reports whether two kernels differ only in the words after the tile of their
// configurations.
func (i identity) sameDesign(o identity) bool {
	tile, _, _ := strings.Cut(i.config, " ")
	other, _, _ := strings.Cut(o.config, " ")
	o.config, o.copy = i.config, i.copy
	return tile == other && o == i
}

// choose picks the record that represents the kernel: the newest one of its newest PTX that
// was timed or rejected, or the newest one.
func (k *Kernel) choose() {
	newest := k.Items[len(k.Items)-1]
	k.Now = newest
	for _, item := range slices.Backward(k.Items) {
		if k.Timed == nil && timed(item) {
			k.Timed = item
		}
	}
	for _, judged := range []bool{true, false} { // a record without a verdict says less
		for _, item := range slices.Backward(k.Items) {
			v := item.Verdict()
			if !item.Kernel.Same(&newest.Kernel) || (v != nil) != judged {
				continue
			}
			if timed(item) || v != nil && v.Outcome == record.Reject {
				k.Now = item
				return
			}
		}
	}
}

func causal(item *evidence.Item) bool { return item.Kernel.Problem.Causal }

func timed(item *evidence.Item) bool {
	return item.Performance != nil && len(item.Performance.Shapes) > 0
}

// Latest returns the time of the newest record.
func (v *View) Latest() (t time.Time) {
	for _, item := range v.Items {
		if item.Build.Time.After(t) {
			t = item.Build.Time
		}
	}
	return t
}

// Count returns the number of kernels with an outcome.
func (v *View) Count(o record.Outcome) (n int) {
	for _, k := range v.Kernels {
		if k.Outcome() == o {
			n++
		}
	}
	return n
}

// Trail is a verdict with its record.
type Trail struct {
	evidence.Judgement
	Item *evidence.Item
}

// Trail returns every verdict, the newest first.
func (v *View) Trail() (trail []Trail) {
	for _, item := range v.Items {
		for _, j := range item.Verdicts {
			trail = append(trail, Trail{j, item})
		}
	}
	sorted.By(trail, func(a, b Trail) int { return cmp.Compare(b.Seq, a.Seq) })
	return trail
}

// Skipped returns why kernels were not timed, each reason once.
func (v *View) Skipped() (why []string) {
	for _, k := range v.Kernels {
		if p := k.Now.Performance; p != nil && p.Skipped != "" && !slices.Contains(why, p.Skipped) {
			why = append(why, p.Skipped)
		}
	}
	return why
}

// primary reports whether a method is the default of the tables: a replayed graph with a
// warm cache.
func primary(m timing.Method) bool { return m.Mode == timing.Graph && m.Cache == timing.Warm }
