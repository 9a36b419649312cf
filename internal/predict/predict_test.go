package predict

import (
	"math"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestUnits has one instruction a unit and counts the clocks by hand.
func TestUnits(t *testing.T) {
	l4, h200 := chips.For(ptx.SM89, nil), chips.For(ptx.SM90a, nil)
	for _, c := range []struct {
		line count.Line
		chip chips.Chip
		want map[Unit]float64
	}{
		{count.Line{Instruction: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Executions: 100}, l4, map[Unit]float64{Tensor: 400, Issue: 25}},
		{count.Line{Instruction: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Executions: 100}, h200, map[Unit]float64{Tensor: 100 / 0.62, Issue: 25}},
		{count.Line{Instruction: "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", Executions: 100}, l4, map[Unit]float64{Tensor: 400, Issue: 25}},
		{count.Line{Instruction: "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3", Executions: 4}, h200, map[Unit]float64{Tensor: 64, Issue: 1}},
		{count.Line{Instruction: "wgmma.fence.sync.aligned", Executions: 4}, h200, map[Unit]float64{Issue: 1}},
		{count.Line{Instruction: "ex2.approx.ftz.f32", Executions: 100}, l4, map[Unit]float64{Exp: 200, Issue: 25}},
		{count.Line{Instruction: "fma.rn.f32", Executions: 100}, l4, map[Unit]float64{Float: 25, Issue: 25}},
		{count.Line{Instruction: "fma.rn.f32", Executions: 100}, chips.For(ptx.SM80, nil), map[Unit]float64{Float: 50, Issue: 25}},
		{count.Line{Instruction: "max.f16x2", Executions: 100}, l4, map[Unit]float64{Float: 25, Issue: 25}},
		{count.Line{Instruction: "add.u32", Executions: 100}, l4, map[Unit]float64{Integer: 50, Issue: 25}},
		{count.Line{Instruction: "setp.lt.f32", Executions: 100}, l4, map[Unit]float64{Integer: 50, Issue: 25}},
		{count.Line{Instruction: "mov.u32", Executions: 100}, l4, map[Unit]float64{}},
		{count.Line{Instruction: "ld.param.u64", Executions: 100}, l4, map[Unit]float64{}},
		{count.Line{Instruction: "ld.shared.f32", Executions: 100, Shared: count.SharedUse{Wavefronts: 300}}, l4, map[Unit]float64{Shared: 300, Issue: 25}},
		{count.Line{Instruction: "ld.global.f32", Executions: 10, Global: count.GlobalUse{Sectors: 40}}, l4, map[Unit]float64{Global: 20, Issue: 2.5}},
	} {
		got := costOf(&c.line, &c.chip)
		for u := range units {
			if math.Abs(got[u]-c.want[u]) > 1e-9 {
				t.Errorf("%s on %s: %v clocks of %v, want %v", c.line.Instruction, c.chip.Name, got[u], u, c.want[u])
			}
		}
	}
}

// work is two phases: 1000 clocks of tensor cores, then 600 of the special function
// unit, which a chip may overlap.
func work(blocks int) Work {
	return Work{Blocks: blocks, Bytes: 3e4, Counts: &count.Counts{Lines: []count.Line{
		{Line: 1, Instruction: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", Executions: 250, Source: "a/products.go:3:1"},
		{Line: 2, Instruction: "ex2.approx.ftz.f32", Executions: 300, Source: "a/softmax.go:9:1"},
	}}}
}

func TestProfile(t *testing.T) {
	l4 := chips.For(ptx.SM89, nil)
	p := Of(work(1), l4)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("the least time", p.Low, 1000.0/2040)
	near("phases one after the other", p.High, 1600.0/2040)
	near("memory", p.Of(DRAM), 0.1)
	if p.Limit != Tensor {
		t.Errorf("limited by %v", p.Limit)
	}
	if len(p.Phases) != 2 || p.Phases[0].Name != "products.go" || p.Phases[1].Limit != Exp || p.Lines[0].Line != 1 {
		t.Errorf("phases %+v, lines %+v", p.Phases, p.Lines)
	}
	near("shares", p.Phases[0].Share+p.Phases[1].Share, 1)
	// The busiest SM has one of 58 blocks, two of 59, and two of 116.
	near("58 blocks", Of(work(58), l4).Of(Tensor), p.Of(Tensor)/58)
	near("59 blocks", Of(work(59), l4).Of(Tensor), p.Of(Tensor)*2/59)
	near("116 blocks", Of(work(116), l4).Of(Tensor), p.Of(Tensor)*2/116)
}

// TestVain wants no time for polls that came too early.
func TestVain(t *testing.T) {
	once := &count.Line{Instruction: "mbarrier.try_wait.parity.shared.b64", Executions: 4}
	often := &count.Line{Instruction: once.Instruction, Executions: 1004, Vain: 1000}
	chip := chips.For(ptx.SM90a, nil)
	if a, b := costOf(once, &chip), costOf(often, &chip); a != b || a[Issue] == 0 {
		t.Errorf("%v and %v", a, b)
	}
}

// TestPhases names phases by line where all are of one file, and without a source.
func TestPhases(t *testing.T) {
	w := work(1)
	w.Counts.Lines[1].Source = "a/products.go:5:1"
	p := Of(w, chips.For(ptx.SM89, nil))
	if p.Phases[0].Name != "products.go:3" || p.Phases[1].Name != "products.go:5" {
		t.Errorf("phases of one file: %q and %q", p.Phases[0].Name, p.Phases[1].Name)
	}
	for i := range w.Counts.Lines {
		w.Counts.Lines[i].Source = ""
	}
	if p := Of(w, chips.For(ptx.SM89, nil)); len(p.Phases) != 1 || p.Phases[0].Name != "no source" {
		t.Errorf("phases without a source: %+v", p.Phases)
	}
}
