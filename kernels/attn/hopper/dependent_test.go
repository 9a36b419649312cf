package hopper

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/timing"
)

// dependentPairs returns configurations with and without dependent launches: for short problems
// and for long ones.
func dependentPairs(p problem.Attention) (pairs [][2]Config) {
	for _, c := range designed(p) {
		with := c
		with.Dependent = true
		pairs = append(pairs, [2]Config{c, with})
	}
	return pairs
}

// TestDependent wants a dependent kernel to touch no global memory before it waits, to let the next
// launch start, and to compute the same bits.
func TestDependent(t *testing.T) {
	p := square(1, 2, 150, 64, problem.E4M3)
	b := newBench(t, emulator(t, 1, nil), generate(t, "normal", p, 1))
	for _, pair := range dependentPairs(p) {
		k, err := New(p, pair[1])
		if err != nil {
			t.Fatal(err)
		}
		if !k.Launches[0].Dependent {
			t.Errorf("%v: the launch is not dependent", pair[1])
		}
		before, after, ok := strings.Cut(k.PTX, "griddepcontrol.wait;")
		if !ok || !strings.Contains(before, "griddepcontrol.launch_dependents;") {
			t.Errorf("%v: no wait after launch_dependents", pair[1])
		}
		for _, global := range []string{"ld.global", "st.global", "cp.async.bulk.tensor"} {
			if strings.Contains(before, global) || !strings.Contains(after, global) && global != "st.global" {
				t.Errorf("%v: %s must come only after the wait", pair[1], global)
			}
		}
		if want, got := b.run(pair[0]), b.Run(k); !bytes.Equal(got.O, want.O) {
			t.Errorf("%v: other bits than %v", pair[1], pair[0])
		}
	}
	if _, err := lateCopy().PTX(); err != nil {
		t.Error(err)
	}
}

// lateCopy copies words after a delay. It lets the next launch start at once.
func lateCopy() *build.Kernel {
	k := build.New("late_copy", ptx.SM90)
	to, from := build.ParamGlobal[build.U32](k, "to"), build.ParamGlobal[build.U32](k, "from")
	n := k.ParamU32("n")
	k.GriddepcontrolLaunchDependents()
	k.Loop(0, 20, 1, func(build.U32) { k.Nanosleep(k.U32(1000)) })
	k.Loop(k.CtaidX().MadLo(k.NtidX(), k.TidX()), n, k.NctaidX().MulLo(k.NtidX()), func(i build.U32) {
		to.At(i).St(from.At(i).Ld())
	})
	return k
}

// TestCardDependent writes Q late in one kernel and reads it in a dependent one, many times: the
// attention kernel must see what the kernel before it wrote last. It also logs the time of a launch in
// a graph of equal launches, with and without dependence.
func TestCardDependent(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	stream, err := card.(device.Streamer).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	late := kerneltest.Load(t, card, lateCopy(), nil)
	timer, err := timing.New(card)
	if err != nil {
		t.Fatal(err)
	}
	defer timer.Close()
	for _, name := range []string{"mission", "mission256", "long"} {
		p := named(t, name)
		b := newBench(t, card, random(p))
		q := b.Data("q")
		saved := make([]byte, q.Size())
		if err := q.Read(0, saved); err != nil {
			t.Fatal(err)
		}
		source := kerneltest.Buffer(t, card, saved)
		copyQ := device.Launch{Grid: device.D(8), Block: device.D(256), Params: []device.Param{device.Ptr(q), device.Ptr(source), device.U32(uint32(q.Size() / 4))}}
		for _, pair := range dependentPairs(p) {
			want := b.run(pair[0])
			kernel, launch := b.load(pair[1])
			for range 20 {
				for _, err := range []error{
					stream.Fill(q, 0), stream.Fill(b.O, 0xff), stream.Launch(late, copyQ), stream.Launch(kernel, launch), stream.Sync(t.Context()),
				} {
					if err != nil {
						t.Fatal(err)
					}
				}
				if got := b.Read(); !bytes.Equal(got.O, want.O) {
					t.Fatalf("%s, %v: the kernel read Q before the launch before it had written it", name, pair[1])
				}
			}
		}
		logDependentTimes(t, timer, b, dependentPairs(p))
	}
}

func logDependentTimes(t *testing.T, timer *timing.Timer, b *bench, pairs [][2]Config) {
	t.Helper()
	var timed []timing.Candidate
	for _, pair := range pairs {
		for _, c := range pair {
			kernel, launch := b.load(c)
			w, err := timer.GraphReplay(t.Context(), timing.Launches(c.String(), kernel, 0, launch), timing.Warm, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			timed = append(timed, w)
		}
	}
	run, err := timing.Interleave(t.Context(), timing.Plan{WarmUp: 5 * time.Millisecond, Stop: timing.Stop{Least: 10, Most: 30, Time: time.Second}}, timed...)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range timed {
		t.Logf("%v %-60s p50 %7.2f µs", b.In.P.Shape, w.Name(), run.Summary(i).P50)
	}
}
