package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// markPoll marks an instruction with which a program may poll. If its destination gets the
// same value again, the poll has failed.
func markPoll(o *op, d *decoder, x *inst) {
	dst := x.Arg("d")
	if dst == nil || dst.Kind == ptx.SinkOperand || x.Type("d") == ptx.B128 {
		return
	}
	o.Kind = machine.OpPoll
	for _, e := range machine.Elements(dst) {
		o.Cells = append(o.Cells, d.LoadDst(e, x.Type("d")))
	}
}

// MayPoll reports whether threads may use a load of this kind to wait for writes of other
// threads.
func MayPoll(m isa.Match) bool {
	return m.Has("volatile") || m.Has("relaxed") || m.Has("acquire") || m.Has("mmio")
}
