package emu_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/ptx"
)

// failing is an observer that panics at one moment.
type failing struct {
	recorder
	at string
}

func (f *failing) fail(at string) {
	if f.at == at {
		panic("a mistake of the observer")
	}
}

func (f *failing) Launch(*observe.LaunchInfo) observe.LaunchObserver { f.fail("launch"); return f }
func (f *failing) Wants(*observe.Inst) bool                          { f.fail("wants"); return true }
func (f *failing) End(error)                                         { f.fail("end") }

func (f *failing) Cluster(c *observe.ClusterInfo) observe.ClusterObserver {
	f.fail("cluster")
	return &failingCluster{clusterRecorder{&f.recorder}, f}
}

type failingCluster struct {
	clusterRecorder
	f *failing
}

func (c *failingCluster) Step(*observe.Step) { c.f.fail("step") }
func (c *failingCluster) End()               { c.f.fail("cluster end") }

// TestObserverBug wants the error of a launch to name an observer that panics, whenever it does
// and in whichever goroutine, and the next launch to work.
func TestObserverBug(t *testing.T) {
	const parallel, serial = "", "atom.global.add.u32 %r1, [%rd1], 1;\n\tst.global.u32 [%rd1], %r1;"
	for _, body := range []string{parallel, serial} {
		for _, at := range []string{"launch", "wants", "cluster", "step", "cluster end", "end"} {
			o := &failing{at: at, recorder: recorder{steps: map[string]int{}}}
			dev, err := emu.New(ptx.SM90a, emu.Options{Observer: o})
			if err != nil {
				t.Fatal(err)
			}
			m, err := dev.Load("k.ptx", ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"+
				"\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [p];\n\t"+body+"\n\tret;\n}\n")
			if err != nil {
				t.Fatal(err)
			}
			k, err := m.Kernel("k")
			if err != nil {
				t.Fatal(err)
			}
			b, err := dev.Alloc(4)
			if err != nil {
				t.Fatal(err)
			}
			l := device.Launch{Grid: device.D(8), Block: device.D(64), Params: []device.Param{device.Ptr(b)}}
			var bug *device.Bug
			if err := k.Launch(t.Context(), l); !errors.As(err, &bug) || !strings.Contains(bug.Stack, "bug_test.go") {
				t.Errorf("a panic at %s: %v", at, err)
			}
			o.at = ""
			if err := k.Launch(t.Context(), l); err != nil {
				t.Errorf("after a panic at %s: %v", at, err)
			}
		}
	}
}
