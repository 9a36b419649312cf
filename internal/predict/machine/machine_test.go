package machine_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
)

// replay returns what a kernel takes on an H200. body is the text between registers and exit. It
// replay returns how long a block with a body takes on an H200.
func replay(t *testing.T, threads int, body string) machine.Result {
	t.Helper()
	return prepare(t, threads, body).Replay(machine.Plan{Clusters: []int{0}})
}

// prepare runs a block with a body on the emulator and prepares it for replays on an H200.
func prepare(t *testing.T, threads int, body string) *machine.Machine {
	t.Helper()
	text := `.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.shared .align 16 .b8 s[16384];
	.reg .b32 %r<600>;
	.reg .f32 %f<600>;
	.reg .b64 %rd<4>;
	.reg .pred %p<4>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	cvt.rn.f32.u32 %f0, %r0;
` + body + `
	st.global.f32 [%rd0], %f31;
	st.global.u32 [%rd0+4], %r31;
	ret;
}
`
	rec := &warptrace.Recorder{}
	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: rec})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	out, err := dev.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Block: device.D(threads), Params: []device.Param{device.Ptr(out)}}); err != nil {
		t.Fatal(err)
	}
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	return machine.New(rec.Launches()[0], &chip, 1980, nil)
}

// more returns how many cycles a body takes more than an empty one.
func more(t *testing.T, threads int, body string) float64 {
	t.Helper()
	return replay(t, threads, body).Cycles - replay(t, threads, "").Cycles
}

func repeat(n int, format string) string {
	var s strings.Builder
	for i := range n {
		s.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(100+i)))
	}
	return s.String()
}

// TestUnits checks chains and streams of operations against the numbers of the chip.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		name, body string
		threads    int
		want       float64 // cycles
	}{
		{"a chain of 100 fma", repeat(100, "fma.rn.f32 %f0, %f0, %f0, %f0;\n") + "mov.b32 %f31, %f0;", 32, 400},
		{"200 exponentials, in rounds with a latency of about 60", tenTimes(exponentials(20) + sum(20)), 32, 2200},
		{"4 warps have 4 sub-cores", tenTimes(exponentials(20) + sum(20)), 128, 2200},
		{"8 warps share them", tenTimes(exponentials(20) + sum(20)), 256, 3800},
		{"a loop that fits in the cache", tenTimes(repeat(600, "fma.rn.f32 %f0, %f0, %f0, %f0;\n") + "mov.b32 %f31, %f0;"), 32, 10 * 600 * 4},
		{"a loop that does not fit in the cache", tenTimes(repeat(4000, "fma.rn.f32 %f0, %f0, %f0, %f0;\n") + "mov.b32 %f31, %f0;"), 32, 10 * (4000*4 + 4000/8*11)},
		{"three operands from the register file take one and a half cycles", tenTimes(threeOperands(400)), 32, 10 * 400 * 1.5},
		{"moves are free", "mov.b32 %f1, %f0;\n" + repeat(100, "mov.b32 %f2, %f1;\nmov.b32 %f1, %f2;\n") + "mov.b32 %f31, %f1;", 32, 0},
		{"nobody reads the results", exponentials(100), 32, 0},
	} {
		got := more(t, c.threads, c.body)
		if math.Abs(got-c.want) > 0.12*c.want+100 {
			t.Errorf("%s: %.0f cycles, want about %.0f", c.name, got, c.want)
		}
	}
}

// threeOperands is fma with three registers that no operation before has read in the same place.
func threeOperands(n int) string {
	var s strings.Builder
	for i := range 8 {
		fmt.Fprintf(&s, "mov.b32 %%f%d, %%f0;\n", 300+i)
	}
	for i := range n {
		fmt.Fprintf(&s, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", 300+i%8, 300+i%8, 300+(i+1)%8, 300+(i+3)%8)
	}
	return s.String() + "mov.b32 %f31, %f300;\n" + keep(8)
}

// tenTimes is a loop. The constant in the body differs in each round, so that nothing is invariant.
func tenTimes(body string) string {
	return "mov.u32 %r20, 10;\n$L:\ncvt.rn.f32.u32 %f0, %r20;\n" + body + "sub.u32 %r20, %r20, 1;\nsetp.ne.u32 %p0, %r20, 0;\n@%p0 bra $L;\n"
}

// sum uses %f100 and those that follow.
func sum(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "add.rn.f32 %%f%d, %%f%d, %%f%d;\n", 300+i, 100+i, 100+i/2)
	}
	return s.String() + "mov.b32 %f31, %f300;\n" + keep(n)
}

// exponentials computes different exponentials in %f100 and those that follow.
func exponentials(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, "mul.rn.f32 %%f%d, %%f0, 0f3F80%04X;\nex2.approx.ftz.f32 %%f%d, %%f%d;\n", 450+i, i, 100+i, 450+i)
	}
	return s.String()
}

// keep stores registers, so that none is unread.
func keep(n int) string {
	var s strings.Builder
	for i := 0; i < n; i += 4 {
		fmt.Fprintf(&s, "st.shared.v4.f32 [s+%d], {%%f%d, %%f%d, %%f%d, %%f%d};\n", 4*i, 300+i, 301+i, 302+i, 303+i)
	}
	return s.String()
}

// TestFusion checks that two additions, and a shift and an addition, take one slot.
func TestFusion(t *testing.T) {
	chain := func(body string) int { return replay(t, 32, body).Ops }
	base := chain("mov.b32 %r31, %r0;")
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"add, add", "add.u32 %r1, %r0, %r0; add.u32 %r31, %r1, %r0;", 1},
		{"shl, add", "shl.b32 %r1, %r0, 2; add.u32 %r31, %r1, %r0;", 1},
		{"and, or", "and.b32 %r1, %r0, 7; or.b32 %r31, %r1, %r0;", 1},
		{"max, max", "max.s32 %r1, %r0, 7; max.s32 %r31, %r1, %r0;", 1},
		{"max, min", "max.s32 %r1, %r0, 7; min.s32 %r31, %r1, %r0;", 2},
		{"a result with two readers", "add.u32 %r1, %r0, %r0; add.u32 %r2, %r1, %r0; xor.b32 %r31, %r1, %r2;", 3},
		{"the same twice", "mul.lo.u32 %r1, %r0, %r0; mul.lo.u32 %r2, %r0, %r0; xor.b32 %r31, %r1, %r2;", 2},
	} {
		if got := chain(c.body) - base; got != c.want {
			t.Errorf("%s: %d slots, want %d", c.name, got, c.want)
		}
	}
}

// TestTimeIsComplete checks that the reasons add up to the time of all sub-cores.
func TestTimeIsComplete(t *testing.T) {
	r := replay(t, 96, "bar.sync 0;\n"+exponentials(50)+sum(50)+"bar.sync 0;")
	total := 0.0
	for _, v := range r.Spent {
		total += v
	}
	if want := r.Cycles * float64(r.Cores); math.Abs(total-want) > 0.02*want {
		t.Errorf("the reasons add up to %.0f cycles, the sub-cores had %.0f", total, want)
	}
}

// TestConflicts checks that bank conflicts take time.
func TestConflicts(t *testing.T) {
	load := func(shift int) float64 {
		body := fmt.Sprintf("shl.b32 %%r1, %%r0, %d;\n", shift)
		for i := range 40 {
			body += fmt.Sprintf("ld.shared.f32 %%f%d, [%%r1+%d];\n", 300+i, 12*i) // no neighbours, which would be joined
		}
		return more(t, 32, body+"mov.b32 %f31, %f300;\n"+keep(40))
	}
	if plain, conflicts := load(2), load(7); conflicts < plain+1000 {
		t.Errorf("40 loads take %.0f cycles without and %.0f with 32 conflicts", plain, conflicts)
	}
}

// TestWarpTime checks that the time of the warps is complete, and that two warps that compete for a sub-core wait for
// each other.
func TestWarpTime(t *testing.T) {
	body := repeat(64, "add.f32 %f#, %f0, 0f3F800000;\n") + sum(64)
	alone, both := replay(t, 32, body), replay(t, 32*8, body)
	if alone.NotSelected != 0 {
		t.Errorf("one warp waits %v cycles for others", alone.NotSelected)
	}
	// Warps 0 and 4 share a sub-core, and so do the other pairs.
	if both.NotSelected < 4*32 {
		t.Errorf("of 8 warps on 4 sub-cores, all wait for others for only %v cycles", both.NotSelected)
	}
	for _, r := range []machine.Result{alone, both} {
		if got := r.Warps[machine.Issue]; got != float64(r.Ops) {
			t.Errorf("warps issue for %v cycles, and %d operations were issued", got, r.Ops)
		}
	}
	// One warp is a sub-core's whole time until the end of the launch, which the last store determines.
	sum := 0.0
	for _, cycles := range alone.Warps {
		sum += cycles
	}
	if !(sum > 64 && sum <= alone.Cycles) {
		t.Errorf("the times of one warp add up to %v of %v cycles", sum, alone.Cycles)
	}
}

// TestRelease wants an atomic operation that releases to take a fence longer than one that does not.
func TestRelease(t *testing.T) {
	atomic := func(order string) float64 {
		return replay(t, 32, "\tatom."+order+".global.add.u32 %r31, [%rd0+8], 1;\n").Cycles
	}
	if fence := atomic("acq_rel.gpu") - atomic("relaxed.gpu"); fence < 200 || fence > 400 {
		t.Errorf("a release takes %.0f cycles", fence)
	}
	if fence := atomic("acq_rel.cta") - atomic("relaxed.cta"); fence != 0 {
		t.Errorf("a release for the block takes %.0f cycles", fence)
	}
}
