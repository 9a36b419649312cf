package timing

import (
	"time"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/ptx"
)

// hold blocks a stream while the host queues a sample.
type hold struct {
	module device.Module
	kernel device.Kernel
	wait   time.Duration
}

const (
	firstHold = 20 * time.Microsecond
	mostHold  = 20 * time.Millisecond
)

// holdKernel returns a kernel that waits for a number of nanoseconds. It runs with one
// thread, so that it does not slow down the kernels behind it.
func holdKernel() *build.Kernel {
	k := build.New("hold", ptx.SM80)
	wait := k.ParamU64("wait")
	start := k.Globaltimer()
	k.While(func() build.Pred { return k.Globaltimer().Sub(start).SetpLt(wait) }, func() {})
	return k
}

func newHold(dev device.Device) (*hold, error) {
	k := holdKernel()
	k.Strict()
	text, err := k.PTX()
	if err != nil {
		return nil, err
	}
	h := &hold{wait: firstHold}
	if h.module, err = dev.Load("hold.ptx", text); err != nil {
		return nil, err
	}
	h.kernel, err = h.module.Kernel("hold")
	return h, err
}

func (h *hold) queue(s device.Stream) error {
	return s.Launch(h.kernel, device.Launch{
		Grid: device.D(1), Block: device.D(1), Params: []device.Param{device.U64(uint64(h.wait))},
	})
}

// lengthen doubles the wait. It returns false if the wait has reached its limit.
func (h *hold) lengthen() bool {
	if h.wait >= mostHold {
		return false
	}
	h.wait *= 2
	return true
}
