package emu_test

import (
	"context"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

const guardedPTX = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k() {
	.reg .b32 %r<3>;
	.reg .pred %p<3>;
	mov.u32 %r0, %laneid;
	setp.lt.u32 %p0, %r0, 8;
	setp.gt.u32 %p1, %r0, 99;
	@%p0 add.u32 %r1, %r0, 1;
	@%p1 sub.u32 %r1, %r0, 1;
	@%p1 bra DONE;
	@%p0 bra DONE;
	xor.b32 %r1, %r0, 1;
DONE:
	ret;
}
`

// laneRecorder records the lanes at each instruction.
type laneRecorder struct {
	*recorder
	active map[string]uint32
}

func newLaneRecorder() *laneRecorder {
	return &laneRecorder{&recorder{steps: map[string]int{}}, map[string]uint32{}}
}

func (r *laneRecorder) Launch(*observe.LaunchInfo) observe.LaunchObserver { return r }

func (r *laneRecorder) Cluster(*observe.ClusterInfo) observe.ClusterObserver {
	return &laneCluster{&clusterRecorder{r.recorder}, r}
}

type laneCluster struct {
	*clusterRecorder
	r *laneRecorder
}

func (c *laneCluster) Step(s *observe.Step) {
	c.r.active[s.Inst.String()] = s.Active
	c.clusterRecorder.Step(s)
}

// skipRecorder also records instructions that no lane executes.
type skipRecorder struct{ *laneRecorder }

func (r skipRecorder) WantsSkipped() bool                                { return true }
func (r skipRecorder) Launch(*observe.LaunchInfo) observe.LaunchObserver { return r }

// TestTee observes one launch with two observers: each gets the instructions that it wants.
// Only an observer that asks for skipped instructions gets the instructions that no lane
// executes, with their active lanes.
func TestTee(t *testing.T) {
	plain, skips := newLaneRecorder(), skipRecorder{newLaneRecorder()}
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: observe.Tee(plain, skips)})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("k.ptx", guardedPTX)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Launch(context.Background(), device.Launch{Block: device.D(32)}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*laneRecorder{plain, skips.laneRecorder} {
		if r.steps["add.u32"] != 8 || r.steps["xor.b32"] != 24 || r.steps["bra"] != 8 || r.ended != 1 || r.over != 1 {
			t.Errorf("steps %v, %d ends of clusters, %d of launches", r.steps, r.ended, r.over)
		}
	}
	if _, told := plain.active["@%p1 sub.u32 %r1, %r0, 1;"]; told {
		t.Error("a plain observer gets an instruction that no lane executes")
	}
	for in, want := range map[string]uint32{
		"@%p0 add.u32 %r1, %r0, 1;": 1<<32 - 1, "@%p1 sub.u32 %r1, %r0, 1;": 1<<32 - 1,
		"@%p1 bra DONE;": 1<<32 - 1, "@%p0 bra DONE;": 1<<32 - 1, "xor.b32 %r1, %r0, 1;": 0xffffff00,
	} {
		if got, told := skips.active[in]; !told || got != want {
			t.Errorf("%s: told %v, active %08x, want %08x; have %v", in, told, got, want, skips.active)
		}
	}
}
