package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// buildWarpBarrier builds bar.warp.sync.
func buildWarpBarrier(d *decoder, x *inst, o *op) {
	syncExchange(o, d, x, machine.NoOperands())
	o.Warp.Compute = func(*machine.Exchange, uint32) {}
}

// syncExchange makes o an exchange among the lanes of its member mask, or among the lanes
// that execute it if it has no member mask.
func syncExchange(o *op, d *decoder, x *inst, w *machine.WarpOp) {
	o.Run, o.Warp = w.Run, w
	if mask := x.Arg("membermask"); mask != nil {
		o.Kind = machine.OpSync
		o.Index = d.Src32(mask, ptx.B32)
		o.Why = o.WhySync
	}
}
