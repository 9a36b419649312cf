package marks_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"github.com/GOATnote-Inc/attest/build/marks"
	"github.com/GOATnote-Inc/attest/device"
	_ "github.com/GOATnote-Inc/attest/device/cuda"
)

var traceFile = flag.String("trace", "", "file for the trace of TestCard, for ui.perfetto.dev")

// TestCard records marks on a GPU. The clocks of a warp rise, blocks on one SM have one clock, and the launch ends: each
// block lies in the time of the whole launch.
func TestCard(t *testing.T) {
	dev, err := device.Open("cuda:0")
	if err != nil {
		t.Skip(err)
	}
	defer dev.Close()
	const threads, rounds, limit = 96, 20, 32
	info := dev.Info()
	blocks := 2 * info.SMs
	off, none := kernel(0, rounds)
	want, _ := runOn(t, dev, off, none, blocks, threads)
	k, m := kernel(limit, rounds)
	got, buffer := runOn(t, dev, k, m, blocks, threads)
	if !bytes.Equal(got, want) {
		t.Error("marks change the results")
	}
	list, err := m.Read(buffer, blocks, threads)
	if err != nil {
		t.Fatal(err)
	}
	first, last, used := list[0].Time, list[0].Time, map[int]bool{}
	var cycles, steps float64
	for _, w := range list {
		count := rounds + 1
		if w.Warp == 0 {
			count++
		}
		if len(w.Marks) != count {
			t.Fatalf("warp %d of block %d has %d marks, want %d", w.Warp, w.Block, len(w.Marks), count)
		}
		at := w.Clock
		for _, x := range w.Marks {
			if x.Clock <= at {
				t.Errorf("warp %d of block %d: %s at %d, after %d", w.Warp, w.Block, x.Name, x.Clock, at)
			}
			if x.Name == "round" {
				cycles, steps = cycles+float64(x.Clock-at), steps+1
			}
			at = x.Clock
		}
		used[w.SM] = true
		first, last = min(first, w.Time), max(last, w.Time)
	}
	if len(used) < info.SMs/2 || len(used) > info.SMs {
		t.Errorf("%d blocks ran on %d of %d SMs", blocks, len(used), info.SMs)
	}
	if last-first > 1e6 {
		t.Errorf("the blocks of one launch start within %d ns", last-first)
	}
	t.Logf("%d blocks on %d SMs start within %d ns; a round with its mark takes %.1f cycles on average", blocks, len(used), last-first, cycles/steps)
	writeTrace(t, list, float64(info.Clock))
}

// writeTrace writes the trace to the file of the flag.
func writeTrace(t *testing.T, list []marks.Warp, mhz float64) {
	t.Helper()
	var out bytes.Buffer
	if err := marks.WriteTrace(&out, list, mhz); err != nil {
		t.Fatal(err)
	}
	if *traceFile == "" {
		return
	}
	if err := os.WriteFile(*traceFile, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
