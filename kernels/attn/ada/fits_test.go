package ada

import (
	"testing"

	"github.com/GOATnote-Inc/attest/internal/occupancy"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// TestFits: as many blocks as a design asks for fit on an SM of every chip that runs it, and the registers
// that are live at once fit in those that a thread then has. Registers are allocated for multiples of four
// warps: 21 warps with 96 registers would not start.
func TestFits(t *testing.T) {
	for _, d := range headDims {
		for _, c := range variants(d) {
			p := c.fit(square(1, 8, 512, d, problem.E4M3))
			for _, target := range []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90} {
				sm, ok := occupancy.Of(target)
				if !ok || !target.Runs(c.target()) {
					continue
				}
				block := occupancy.Block{Threads: c.threads(), Registers: c.registers(), Shared: c.plan(d).total}
				if f := sm.Fit(block); f.Blocks < c.BlocksPerSM {
					t.Errorf("D = %d, %v: %d blocks fit on an SM of %v (%s), want %d", d, c, f.Blocks, target, f.Limit, c.BlocksPerSM)
				}
			}
			k, err := New(p, c)
			if err != nil {
				t.Fatal(err)
			}
			if need := pressure(t, k.Name, k.PTX); need > c.registers() {
				t.Errorf("D = %d, %v: about %d registers are live at once, a thread has %d", d, c, need, c.registers())
			}
		}
	}
}

// pressure returns how many registers of a kernel are live at once, as PTX has them.
func pressure(t *testing.T, name, text string) int {
	t.Helper()
	m, err := parse.Parse("kernel.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Func(name)
	return verify.Pressure(f, verify.NewCFG(f)).Registers
}
