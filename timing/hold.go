package timing

import (
	"time"

	"github.com/GOATnote-Inc/attest/device"
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

// holdPTX is a kernel that waits for a number of nanoseconds. It runs with one thread, so
// that it does not slow down the kernels behind it.
const holdPTX = `
.version 7.0
.target sm_80
.address_size 64

.visible .entry hold(.param .u64 wait)
{
	.reg .pred %early;
	.reg .b64 %wait, %start, %now, %passed;
	ld.param.u64 %wait, [wait];
	mov.u64 %start, %globaltimer;
$again:
	mov.u64 %now, %globaltimer;
	sub.u64 %passed, %now, %start;
	setp.lt.u64 %early, %passed, %wait;
	@%early bra $again;
	ret;
}
`

func newHold(dev device.Device) (*hold, error) {
	module, err := dev.Load("hold.ptx", holdPTX)
	if err != nil {
		return nil, err
	}
	kernel, err := module.Kernel("hold")
	return &hold{module, kernel, firstHold}, err
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
