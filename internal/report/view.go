package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/timing"
)

// View is evidence in the order in which people look at it.
type View struct {
	Items   []*evidence.Item // as they were added
	Kernels []*Kernel        // in the order of their first records: a ladder is gated in its order
	Shapes  []*Shape         // what was timed, a device and shape each
	Check   *evidence.Check
}

// Kernel is all that is known of a kernel.
type Kernel struct {
	Label string           // its name, with what tells it from others of that name
	Items []*evidence.Item // oldest first
	Now   *evidence.Item   // what stands for it
	Timed *evidence.Item   // the newest with times, or nil

	id identity
}

// Outdated reports whether the times are of other PTX than the rest.
func (k *Kernel) Outdated() bool {
	return k.Timed != nil && !k.Timed.Kernel.Same(&k.Now.Kernel)
}

// Outcome is that of the newest verdict on what stands for the kernel, or "".
func (k *Kernel) Outcome() record.Outcome {
	if v := k.Now.Verdict(); v != nil {
		return v.Outcome
	}
	return ""
}

// New arranges the contents of a store.
func New(c *evidence.Contents) *View {
	v := &View{Items: c.Items, Check: c.Check}
	byID := map[identity]*Kernel{}
	for _, item := range c.Items {
		id := identify(item.Record)
		if byID[id] == nil {
			byID[id] = &Kernel{id: id}
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

// identity is what makes records those of one kernel. A kernel of another head dimension,
// causal, for heads that share K and V, with the LSE, or chosen otherwise for its shape is
// another one, which computes something else; one of other PTX is the same, changed.
type identity struct{ name, format, target, dim, causal, heads, lse, config string }

func identify(r *record.Record) identity {
	k := &r.Kernel
	id := identity{name: k.Name, format: k.Format, target: k.Target}
	if k.Problem.D > 0 {
		id.dim = strconv.Itoa(k.Problem.D)
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

// sharesHeads says that the kernel was timed with heads that share K and V, for which its
// text divides.
func sharesHeads(r *record.Record) bool {
	return r.Performance != nil && slices.ContainsFunc(r.Performance.Shapes, func(t record.Times) bool {
		return t.Shape.Hq != t.Shape.Hkv
	})
}

// label names the kernels, with what tells those of one name apart.
func (v *View) label() {
	for _, k := range v.Kernels {
		var others []identity
		for _, o := range v.Kernels {
			if o.id.name == k.id.name {
				others = append(others, o.id)
			}
		}
		differ := func(of func(identity) string) bool {
			return slices.ContainsFunc(others, func(o identity) bool { return of(o) != of(k.id) })
		}
		words := []string{k.id.name}
		if differ(func(i identity) string { return i.format + " " + i.target }) {
			words = append(words, k.id.format, k.id.target)
		}
		if differ(func(i identity) string { return i.dim }) && k.id.dim != "" {
			words = append(words, "D "+k.id.dim)
		}
		for _, of := range []func(identity) string{
			func(i identity) string { return i.causal }, func(i identity) string { return i.heads },
			func(i identity) string { return i.lse }, func(i identity) string { return i.config },
		} {
			if word := of(k.id); word != "" && differ(of) {
				words = append(words, word)
			}
		}
		k.Label = strings.Join(words, " ")
	}
}

// choose finds what stands for a kernel.
func (k *Kernel) choose() {
	newest := k.Items[len(k.Items)-1]
	k.Now = newest
	for _, item := range slices.Backward(k.Items) {
		if k.Timed == nil && timed(item) {
			k.Timed = item
		}
	}
	for _, judged := range []bool{true, false} { // a record of times alone says less
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

// Latest is when the newest record is from.
func (v *View) Latest() (t time.Time) {
	for _, item := range v.Items {
		if item.Build.Time.After(t) {
			t = item.Build.Time
		}
	}
	return t
}

// Count is how many kernels have an outcome.
func (v *View) Count(o record.Outcome) (n int) {
	for _, k := range v.Kernels {
		if k.Outcome() == o {
			n++
		}
	}
	return n
}

// Trail is a verdict and what it was on.
type Trail struct {
	evidence.Judgement
	Item *evidence.Item
}

// Trail is every verdict, the newest first.
func (v *View) Trail() (trail []Trail) {
	for _, item := range v.Items {
		for _, j := range item.Verdicts {
			trail = append(trail, Trail{j, item})
		}
	}
	slices.SortFunc(trail, func(a, b Trail) int { return cmp.Compare(b.Seq, a.Seq) })
	return trail
}

// Skipped is why kernels were not timed, each reason once.
func (v *View) Skipped() (why []string) {
	for _, k := range v.Kernels {
		if p := k.Now.Performance; p != nil && p.Skipped != "" && !slices.Contains(why, p.Skipped) {
			why = append(why, p.Skipped)
		}
	}
	return why
}

// primary reports whether a method is the one that figures are by unless they say
// otherwise.
func primary(m timing.Method) bool { return m.Mode == timing.Graph && m.Cache == timing.Warm }
