package emu_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/observe"
	"github.com/GOATnote-Inc/attest/examples"
	"github.com/GOATnote-Inc/attest/ptx"
)

// recorder is an observer that records all events.
type recorder struct {
	mu     sync.Mutex
	blocks int
	ended  int
	over   int
	lines  []string
	steps  map[string]int // number of lanes, by opcode
}

func (r *recorder) Launch(*observe.LaunchInfo) observe.LaunchObserver { return r }
func (r *recorder) Wants(*observe.Inst) bool                          { return true }

func (r *recorder) Cluster(c *observe.ClusterInfo) observe.ClusterObserver {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blocks += len(c.Blocks)
	return &clusterRecorder{r}
}

func (r *recorder) End(error) { r.over++ }

// clusterRecorder is the recorder of a cluster.
type clusterRecorder struct{ *recorder }

func (r *clusterRecorder) Start(*observe.Async)       {}
func (r *clusterRecorder) Mbarrier(*observe.Mbarrier) {}

func (r *clusterRecorder) Open(o *observe.Opening) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf("open %d %x", o.Bar, o.Warps))
}

func (r *clusterRecorder) Access(a *observe.Access) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.Warp == 0 && a.Mask>>3&1 != 0 {
		r.lines = append(r.lines, fmt.Sprintf("touch %s+%#x %d %v", a.Space, a.Offsets[3], a.Size, a.Write))
	}
}

func (r *clusterRecorder) Step(s *observe.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Lanes(func(int) { r.steps[s.Inst.Op.Text]++ })
	if s.Warp != 0 {
		return
	}
	switch s.Inst.Op.Name {
	case "st":
		space, addr := s.Address(s.Arg("a"), s.Space("a"), 3)
		r.lines = append(r.lines, fmt.Sprintf("st %s+%#x = %d", space, addr&0xfff, s.Value(s.Arg("b"), 3)))
	case "bar":
		r.lines = append(r.lines, "reach")
	case "cp":
		r.lines = append(r.lines, strings.Join(s.Inst.Op.Mods[:2], "."))
	}
}

func (r *clusterRecorder) Pass(s *observe.Step) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Warp == 0 {
		r.lines = append(r.lines, "pass")
	}
}

func (r *clusterRecorder) Complete(c *observe.Completion) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Warp == 0 && c.Lane == 3 {
		r.lines = append(r.lines, "complete")
	}
}

func (r *clusterRecorder) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended++
}

const observedPTX = `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in) {
	.shared .align 16 .b32 s[64];
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	.reg .pred %p;
	ld.param.u64 %rd0, [in];
	mov.u32 %r0, %tid.x;
	shl.b32 %r1, %r0, 2;
	st.shared.u32 [%r1], %r0;
	bar.sync 0;
	setp.ge.u32 %p, %r0, 16;
	@%p bra DONE;
	cp.async.ca.shared.global [%r1], [%rd0], 4;
	cp.async.commit_group;
	cp.async.wait_group 0;
DONE:
	ret;
}
`

// TestObserver checks that events are announced in order, that operands can be read, and that
// waits and completions follow their starts.
func TestObserver(t *testing.T) {
	r := &recorder{steps: map[string]int{}}
	dev, err := emu.New(ptx.SM80, emu.Options{Observer: r})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load("k.ptx", observedPTX)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	in, err := dev.Alloc(4)
	if err != nil {
		t.Fatal(err)
	}
	err = k.Launch(context.Background(), device.Launch{Grid: device.D(1), Block: device.D(64), Params: []device.Param{device.Ptr(in)}})
	if err != nil {
		t.Fatal(err)
	}
	want := "st shared+0xc = 3; touch shared+0xc 4 true; reach; open 0 [ffffffff ffffffff]; pass; " +
		"async.ca; touch shared+0xc 4 true; touch global+0x0 4 false; async.commit_group; async.wait_group; complete"
	if got := strings.Join(r.lines, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for op, lanes := range map[string]int{"bar.sync": 64, "bra": 48, "cp.async.ca.shared.global": 16, "ret": 64, "setp.ge.u32": 64} {
		if r.steps[op] != lanes {
			t.Errorf("%s was announced for %d lanes, want %d", op, r.steps[op], lanes)
		}
	}
	if r.blocks != 1 || r.ended != 1 || r.over != 1 {
		t.Errorf("%d blocks, %d ends", r.blocks, r.ended)
	}
}

// TestObserverChangesNothing checks that an observed launch gives the same bits as an
// unobserved one.
func TestObserverChangesNothing(t *testing.T) {
	text, err := examples.Reduce().PTX()
	if err != nil {
		t.Fatal(err)
	}
	run := func(o observe.Observer) []byte {
		dev, err := emu.New(ptx.SM80, emu.Options{Observer: o})
		if err != nil {
			t.Fatal(err)
		}
		m, err := dev.Load("reduce.ptx", text)
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("reduce")
		if err != nil {
			t.Fatal(err)
		}
		x, err := dev.Alloc(4 * 5000)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 4*5000)
		for i := range data {
			data[i] = byte(i * 7 % 61)
		}
		if err := x.Write(0, data); err != nil {
			t.Fatal(err)
		}
		total, err := dev.Alloc(4)
		if err != nil {
			t.Fatal(err)
		}
		if err := total.Write(0, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		err = k.Launch(context.Background(), device.Launch{
			Grid: device.D(3), Block: device.D(256),
			Params: []device.Param{device.Ptr(x), device.Ptr(total), device.U32(5000)},
		})
		if err != nil {
			t.Fatal(err)
		}
		out := make([]byte, 4)
		if err := total.Read(0, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	r := &recorder{steps: map[string]int{}}
	if plain, seen := run(nil), run(r); string(plain) != string(seen) {
		t.Errorf("plain %x, observed %x", plain, seen)
	}
	if r.steps["shfl.sync.bfly.b32"] == 0 || r.blocks != 3 || r.ended != 3 {
		t.Errorf("%d shuffles, %d blocks, %d ends", r.steps["shfl.sync.bfly.b32"], r.blocks, r.ended)
	}
}
