package check

import (
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// Compilers move loads ahead of the branch that uses them, and kernels read past a tile and
// discard the value. Such a load may race, or read memory that nobody wrote, and do no harm. So a
// launch with such findings runs a second time, in the same order. In the second run the loads of
// these findings give values that are followed as undefined values are (registers.go). A finding
// becomes a note if no value that it is about reaches an address, a branch or memory.

// followed holds the loads whose values a launch follows. The zero value follows no load.
type followed struct {
	first    *launch              // the first run of the launch, or nil in the first run
	follows  map[int]bool         // by instruction: the loads that are followed
	suspects map[int]bool         // in the first run: the loads that the second run follows
	held     map[finding.Key]held // in the second run: the findings about the loads that are followed
}

// held has the loads of a finding.
type held []heldLoad

type heldLoad struct {
	e     *event
	lanes uint32
}

// loadEnder is a part whose findings about loads need the whole launch.
type loadEnder interface{ endLoads() }

// Again starts the second run of the launch if there are findings about loads.
func (l *launch) Again() observe.LaunchObserver {
	for _, p := range l.parts {
		if e, ok := p.(loadEnder); ok {
			e.endLoads()
		}
	}
	if l.first != nil || len(l.suspects) == 0 {
		return nil
	}
	return l.c.launch(l.LaunchInfo, l.index, followed{first: l, follows: l.suspects, held: map[finding.Key]held{}})
}

// reportLoad is reportAs for a finding about the load e of lanes.
func (c *cluster) reportLoad(serial int, f finding.Finding, e *event, lanes uint32) {
	c.reportAs(serial, f)
	if !e.class.load || e.work != nil {
		return
	}
	l := c.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil {
		if l.suspects == nil {
			l.suspects = map[int]bool{}
		}
		l.suspects[e.id] = true
		return
	}
	f.Kernel = l.Kernel
	k := f.Key()
	loads := l.held[k]
	if n := len(loads); n > 0 && loads[n-1].e == e {
		loads[n-1].lanes |= lanes
		return
	}
	l.held[k] = append(loads, heldLoad{e, lanes})
}

// judge makes notes of the findings of the first run whose loads were never used.
func (l *launch) judge() {
	for k, f := range l.first.found {
		loads := l.held[k]
		if len(loads) == 0 || f.Severity == finding.Note || loads.used() {
			continue
		}
		f.Severity = finding.Note
		f.Message += "; the value is never used"
		f.Why = "the value may be any, but no result depends on it: it reaches no address, no branch and no memory"
		f.Fix = "nothing, if the compiler moved the load; otherwise load only where the value is used"
	}
}

// used reports whether one of the loads was used.
func (h held) used() bool {
	for _, l := range h {
		if l.e.used&l.lanes != 0 {
			return true
		}
	}
	return false
}

// use records that lanes use a value that is followed. Where lanes have exchanged the value, it may
// be that of any lane.
func (o *undefOrigin) use(lanes uint32) {
	if o.crossed && lanes != 0 {
		lanes = 1<<32 - 1
	}
	o.load.used |= lanes
}

// useOthers records that values that are followed are used if the instruction combines them with
// another undefined value: a result has one origin, that of the first undefined operand.
func (x *undefStep) useOthers() {
	var first *event
	any := false
	for i := range x.p.src {
		a := &x.p.src[i]
		if a.reg < 0 {
			continue
		}
		r := &x.f.regs[a.reg]
		lanes := r.lanes & x.Mask
		switch {
		case lanes == 0:
		case !any:
			any, first = true, r.from.load
		case r.from.load != nil && r.from.load != first:
			r.from.use(lanes)
		}
	}
}

// crossed reports whether lanes have exchanged the value of a load on the way to some operand.
func (x *undefStep) crossed(load *event) bool {
	for i := range x.p.src {
		if r := x.p.src[i].reg; r >= 0 && x.f.regs[r].from.load == load && x.f.regs[r].from.crossed {
			return true
		}
	}
	return x.p.crosses
}

// followLoad returns the rule of a load whose value is followed. plain is its usual rule.
func followLoad(plain func(x *undefStep)) func(x *undefStep) {
	return func(x *undefStep) {
		plain(x)
		o := x.w.c.order
		if o == nil {
			return
		}
		w := o.warp(x.Rank, x.Warp)
		x.from = undefOrigin{load: w.event(x.ID, &o.o.classes[x.ID], 0, false), id: x.ID, kind: UninitShared}
		for i := range x.p.dst {
			x.Lanes(func(l int) { x.put(&x.p.dst[i], l, 1<<64-1) })
		}
	}
}
