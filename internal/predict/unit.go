package predict

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu/count"
)

// Unit is a part of an SM, or the memory of the chip.
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

// MarshalText is the name of the unit.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// cost is clocks of one SM, a unit each.
type cost [units]float64

func (c *cost) add(d *cost) {
	for u := range c {
		c[u] += d[u]
	}
}

// most is the unit that is busy longest.
func (c *cost) most() (unit Unit, clocks float64) {
	for u, n := range c {
		if n > clocks {
			unit, clocks = Unit(u), n
		}
	}
	return unit, clocks
}

// costOf is what an instruction took on a chip, all of its executions.
func costOf(l *count.Line, chip *Chip) (c cost) {
	base, rest, _ := strings.Cut(l.Instruction, ".")
	n := float64(l.Executions - l.Vain) // a GPU waits in one try for about as long as it takes
	if !free(base, rest) {
		c[Issue] = n / schedulers
	}
	c[Shared] = float64(l.Shared.Wavefronts)
	c[Global] = float64(l.Global.BytesMoved()) / globalBytes
	switch unitOf(base, rest) {
	case Tensor:
		c[Tensor] = n * operations(l.Instruction) / chip.tensor(l.Instruction)
	case Exp:
		c[Exp] = n * warpLanes / expLanes
	case Float:
		c[Float] = n * warpLanes / chip.Float
	case Integer:
		c[Integer] = n * warpLanes / integerLanes
	}
	return c
}

// free instructions are those that the assembler removes or folds into others.
func free(base, rest string) bool {
	switch base {
	case "mov", "cvta", "ret", "pragma":
		return true
	}
	return base == "ld" && strings.HasPrefix(rest, "param")
}

// What instructions are to the units. Others only take an issue slot, and memory.
var (
	products = []string{"mma", "wgmma", "wmma"}
	special  = []string{"ex2", "lg2", "rcp", "rsqrt", "sqrt", "sin", "cos", "tanh"}
	either   = []string{"add", "sub", "mul", "mad", "fma", "min", "max", "abs", "neg", "div"}
	integers = []string{"setp", "set", "selp", "slct", "and", "or", "xor", "not", "lop3", "shl", "shr", "shf", "prmt", "bfe", "bfi",
		"cvt", "popc", "clz", "bfind", "fns", "brev", "sad", "dp4a", "dp2a", "rem", "mul24", "mad24", "copysign", "testp", "vote", "redux"}
)

// none is an instruction without a unit of arithmetic.
const none = units

func unitOf(base, rest string) Unit {
	switch {
	case slices.Contains(products, base):
		if strings.Contains(rest, "mma_async") || strings.Contains(rest, "mma.") || base == "mma" {
			return Tensor
		}
		return none // wmma.load, wgmma.fence
	case slices.Contains(special, base):
		return Exp
	case slices.Contains(either, base):
		if isFloat(rest) {
			return Float
		}
		return Integer
	case slices.Contains(integers, base):
		return Integer
	}
	return none
}

func isFloat(rest string) bool {
	parts := strings.Split(rest, ".")
	return slices.ContainsFunc(parts, func(p string) bool {
		return strings.HasPrefix(p, "f16") || strings.HasPrefix(p, "bf16") || p == "f32" || p == "f64" || p == "f32x2"
	})
}

var mnk = regexp.MustCompile(`m(\d+)n(\d+)k(\d+)`)

// operations is the multiplications and additions of one warp's instruction: of wgmma
// a warp does a quarter.
func operations(inst string) float64 {
	m := mnk.FindStringSubmatch(inst)
	if m == nil {
		return 0
	}
	n := 2.0
	for _, extent := range m[1:] {
		x, _ := strconv.Atoi(extent) // digits, and few
		n *= float64(x)
	}
	if strings.HasPrefix(inst, "wgmma") {
		n /= 4
	}
	return n
}

// tensor is the operations in a clock of products of an instruction's types.
func (c *Chip) tensor(inst string) float64 {
	rate := c.F16
	switch {
	case strings.Contains(inst, "e4m3") || strings.Contains(inst, "e5m2"):
		if c.FP8 > 0 {
			rate = c.FP8
		}
	case strings.Contains(inst, ".s8") || strings.Contains(inst, ".u8"):
		rate = 2 * c.F16
	case strings.Contains(inst, "tf32"):
		rate = c.F16 / 2
	}
	if !strings.HasPrefix(inst, "wgmma") {
		rate *= c.MMASync
	}
	return rate
}
