package stages

import (
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Config is how a kernel computes. Each field is one decision; what a kernel does
// follows from its Config and its [Problem] alone.
type Config struct {
	TileM int // query rows of a block
	TileN int // keys and values of a step

	// Stages is how many tiles of K and V bytes cp.async has under way: 1, 2 or 3.
	// With 0 threads load the bytes themselves.
	Stages int
	// VectorDequant decodes 16 bytes at a time instead of 4.
	VectorDequant bool
	// Swizzle lays shared tiles out by xor instead of padding their rows.
	Swizzle bool
	// LUT decodes K and V through a table of 256 halves in shared memory.
	LUT bool

	TensorQK bool // Q·Kᵀ on tensor cores
	TensorPV bool // P·V on tensor cores, P rounded to f16

	// ReuseScores puts P where the scores were instead of in a buffer of its own.
	ReuseScores bool
	// FusedSoftmax keeps scores and P in the registers of the one warp that owns
	// their rows.
	FusedSoftmax bool
	// Producers is the number of warps that only load and decode, 0, 1 or 2: with 2
	// one brings K and the other V.
	Producers int
	// Persistent blocks take one tile of queries after the other.
	Persistent bool
	// FastExp computes powers of two by a polynomial on the FMA units.
	FastExp bool
}

// String lists what is on.
func (c Config) String() string {
	on := []string{fmt.Sprintf("%dx%d", c.TileM, c.TileN)}
	add := func(is bool, name string) {
		if is {
			on = append(on, name)
		}
	}
	add(c.Stages > 0, fmt.Sprintf("cp-async-%d", c.Stages))
	add(c.VectorDequant, "vector-dequant")
	add(c.Swizzle, "swizzle")
	add(c.LUT, "lut")
	add(c.TensorQK, "tensor-qk")
	add(c.TensorPV, "tensor-pv")
	add(c.ReuseScores, "reuse-scores")
	add(c.FusedSoftmax, "fused-softmax")
	add(c.Producers > 0, fmt.Sprintf("producers-%d", c.Producers))
	add(c.Persistent, "persistent")
	add(c.FastExp, "fast-exp")
	return strings.Join(on, " ")
}

// Check says why a kernel of this Config cannot compute the problem on the target, or
// nil when it can.
func (c Config) Check(p problem.Attention, t ptx.Target) error {
	p = p.Filled()
	if err := checkProblem(p); err != nil {
		return err
	}
	if err := attn.CheckRules(rules(), p); err != nil {
		return err
	}
	if err := c.checkToggles(); err != nil {
		return err
	}
	if err := c.checkTiles(); err != nil {
		return err
	}
	switch limit := sharedLimit(t); {
	case t.SM < 80:
		return fmt.Errorf("%s has neither cp.async nor mma.sync of f16 with k = 16: the least is sm_80", t)
	case p.Format == problem.E4M3 && t.SM < 89:
		return fmt.Errorf("%s cannot convert e4m3: the least is sm_89", t)
	case c.plan(p.D).total > limit:
		return fmt.Errorf("head dimension %d with tiles of %d×%d and %d stages: %d bytes of shared memory, %s has %d a block",
			p.D, c.TileM, c.TileN, c.Stages, c.plan(p.D).total, t, limit)
	}
	return nil
}

// checkToggles refuses combinations that mean nothing.
func (c Config) checkToggles() error {
	switch {
	case c.Stages < 0 || c.Stages > 3:
		return fmt.Errorf("%d stages: cp.async rings have 1, 2 or 3, and 0 is without cp.async", c.Stages)
	case c.Producers < 0 || c.Producers > 2:
		return fmt.Errorf("%d producer warps: there may be 0, 1 or 2", c.Producers)
	case c.FusedSoftmax && !(c.TensorQK && c.TensorPV):
		return fmt.Errorf("fused softmax without tensor cores for both products: scores in registers are fragments of mma.sync")
	case c.ReuseScores && c.FusedSoftmax:
		return fmt.Errorf("score reuse with fused softmax: there is no score buffer")
	case c.ReuseScores && !c.TensorPV:
		return fmt.Errorf("score reuse without tensor cores for P·V: P is f32 and lies where the scores were anyway")
	case c.Producers > 0 && !c.FusedSoftmax:
		return fmt.Errorf("producer warps without fused softmax: the other warps would have to meet over the scores while producers run on")
	case c.Producers > 0 && c.Stages == 0:
		return fmt.Errorf("producer warps without cp.async stages: give them at least 1")
	}
	return nil
}

// checkTiles refuses tiles that the warps cannot be dealt out over.
func (c Config) checkTiles() error {
	switch {
	case c.FusedSoftmax && (c.TileM < 16 || c.TileM > 128 || c.TileM%16 != 0):
		return fmt.Errorf("%d query rows with fused softmax: a warp owns 16, so 16 to 128 in steps of 16", c.TileM)
	case !c.FusedSoftmax && c.TileM != 32 && c.TileM != 64:
		return fmt.Errorf("%d query rows: four warps share 32 or 64", c.TileM)
	case c.TileN < 32 || c.TileN > 128 || c.TileN%32 != 0:
		return fmt.Errorf("KV tiles of %d: 32, 64, 96 or 128 are possible", c.TileN)
	case c.Swizzle && c.TileN&(c.TileN-1) != 0:
		return fmt.Errorf("KV tiles of %d with the swizzle: it needs a power of two", c.TileN)
	}
	return nil
}

// sharedLimit is the shared memory that a block may have.
func sharedLimit(t ptx.Target) int {
	switch {
	case t.SM >= 90:
		return 227 << 10
	case t.SM == 80:
		return 163 << 10
	}
	return 99 << 10
}

// computeWarps are the warps that compute.
func (c Config) computeWarps() int {
	if c.FusedSoftmax {
		return c.TileM / 16
	}
	return 4
}

func (c Config) threads() int { return 32 * (c.computeWarps() + c.Producers) }
