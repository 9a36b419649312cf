package decode

import (
	"encoding/binary"
	"errors"
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

// alternate appends the tokens of two steps in turn and wants each launch that follows to read them.
func alternate(t *testing.T, s device.Stream, b *bench, c Config, rounds int) step {
	t.Helper()
	steps, want := newSteps(t, s, b, c)
	for n := range rounds {
		if err := errors.Join(steps[n%2].queue(s), s.Sync(t.Context())); err != nil {
			t.Fatal(err)
		}
		if !b.Read().Same(want[n%2]) {
			t.Fatalf("%v, %v: the kernel read keys before the launch before it had written them", b.In.P, c)
		}
	}
	return steps[0]
}

// streamOf returns a stream of a device, which is closed when the test ends.
func streamOf(t *testing.T, dev device.Device) device.Stream {
	t.Helper()
	s, err := dev.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// padded returns a bench for padded keys, which have room for new tokens.
func padded(t *testing.T, dev device.Device, p problem.Attention) *bench {
	p.Keys = problem.Padded
	in := meaningless(p)
	in.Places = ref.NewPlaces(in.P, 1)
	return newBench(t, dev, in)
}

// TestAppendAndRead is TestCardDependent on the emulator, without times.
func TestAppendAndRead(t *testing.T) {
	dev := emulator(t, ptx.SM90a, 0, nil)
	b := padded(t, dev, attends(1, 2, 1, 1, 300, 64))
	b.SMs = 1
	for _, c := range []Config{Default(b.In.P, h200), dependent(Default(b.In.P, h200))} {
		alternate(t, streamOf(t, dev), b, c, 4)
	}
}

// TestCardDependent appends tokens and launches a dependent kernel that reads them, many times: the kernel
// must see the new keys. It also logs the times of decode alone and of both launches with and without
// dependence, and what dependence saves.
func TestCardDependent(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	stream := streamOf(t, card)
	timer, err := timing.New(card)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	for _, p := range []problem.Attention{attends(1, 32, 8, 1, 8192, 128), attends(16, 32, 8, 1, 8192, 128), attends(64, 32, 8, 1, 2048, 128)} {
		b := padded(t, card, p)
		plain, overlapped := alternate(t, stream, b, Default(b.In.P, h200), 40), alternate(t, stream, b, dependent(Default(b.In.P, h200)), 40)
		var works []timing.Candidate
		for _, x := range []struct {
			name  string
			queue func(device.Stream) error
		}{
			{"decode", func(s device.Stream) error { return s.Launch(plain.reads, plain.launch) }},
			{"append, then decode", plain.queue}, {"append, then dependent decode", overlapped.queue},
		} {
			w, err := timer.GraphReplay(t.Context(), timing.Work{Name: x.name, Queue: func(s device.Stream, _ int) error { return x.queue(s) }}, timing.Warm, 0)
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
			t.Logf("%v: %-30s p50 %7.2f µs", p, w.Name(), run.Summary(i).P50)
		}
		t.Logf("%v: dependent launch saves %.2f µs of the %.2f µs that appending adds", p, run.Summary(1).P50-run.Summary(2).P50, run.Summary(1).P50-run.Summary(0).P50)
	}
}
