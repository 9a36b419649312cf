package timing

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// spoiling is a Spoiler that launches a kernel and counts its calls.
type spoiling struct {
	kernel     *kernel
	launch     device.Launch
	begun      int
	runs, solo int // runs with launches, and of the spoiling alone
	passes     int
	fail       error
}

func (s *spoiling) Begin(context.Context) error { s.begun++; return s.fail }

func (s *spoiling) Next(_ device.Stream, passes int, launches bool) error {
	s.passes = passes
	if launches {
		s.runs++
	} else {
		s.solo++
	}
	return nil
}

func (s *spoiling) Spoil(to device.Stream, pass int) error { return to.Launch(s.kernel, s.launch) }

// spoiled returns work whose spoiling takes 3 µs per pass.
func (g *gpu) spoiled(sets int) (Work, *spoiling) {
	w := g.work("k", 10*time.Microsecond, 10, sets)
	b, _ := g.Alloc(1)
	s := &spoiling{kernel: &kernel{g: g, name: "spoil", warm: 3 * time.Microsecond}, launch: device.Launch{Params: []device.Param{device.Ptr(b)}}}
	w.Spoiler = s
	return w, s
}

// TestSpoiledGraph wants the spoiling before each pass, each set used once per pass, and a time
// without the spoiling.
func TestSpoiledGraph(t *testing.T) {
	g := newGPU()
	w, s := g.spoiled(4)
	p, err := timer(t, g).GraphReplay(t.Context(), w, Warm, 9)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Method(); got != (Method{Graph, Warm, 12, 4, "events"}) {
		t.Errorf("%+v", got)
	}
	if err := p.WarmUp(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	g.launches, s.runs, s.solo = nil, 0, 0
	xs, err := p.Sample(t.Context(), 6)
	if err != nil {
		t.Fatal(err)
	}
	all(t, xs, 10)
	all(t, p.Controls(), 3.0/4)
	// One untimed run, then six samples, each beside a run of the spoiling alone.
	if s.begun != 1 || s.runs != 1+6 || s.solo != 6 || s.passes != 3 {
		t.Errorf("%+v", s)
	}
	runs := strings.Join(g.launches, " ") + " "
	runs = strings.ReplaceAll(runs, "hold ", "")
	pass := "spoil " + strings.Repeat("k ", 4)
	alone := strings.Repeat("spoil ", 3)
	launches := strings.Repeat(pass, 3)
	want := launches + strings.Repeat(launches+alone+alone+launches, 3) // the order alternates
	if runs != want {
		t.Errorf("launches:\n%s\nwant\n%s", runs, want)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSpoiledEvent wants the spoiling of a single launch outside the events.
func TestSpoiledEvent(t *testing.T) {
	for _, cache := range []Cache{Warm, Cold} {
		g := newGPU()
		w, s := g.spoiled(1)
		p, err := timer(t, g).EventTime(w, cache)
		if err != nil {
			t.Fatal(err)
		}
		xs, err := p.Sample(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		want := 10.0
		if cache == Cold {
			want = 30
		}
		all(t, xs, want)
		if p.Controls() != nil || s.begun != 1 || s.passes != 1 || s.runs < 5 || s.solo != 0 {
			t.Errorf("%s: %v, %+v", cache, p.Controls(), s)
		}
	}
}

// TestControlsAreKept wants the subtracted times in the run, and calibration without them.
func TestControlsAreKept(t *testing.T) {
	g := newGPU()
	w, s := g.spoiled(5)
	p, err := timer(t, g).GraphReplay(t.Context(), w, Warm, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n := p.Method().Launches; n != 100 {
		t.Errorf("%d launches of 10 µs, want a millisecond without the spoiling", n)
	}
	plain, _ := timer(t, g).EventTime(g.work("plain", time.Microsecond, 10, 1), Warm)
	r, err := Interleave(t.Context(), Plan{WarmUp: 1, Batch: 2, Stop: Stop{Least: 4, Most: 4}}, p, plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Batches {
		if want := len(b.Micros) * (1 - b.Candidate); len(b.Controls) != want {
			t.Errorf("candidate %d: %d controls, want %d", b.Candidate, len(b.Controls), want)
		}
		for _, c := range b.Controls {
			if !(math.Abs(c-3.0/5) <= 1e-9) {
				t.Errorf("a control of %v", c)
			}
		}
	}
	s.fail = errors.New("no inputs")
	if _, err := p.Sample(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "k: no inputs") {
		t.Errorf("%v", err)
	}
}
