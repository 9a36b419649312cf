package machine

import (
	"io"

	"github.com/GOATnote-Inc/attest/device/emu/internal/memory"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
)

// save saves global memory before the launch if its observer may want to see the launch a second
// time. Otherwise it returns nil.
func (l *launch) save() *memory.Saved {
	if l.watcher == nil {
		return nil
	}
	if _, ok := l.watcher.observer.(observe.ReplayObserver); !ok {
		return nil
	}
	return l.Memory.Save()
}

// replay runs the launch of kernel k a second time if its observer wants that. It leaves the
// results of the first run, which ended with err.
func (l *launch) replay(k *Kernel, before *memory.Saved, err error) {
	if before == nil || l.ctx.Err() != nil {
		return
	}
	again := l.watcher.observer.(observe.ReplayObserver).Again()
	if again == nil {
		return
	}
	after := l.Memory.Save()
	if after == nil || !before.Restore() {
		return // the kernel has allocated memory: a second run would get other addresses
	}
	run := k.newLaunch(l.ctx, l.Launch, l.Settings)
	run.params, run.barrierMemory = l.params, l.barrierMemory
	run.out.Writer = io.Discard
	run.observeBy(again, k.Prog.number())
	_ = run.run() // it fails as the first run did
	after.Restore()
	again.End(err)
}
