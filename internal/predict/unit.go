package predict

import "github.com/GOATnote-Inc/attest/internal/predict/machine"

// Unit is a part of an SM, or the memory of the chip, that limits how fast a kernel runs.
type Unit int

// The units.
const (
	Tensor Unit = iota
	Exp
	Float
	Integer
	Issue
	Shared
	Global
	DRAM
	units
)

var unitNames = [units]string{"tensor", "exp", "float", "integer", "issue", "shared", "global", "dram"}

func (u Unit) String() string { return unitNames[u] }

// MarshalText returns the name of the unit.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// busyCycles returns for how many cycles the units of the replayed SMs are busy, except DRAM.
func busyCycles(r *machine.Result) (c [units]float64) {
	c[Tensor] = r.Busy[machine.Tensor]
	c[Exp] = r.Busy[machine.Exp] + r.Busy[machine.Convert]
	c[Float] = max(r.Busy[machine.Float]+r.Busy[machine.IMad], r.Busy[machine.Half], r.Busy[machine.Double])
	c[Integer] = r.Busy[machine.ALU] + r.Busy[machine.Pack]
	c[Issue] = float64(r.Ops) / float64(r.Cores)
	c[Shared] = r.SharedBusy
	c[Global] = r.GlobalBusy
	return c
}
