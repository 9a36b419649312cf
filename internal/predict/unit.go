package predict

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Throughputs that all chips have in common, per SM and clock: lanes, warps and bytes.
const (
	integerLanes = 64
	expLanes     = 16
	schedulers   = 4
	globalBytes  = 64
	warpLanes    = 32
)

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

// cost is the clocks that one SM needs, by unit.
type cost [units]float64

func (c *cost) add(d *cost) {
	for u := range c {
		c[u] += d[u]
	}
}

// most returns the unit that is busy longest, and its clocks.
func (c *cost) most() (unit Unit, clocks float64) {
	for u, n := range c {
		if n > clocks {
			unit, clocks = Unit(u), n
		}
	}
	return unit, clocks
}

// costOf returns what all executions of an instruction cost on a chip.
func costOf(l *count.Line, chip *chips.Chip) (c cost) {
	class := isa.ClassOf(ptx.NewOpcode(l.Instruction))
	n := float64(l.Executions - l.Vain) // on a GPU one try waits about as long as the phase takes
	if class.Unit != isa.UnitNone {
		c[Issue] = n / schedulers
	}
	c[Shared] = float64(l.Shared.Wavefronts)
	c[Global] = float64(l.Global.BytesMoved()) / globalBytes
	switch class.Unit {
	case isa.UnitTensor, isa.UnitWGMMA:
		c[Tensor] = n * operations(l.Instruction, class.Unit) / tensorRate(chip, l.Instruction, class.Unit)
	case isa.UnitExp:
		c[Exp] = n * warpLanes / expLanes
	case isa.UnitFloat, isa.UnitHalf, isa.UnitDouble:
		c[Float] = n * warpLanes / chip.Get("float_lanes")
	case isa.UnitInteger, isa.UnitConvert:
		c[Integer] = n * warpLanes / integerLanes
	}
	return c
}

var mnk = regexp.MustCompile(`m(\d+)n(\d+)k(\d+)`)

// operations returns the multiplications and additions that one warp does for a matrix
// product. Four warps share a wgmma.
func operations(inst string, unit isa.Unit) float64 {
	m := mnk.FindStringSubmatch(inst)
	if m == nil {
		return 0
	}
	n := 2.0
	for _, extent := range m[1:] {
		x, _ := strconv.Atoi(extent) // the regular expression matches digits only
		n *= float64(x)
	}
	if unit == isa.UnitWGMMA {
		n /= 4
	}
	return n
}

// tensorRate returns the operations per clock of one SM for products of the instruction's
// types.
func tensorRate(c *chips.Chip, inst string, unit isa.Unit) float64 {
	rate := c.Get("tensor_f16")
	switch {
	case strings.Contains(inst, "e4m3") || strings.Contains(inst, "e5m2"):
		if fp8 := c.Get("tensor_fp8"); fp8 > 0 {
			rate = fp8
		}
	case strings.Contains(inst, ".s8") || strings.Contains(inst, ".u8"):
		rate = 2 * c.Get("tensor_f16")
	case strings.Contains(inst, "tf32"):
		rate = c.Get("tensor_f16") / 2
	}
	if unit != isa.UnitWGMMA {
		rate *= c.Get("mma_sync_share")
	}
	return rate
}
