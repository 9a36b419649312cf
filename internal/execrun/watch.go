package execrun

import (
	"github.com/GOATnote-Inc/attest/device/emu/check"
	emucount "github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/finding"
)

// watch is what the flags ask to observe. It is an observe.Observer that makes a checker
// and a counter for each launch, so that each has its own results.
type watch struct {
	kinds   []finding.Kind
	count   bool
	checker *check.Checker
	counter *emucount.Counter
}

// observer returns the watch, or nil when there is nothing to watch for.
func (w *watch) observer() observe.Observer {
	if len(w.kinds) == 0 && !w.count {
		return nil
	}
	return w
}

// Launch is called by the emulator.
func (w *watch) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	var all []observe.Observer
	if len(w.kinds) > 0 {
		w.checker = check.New(w.kinds...)
		all = append(all, w.checker)
	}
	if w.count {
		w.counter = emucount.New()
		all = append(all, w.counter)
	}
	return observe.Tee(all...).Launch(info)
}

// take returns what the last launch showed.
func (w *watch) take() (found []finding.Finding, counts *emucount.Counts) {
	if w.checker != nil {
		found = w.checker.Findings()
	}
	if w.counter != nil {
		counts = w.counter.Launches()[0]
	}
	w.checker, w.counter = nil, nil
	return found, counts
}
