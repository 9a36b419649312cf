package predict

import (
	"math"
	"slices"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx"
)

// exponentials is a kernel in which block i computes 100 + 50 i exponentials one after the other.
const exponentials = `.version 8.0
.target sm_90a
.address_size 64
.file 1 "a/first.go"
.file 2 "a/second.go"
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<4>;
	.reg .pred %p<4>;
	.loc 1 5 1
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %ctaid.x;
	mad.lo.u32 %r1, %r0, 50, 100;
	mov.b32 %f0, 0f3F000000;
$L:
	.loc 2 7 1
	ex2.approx.ftz.f32 %f0, %f0;
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p0, %r1, 0;
	@%p0 bra $L;
	st.global.f32 [%rd0], %f0;
	ret;
}
`

func trace(t *testing.T, blocks, samples int) *warptrace.Launch {
	t.Helper()
	rec := &warptrace.Recorder{Wants: warptrace.Spread(samples)}
	dev, err := emu.New(ptx.SM90a, emu.Options{Observer: rec, Only: rec.Wants})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("k.ptx", exponentials)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	out, err := dev.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(t.Context(), device.Launch{Grid: device.D(blocks), Block: device.D(32), Params: []device.Param{device.Ptr(out)}}); err != nil {
		t.Fatal(err)
	}
	return rec.Launches()[0]
}

func chip(t *testing.T, name string) chips.Chip {
	t.Helper()
	c, err := chips.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOf checks that the time follows the longest block, and that reasons, phases and bands fit
// the time.
func TestOf(t *testing.T) {
	h200 := chip(t, "H200")
	p := Of(Work{Trace: trace(t, 8, 8)}, h200)
	// A round of the loop is a chain of an exponential and a branch.
	rounds := 450.0
	perRound := (p.Micros - h200.Get("launch_us")) * float64(h200.MHz) / rounds
	if perRound < h200.Get("mufu_latency") || perRound > 60 {
		t.Errorf("a round takes %.1f cycles", perRound)
	}
	if p.Low >= p.Micros || p.High <= p.Micros || p.Floor <= 0 || p.Floor >= p.Micros || p.Blocks != 8 || p.Clock != 1980 {
		t.Errorf("%+v", p)
	}
	sum := 0.0
	for _, r := range p.Reasons {
		sum += r.Micros
	}
	if math.Abs(sum-p.Micros) > 0.02*p.Micros {
		t.Errorf("the reasons add up to %v µs, the kernel takes %v", sum, p.Micros)
	}
	if len(p.Phases) != 2 || p.Phases[0].Name != "second.go" || p.Phases[0].Main() == "issue" {
		t.Errorf("the phases are %+v", p.Phases)
	}
	if l4 := Of(Work{Trace: trace(t, 8, 8)}, chip(t, "L4")); l4.High/l4.Low <= p.High/p.Low {
		t.Error("the band of a chip that nobody measured is not wider")
	}
}

// TestPlace checks which clusters the busiest group of SMs runs.
func TestPlace(t *testing.T) {
	l := trace(t, 8, 8)
	if p := placeAll(l, 132, 1); !slices.Equal(p.Clusters, []int{7}) {
		t.Errorf("of blocks that all run at once, %v is replayed, want the longest", p.Clusters)
	}
	// Blocks 0 to 3 start at once; the group that ends first takes the next one.
	if p := placeAll(l, 4, 1); !slices.Equal(p.Clusters, []int{3, 7}) {
		t.Errorf("the busiest of 4 groups runs %v, want 3 and 7", p.Clusters)
	}
	if p := placeAll(l, 1, 2); len(p.Clusters) != 8 || p.Resident != 2 {
		t.Errorf("one group runs %v", p.Clusters)
	}
	few := trace(t, 8, 2)
	if a, b := nearest(few, 1), nearest(few, 6); a != 0 || b != 1 {
		t.Errorf("blocks 1 and 6 count as %d and %d", a, b)
	}
}

// TestSum checks that launches add up and keep their phases apart.
func TestSum(t *testing.T) {
	p := Of(Work{Trace: trace(t, 8, 8)}, chip(t, "H200"))
	if one := Sum([]*Profile{p}, []string{"a"}); one != p {
		t.Error("the sum of one launch is not the launch")
	}
	s := Sum([]*Profile{p, p}, []string{"a", "b"})
	if s.Micros != 2*p.Micros || s.Floor != 2*p.Floor || len(s.Phases) != 4 || s.Blocks != 16 || s.Limit != p.Limit {
		t.Errorf("%+v", s)
	}
	if s.Phases[0].Name != "a second.go" || s.Phases[0].Share >= p.Phases[0].Share {
		t.Errorf("%+v", s.Phases[0])
	}
}

// TestCompare checks that the differences of reasons and phases add up to the difference in time.
func TestCompare(t *testing.T) {
	a, b := Of(Work{Trace: trace(t, 4, 8)}, chip(t, "H200")), Of(Work{Trace: trace(t, 8, 8)}, chip(t, "H200"))
	d := Compare(a, b)
	reasons := 0.0
	for _, r := range d.Reasons {
		reasons += r.Difference
	}
	if d.Micros <= 0 || math.Abs(reasons-d.Micros) > 0.02*d.Micros {
		t.Errorf("the reasons differ by %v µs, the kernels by %v", reasons, d.Micros)
	}
	if p := d.Phases[0]; p.Name != "second.go" || p.Mostly == "" || p.Difference < 0.2*d.Micros { // one of four sub-cores works
		t.Errorf("the first phase is %+v of %v µs", p, d.Micros)
	}
	other := *b
	other.Phases = []Part{{Name: "third.go", Reasons: []Spent{{"issue", 1}}}}
	d = Compare(a, &other)
	if len(d.Phases) != 3 {
		t.Errorf("phases of one kernel only are missing: %+v", d.Phases)
	}
}

// TestCold checks that operands that are in no cache come from DRAM.
func TestCold(t *testing.T) {
	l := record(t, loads, 8, 0)
	h200 := chip(t, "H200")
	warm, cold := Of(Work{Trace: l, Bytes: 1 << 20}, h200), Of(Work{Trace: l, Bytes: 1 << 26, Cold: true}, h200)
	if cold.Of(DRAM) <= 0 || cold.Of(DRAM) >= float64(1<<26)/h200.Get("dram_gbps")/1e3 || cold.Micros <= warm.Micros {
		t.Errorf("%.2f µs with cold caches, %.2f µs with warm ones", cold.Micros, warm.Micros)
	}
}

// TestClass checks the class of a kernel without products, and its band. TestOthers in package profile
// lists the classes of other kernels.
func TestClass(t *testing.T) {
	l := trace(t, 1, 1)
	if got := ClassOf(l); got != NoProducts {
		t.Errorf("a kernel without products is %q", got)
	}
	c := chip(t, "H200")
	for _, class := range Classes {
		if low, high := band(&c, class); !(low > 0.5 && low < 1 && high > 1 && high < 2) {
			t.Errorf("the band of %q is %v to %v", class, low, high)
		}
	}
	p := Of(Work{Trace: l}, c)
	if low, high := band(&c, NoProducts); math.Abs(p.Low-low*p.Micros) > 1e-9 || math.Abs(p.High-high*p.Micros) > 1e-9 {
		t.Errorf("%v µs has the band %v to %v", p.Micros, p.Low, p.High)
	}
}
