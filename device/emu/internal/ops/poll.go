package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// polls marks an instruction whose destination tells whether a poll was in vain.
func polls(o *op, d *decoder, x *inst) {
	dst := x.Arg("d")
	if dst == nil || dst.Kind == ptx.SinkOperand || x.Type("d") == ptx.B128 {
		return
	}
	o.Kind = machine.OpPoll
	for _, e := range machine.Elements(dst) {
		o.Cells = append(o.Cells, d.Into(e, x.Type("d")))
	}
}

// MayPoll reports whether a load is of a kind with which threads wait for the writes of
// others.
func MayPoll(m isa.Match) bool {
	return m.Has("volatile") || m.Has("relaxed") || m.Has("acquire") || m.Has("mmio")
}
