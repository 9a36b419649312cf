package check

import (
	"cmp"
	"sync"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Checker watches the launches of a device with the registered checkers and collects
// what they find. It is an observe.Observer.
type Checker struct {
	kinds    map[finding.Kind]bool
	mu       sync.Mutex
	launches int
	found    collection
	static   map[staticKey]part // parts that later launches use again: see once
	ignored  map[int]bool       // by line: see Ignore
	// cellsOnly turns off the shortcut for reads of shared memory (order_zones.go), so
	// that tests can compare the findings with and without it.
	cellsOnly bool
}

// found is a finding and the moment at which it was seen first: the number of the launch, the
// index of the cluster, and the number of the report in the cluster. The moment is the same in
// every run and does not depend on the timing of goroutines.
type found struct {
	finding.Finding
	launch, cluster, serial int
}

// New makes a checker for findings of some kinds. Without kinds it looks for all.
func New(kinds ...finding.Kind) *Checker {
	c := &Checker{kinds: map[finding.Kind]bool{}, found: collection{}, static: map[staticKey]part{}}
	if len(kinds) == 0 {
		kinds = Kinds()
	}
	for _, k := range kinds {
		c.kinds[k] = true
	}
	return c
}

// Ignore makes the checker act as if the barriers, waits, fences and arrivals of some lines ordered
// nothing. The findings then are the accesses that need these instructions.
func (c *Checker) Ignore(lines ...int) {
	c.ignored = map[int]bool{}
	for _, line := range lines {
		c.ignored[line] = true
	}
}

// Findings returns the findings of all launches so far, in the order in which they were seen
// first. The first one is usually the cause of the others.
func (c *Checker) Findings() []finding.Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*found, 0, len(c.found))
	for _, f := range c.found {
		all = append(all, f)
	}
	sorted.By(all, func(a, b *found) int {
		return cmp.Or(a.before(b), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Kind, b.Kind))
	})
	list := make([]finding.Finding, len(all))
	for i, f := range all {
		list[i] = f.Finding
	}
	return list
}

func (f *found) before(g *found) int {
	return cmp.Or(cmp.Compare(f.launch, g.launch), cmp.Compare(f.cluster, g.cluster), cmp.Compare(f.serial, g.serial))
}

func (f *found) copy() *found {
	c := *f
	return &c
}

// collection is findings by key.
type collection map[finding.Key]*found

// add adds a copy of a finding. If the finding is known, the one that was seen first is kept and
// the other one is merged into it. Most findings are known, so that f need not be on the heap.
func (c collection) add(f *found) {
	k := f.Key()
	old := c[k]
	switch {
	case old == nil:
		c[k] = f.copy()
	case f.before(old) < 0:
		first := f.copy()
		first.Merge(&old.Finding)
		c[k] = first
	default:
		old.Merge(&f.Finding)
	}
}
