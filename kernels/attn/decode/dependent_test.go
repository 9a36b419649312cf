package decode

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/kernels/attn/cache"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/timing"
)

// dependent returns a configuration with dependent launch.
func dependent(c Config) Config {
	c.Dependent = true
	return c
}

// TestDependent wants a dependent kernel to touch no global memory before it waits, to let the next
// launch start, and to compute the same bits.
func TestDependent(t *testing.T) {
	for _, keys := range []problem.Placement{problem.Uniform, problem.Paged} {
		p := attends(2, 4, 1, 1, 700, 64)
		p.Keys, p.LSE = keys, true
		in := generate(t, "normal", p, 1)
		p = in.P
		for _, c := range []Config{Default(p, h200), Invariant(p, h200), Prefill(p, h200)} {
			k, err := New(p, dependent(c), ptx.SM90)
			if err != nil {
				t.Fatal(err)
			}
			if !k.Launches[0].Dependent {
				t.Errorf("%v: the launch is not dependent", c)
			}
			before, after, ok := strings.Cut(k.PTX, "griddepcontrol.wait;")
			if !ok || !strings.Contains(before, "griddepcontrol.launch_dependents;") {
				t.Errorf("%v: no wait after launch_dependents", c)
			}
			for _, global := range []string{"ld.global", "st.global", "cp.async"} {
				if strings.Contains(before, global) || !strings.Contains(after, global) {
					t.Errorf("%v: %s must come only after the wait", c, global)
				}
			}
			b := newBench(t, emulator(t, ptx.SM90, 0, nil), in)
			if want := b.run(c); !b.Run(k).Same(want) {
				t.Errorf("%v: other bits than without dependent launch", c)
			}
		}
	}
	if _, err := New(attends(1, 1, 1, 1, 100, 64), dependent(Default(attends(1, 1, 1, 1, 100, 64), h200)), ptx.SM89); err == nil || !strings.Contains(err.Error(), "sm_90") {
		t.Errorf("sm_89 has no dependent launch: %v", err)
	}
}

// newToken returns the launch that appends one token to each sequence of a bench with padded keys. The
// elements of the token have the given magnitude.
func newToken(t *testing.T, b *bench, magnitude float64) (device.Kernel, device.Launch) {
	t.Helper()
	a := b.In.P
	p := cache.Problem{B: a.B, Hkv: a.Hkv, D: a.D, New: 1, Skv: a.Skv, Input: problem.F16, Format: a.Format, Scaling: problem.PerHead, Layout: a.Layout, Keys: problem.Padded}
	k, err := cache.New(p, ptx.SM90)
	if err != nil {
		t.Fatal(err)
	}
	program, err := device.LoadProgram(b.Dev, k)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := program.Bind(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var token, lengths []byte
	for i := range a.B * a.Hkv * a.D {
		token = binary.LittleEndian.AppendUint16(token, fp8.F16(float32(magnitude*math.Sin(float64(i)))))
	}
	for range a.B {
		lengths = binary.LittleEndian.AppendUint32(lengths, uint32(a.Skv-1))
	}
	data := map[string]device.Buffer{"k_new": kerneltest.Buffer(t, b.Dev, token), "v_new": kerneltest.Buffer(t, b.Dev, token), "cache_seqlens": kerneltest.Buffer(t, b.Dev, lengths)}
	var memory []device.Slice
	for _, m := range plan.Memory {
		buffer := data[m.Name]
		if buffer == nil {
			buffer = b.Data(m.Name)
		}
		memory = append(memory, device.Slice{Buffer: buffer})
	}
	w, err := program.Work(plan, memory)
	if err != nil {
		t.Fatal(err)
	}
	return program.Entry(k.Launches[0].Entry), w.Launches()[0]
}

// step launches two kernels one after the other: one that appends tokens, and one that reads them.
type step struct {
	appends, reads device.Kernel
	token, launch  device.Launch
}

func (x step) queue(s device.Stream) error {
	if err := s.Launch(x.appends, x.token); err != nil {
		return err
	}
	return s.Launch(x.reads, x.launch)
}

// newSteps returns the steps of a configuration with two different tokens, and what they write.
func newSteps(t *testing.T, s device.Stream, b *bench, c Config) (steps [2]step, want [2]result) {
	t.Helper()
	k, err := New(b.In.P, c, ptx.SM90a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range steps {
		x := &steps[i]
		x.appends, x.token = newToken(t, b, float64(1+2*i))
		x.reads, x.launch = b.Only(k)
		if err := s.Launch(x.appends, x.token); err != nil {
			t.Fatal(err)
		}
		if err := s.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		want[i] = b.Run(k)
	}
	if want[0].Same(want[1]) {
		t.Fatalf("%v: the new token changes nothing", b.In.P)
	}
	return steps, want
}

// TestCardDependent appends tokens and launches a dependent kernel that reads them, many times: the kernel
// must see the new keys. It also logs the time of both launches, with and without dependence.
func TestCardDependent(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	stream, err := card.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	timer, err := timing.New(card)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	for _, p := range []problem.Attention{attends(1, 32, 8, 1, 8192, 128), attends(16, 32, 8, 1, 8192, 128)} {
		p.Keys = problem.Padded
		in := meaningless(p)
		in.Places = ref.NewPlaces(in.P, 1)
		b := newBench(t, card, in)
		var works []timing.Candidate
		for _, c := range []Config{Default(p, h200), dependent(Default(p, h200))} {
			steps, want := newSteps(t, stream, b, c)
			for n := range 40 {
				if err := steps[n%2].queue(stream); err != nil {
					t.Fatal(err)
				}
				if err := stream.Sync(t.Context()); err != nil {
					t.Fatal(err)
				}
				if !b.Read().Same(want[n%2]) {
					t.Fatalf("%v, %v: the kernel read keys before the launch before it had written them", p, c)
				}
			}
			w, err := timer.GraphReplay(t.Context(), timing.Work{Name: c.String(), Queue: func(s device.Stream, _ int) error { return steps[0].queue(s) }}, timing.Warm, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			works = append(works, w)
		}
		run, err := timing.Interleave(t.Context(), timing.Plan{WarmUp: 5 * time.Millisecond, Stop: timing.Stop{Least: 10, Most: 30, Time: time.Second}}, works...)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range works {
			t.Logf("%v, append and decode: %-60s p50 %7.2f µs", p, w.Name(), run.Summary(i).P50)
		}
	}
}
