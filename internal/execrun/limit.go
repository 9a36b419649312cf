package execrun

import (
	"context"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/cli"
)

// memoryLimit is the cause of a context that ended because the process became too large.
type memoryLimit int64

func (m memoryLimit) Error() string {
	return fmt.Sprintf("the run needs more than %d MiB of memory, the limit of --memory", int64(m)>>20)
}

// limitMemory returns a context that ends with a memoryLimit when the process holds more than a
// number of bytes. 0 is no limit.
func limitMemory(ctx context.Context, most int64) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	restore := func() {}
	if most > 0 {
		// The garbage collector works harder near the limit, so garbage does not count.
		before := debug.SetMemoryLimit(most / 10 * 9)
		restore = func() { debug.SetMemoryLimit(before) }
		watch := func() {
			if held() > most {
				cancel(memoryLimit(most))
			}
		}
		watch() // a short run may end before the first tick
		go func() {
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					watch()
				}
			}
		}()
	}
	return ctx, func() {
		cancel(nil)
		restore()
	}
}

// held returns the bytes of memory that Go's runtime holds.
func held() int64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64())
}

// load loads a module within the time that a launch may take. Loading cannot be stopped, but
// the command ends without waiting for it.
func (x *Runner) load(ctx context.Context, dev device.Device, file *cli.File) (device.Module, error) {
	type loaded struct {
		mod device.Module
		err error
	}
	done := make(chan loaded, 1)
	go func() {
		var l loaded
		defer func() { done <- l }()
		defer device.CatchBug(&l.err)
		l.mod, l.err = dev.Load(file.File, file.Text)
	}()
	if x.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, x.Timeout, fmt.Errorf("%s is not loaded after %v, the limit of --timeout", file.File, x.Timeout))
		defer cancel()
	}
	select {
	case l := <-done:
		return l.mod, l.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
