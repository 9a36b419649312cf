package ops

import (
	"github.com/GOATnote-Inc/attest/device/emu/internal/machine"
	"github.com/GOATnote-Inc/attest/device/emu/internal/operand"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Short names for the types that nearly every function of the package uses.
type (
	frame   = machine.Frame
	exec    = machine.Exec
	slot    = machine.Slot
	op      = machine.Op
	decoder = operand.Decoder
	inst    = isa.Bound
)
