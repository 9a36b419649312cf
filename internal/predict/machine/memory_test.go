package machine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/predict/machine"
)

// neighbours loads n words of shared memory from an address on and adds them up.
func neighbours(n int, address string) string {
	var s strings.Builder
	s.WriteString(address)
	for i := range n {
		fmt.Fprintf(&s, "ld.shared.f32 %%f%d, [%%r1+%d];\n", 100+i, 4*i)
	}
	for i := range n {
		fmt.Fprintf(&s, "add.rn.f32 %%f0, %%f0, %%f%d;\n", 100+i)
	}
	return s.String() + "mov.b32 %f31, %f0;\n"
}

// TestJoinedLoads checks that neighbouring words are loaded together where the address shows that they
// are aligned and nothing between them may change them, and how long shared memory is busy.
func TestJoinedLoads(t *testing.T) {
	ops := func(body string) int { return replay(t, 32, body).Ops }
	const aligned = "mov.u32 %r2, s;\nshl.b32 %r3, %r0, 4;\nadd.u32 %r1, %r2, %r3;\n"
	const odd = "mov.u32 %r2, s;\nmul.lo.u32 %r3, %r0, 20;\nadd.u32 %r1, %r2, %r3;\n"
	const pairs = "mov.u32 %r2, s;\nmul.lo.u32 %r3, %r0, 24;\nadd.u32 %r1, %r2, %r3;\n"
	for _, c := range []struct {
		name, body string
		loads      int // of 16 words
	}{
		{"aligned", neighbours(16, aligned), 4},
		{"pairs", neighbours(16, pairs), 8},
		{"not aligned", neighbours(16, odd), 16},
	} {
		// 16 additions, the address and the stores are the same in all.
		want := ops(neighbours(16, odd)) - 16 + c.loads
		if got := ops(c.body); math.Abs(float64(got-want)) > 1 {
			t.Errorf("%s: %d operations, want %d", c.name, got, want)
		}
	}
	store := strings.Replace(neighbours(4, aligned), "ld.shared.f32 %f102", "st.shared.f32 [%r1+64], %f0;\nld.shared.f32 %f102", 1)
	if got, whole := ops(store), ops(neighbours(4, aligned)); got != whole+2 {
		t.Errorf("a store between four loads gives %d operations, without it there are %d", got, whole)
	}
	// 32 lanes that are 16 bytes apart read 2048 bytes: 16 wavefronts, as without conflicts.
	if got := replay(t, 32, neighbours(16, aligned)).SharedBusy; math.Abs(got-16) > 3 {
		t.Errorf("shared memory is busy for %.0f cycles with four wide loads, want about 16", got)
	}
	// One address for all lanes: a wide load takes as long as four loads.
	if got := replay(t, 32, neighbours(16, "mov.u32 %r1, s;\n")).SharedBusy; math.Abs(got-16) > 3 {
		t.Errorf("shared memory is busy for %.0f cycles with four wide loads of the same words, want about 16", got)
	}
}

// TestPastL1 checks that a load that the L1 does not keep takes the latency of the L2 each time.
func TestPastL1(t *testing.T) {
	twice := func(load string) float64 {
		return more(t, 32, load+" %f1, [%rd0];\nadd.rn.f32 %f2, %f1, %f0;\nst.shared.f32 [s], %f2;\n"+load+" %f3, [%rd0];\nadd.rn.f32 %f31, %f3, %f2;\n")
	}
	if kept, past := twice("ld.global.f32"), twice("ld.global.cg.f32"); past < kept+200 {
		t.Errorf("two loads of a line take %.0f cycles through the L1 and %.0f past it", kept, past)
	}
}

// TestBlocksStart checks that the resident blocks of an SM start one after the other.
func TestBlocksStart(t *testing.T) {
	m := prepare(t, 32, "")
	one := m.Replay(machine.Plan{Clusters: []int{0}, Resident: 1}).Cycles
	if eight := m.Replay(machine.Plan{Clusters: make([]int, 8), Resident: 8}).Cycles; math.Abs(eight-one-7*155) > 60 {
		t.Errorf("eight blocks take %.0f cycles, one takes %.0f", eight, one)
	}
}
