package operand

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Decoder decodes one function.
type Decoder struct {
	Prog     *machine.Program
	Func     *machine.Function
	Consts32 map[uint32]machine.Slot // constants
	Consts64 map[uint64]machine.Slot //
	Special  map[string]machine.Slot // special registers
	Labels   map[*ptx.Symbol]int32
	Targets  map[*ptx.Symbol]*ptx.Targets
	Forward  []*ptx.Symbol // labels that were used before their definition
	Pre      []machine.Op  // operations that run before the present instruction
	Err      error
}

// Fail records why the instruction cannot be decoded.
func (d *Decoder) Fail(format string, args ...any) {
	if d.Err == nil {
		d.Err = fmt.Errorf(format, args...)
	}
}

// Label returns the branch target that an operand names. Targets behind the branch are
// not known yet: a negative number stands for them until all labels are known.
func (d *Decoder) Label(o *ptx.Operand) int32 {
	if t, ok := d.Labels[o.Sym]; ok {
		return t
	}
	d.Forward = append(d.Forward, o.Sym)
	return -int32(len(d.Forward)) - 1
}
