package runfuzz

import (
	"io"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/device/emu/cover"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/internal/findingtext"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// watch makes all observers for each launch.
type watch struct {
	off     bool // run without observers
	checker *check.Checker
	counter *count.Counter
	cover   *cover.Cover
}

// Launch is called by the emulator.
func (w *watch) Launch(info *observe.LaunchInfo) observe.LaunchObserver {
	if w.off {
		return nil
	}
	w.checker, w.counter, w.cover = check.New(), count.New(), cover.New()
	return observe.Tee(w.checker, w.counter, w.cover).Launch(info)
}

// render makes the reports of the last launch, as commands do.
func (w *watch) render(text string) {
	if w.checker == nil {
		return
	}
	found := w.checker.Findings()
	findingtext.NewPrinter(io.Discard, term.Style{}, "k.ptx", text).Print(found)
	for i := range found {
		findingtext.RecordOf(&found[i])
	}
	w.counter.Launches()
	w.cover.Near()
	w.checker = nil
}
