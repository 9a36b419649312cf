package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// polls makes an instruction that reads into o's destination one that may poll.
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

// mayPoll reports whether a load is of a kind that others' writes are awaited by.
func mayPoll(x *inst) bool {
	return x.Has("volatile") || x.Has("relaxed") || x.Has("acquire") || x.Has("mmio")
}
