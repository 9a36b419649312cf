package decode

import (
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// TestEarlyAccesses checks that the accesses to accumulators of running products are found, and that
// pipelined code that waits for the right group has none.
func TestEarlyAccesses(t *testing.T) {
	const (
		first  = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a0, a1, a2, a3}, d, d, p, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;\n"
		second = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {b0, b1, b2, b3}, d, d, p, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;\n"
		wait0  = "wgmma.wait_group.sync.aligned 0;\n"
		wait1  = "wgmma.wait_group.sync.aligned 1;\n"
		use    = "add.f32 x, a0, a0;\n"
	)
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"after the wait", first + wait0 + use, 0},
		{"before the wait", first + use + wait0, 1},
		{"a newer group may run", first + second + wait1 + use + wait0, 0},
		{"the wait leaves the group out", first + wait1 + use + wait0, 1},
		{"in the next round of a loop", "L: " + use + first + "@p bra L;\n" + wait0, 1},
		{"pipelined loop", first + "L: " + second + wait1 + use + first + wait1 + "add.f32 x, b0, b0;\n@p bra L;\n" + wait0, 0},
		{"on one path", first + "@p bra L;\n" + wait0 + "L: " + use, 1},
		{"products in a row", first + first + wait0 + use, 0},
		{"a write", first + "mov.f32 a0, 0f00000000;\n" + wait0, 1},
	} {
		m, err := parse.Parse("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.entry k() {\n.reg .f32 a<4>, b<4>, x; .reg .b64 d; .reg .pred p;\n"+c.body+"ret;\n}\n")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		n := 0
		for in, regs := range earlyAccesses(verify.NewCFG(m.Func("k"))) {
			n += len(regs)
			if in.Op.Name == "wgmma" {
				t.Errorf("%s: the product of line %d counts as an access", c.name, in.Pos.Line)
			}
			if regs[0].Kind != ptx.RegSymbol {
				t.Errorf("%s: %s is not a register", c.name, regs[0].Name)
			}
		}
		if n != c.want {
			t.Errorf("%s: %d early accesses, want %d", c.name, n, c.want)
		}
	}
}
