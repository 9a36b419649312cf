package campaign

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestChecks wants an error that names the flag that the user typed.
func TestChecks(t *testing.T) {
	d80 := problem.Named{Shape: problem.Square(1, 8, 512, 80)}
	for want, err := range map[string]error{
		"--format e3m4":                       (&Selection{Format: "e3m4"}).Check(),
		"--output f32: use f16 or bf16":       (&Selection{Output: "f32"}).Check(),
		"--head-dim 80":                       (&Selection{HeadDim: problem.HeadDim{D: 80}}).Check(),
		"--abi describes":                     second((&Selection{ABI: "a.json"}).Named([]string{"stage2"})),
		"--entry names":                       second((&Selection{Entry: "k"}).Named(nil)),
		"--set changes kernels":               second((&Selection{Set: "swizzle"}).Named([]string{"mine.ptx"})),
		"--against numpy":                     (&Campaign{Against: []string{"numpy"}}).Check(),
		"--processes 101":                     (&Campaign{Processes: 101}).Check(),
		"--plan huge: use smoke, quick or":    (&Gate{Plan: "huge"}).check(),
		"--distribution odd":                  (&Gate{Plan: "smoke", Distributions: []string{"odd"}}).check(),
		"--samples":                           (&Bench{}).check(),
		"--mode loop: use graph or event":     second(Methods([]string{"loop"}, nil)),
		"--cache hot: use warm or cold":       second(Methods([]string{"graph"}, []string{"hot"})),
		"--case-seed x is not a whole number": second(parseSeeds([]string{"x"})),
		"--shape 1,8,512,80: head dimension":  second((&Selection{}).OneFor(d80, []string{"stage3b"})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestEntry wants an entry that does not exist answered with those that do.
func TestEntry(t *testing.T) {
	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, described := filepath.Join(dir, "k.ptx"), filepath.Join(dir, "k.json")
	other := *s.Kernel
	other.Launches = slices.Clone(other.Launches)
	other.Launches[0].Entry = "old"
	other.PTX = ""
	text, err := abi.Write(&other)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{file: s.PTX, described: string(text)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = (&Selection{PTX: file, ABI: described}).external(file)
	if err == nil || !strings.Contains(err.Error(), `--abi: k.ptx:old: the PTX has no entry "old": it has `+s.Entries()[0]) {
		t.Error(err)
	}
	_, err = (&Selection{PTX: file, ABI: described, Entry: "mine"}).external(file)
	if err == nil || !strings.Contains(err.Error(), `--entry: k.ptx:mine: the PTX has no entry "mine"`) {
		t.Error(err)
	}
}

// TestPlans wants every plan to be able to fail, and longer plans to have more cases.
func TestPlans(t *testing.T) {
	s, err := lab.Preset("stage3b", problem.Attention{}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := lab.Measure(t.Context(), s, Plan("smoke"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := gate.Judge(r); v.Outcome != record.Correct {
		t.Errorf("a right kernel is %s by the smoke plan: %s", v.Outcome, v.Why)
	}
	if full, quick := Plan("full"), Plan("quick"); len(full.Cases) <= len(quick.Cases) || len(quick.Cases) <= len(Plan("smoke").Cases) {
		t.Error("plans do not grow")
	}
}

// TestKeeper keeps a record without a verdict, as bench does.
func TestKeeper(t *testing.T) {
	k := Keeper{Dir: filepath.Join(t.TempDir(), "evidence")}
	if err := k.openStore(); err != nil {
		t.Fatal(err)
	}
	r := recordtest.New("hopper-pair")
	hash, verdict, err := k.keep(r, nil)
	if err != nil || len(hash) != 64 || verdict != "" {
		t.Fatalf("%q, %q, %v", hash, verdict, err)
	}
	s, err := evidence.Open(k.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Verify(); !c.OK() || c.Records != 1 || c.Verdicts != 0 {
		t.Errorf("%+v", c)
	}
	if h, v, err := (&Keeper{}).keep(r, nil); h+v != "" || err != nil {
		t.Errorf("%q, %q, %v: there is no store", h, v, err)
	}
}

func TestSkippedBench(t *testing.T) {
	var out bytes.Buffer
	(&BenchResult{Kernel: record.Kernel{Name: "hopper-two-pairs"}, Shapes: []string{"big128"}, Skipped: "no room"}).Show(&cli.Env{Out: &out}, false)
	if want := "hopper-two-pairs  big128\n  left out: no room\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestTimes prints a run with a baseline and a rival.
func TestTimes(t *testing.T) {
	sum := func(us float64) stats.Summary {
		return stats.Summary{N: 100, P50: us, P90: us * 1.1, CV: 0.02, Median: stats.Interval{Low: us * 0.99, High: us * 1.01}}
	}
	compared := func(ratio float64, n int) stats.Comparison {
		return stats.Comparison{Ratio: ratio, Interval: stats.Interval{Low: ratio * 0.98, High: ratio * 1.02}, Replicates: n}
	}
	base := compared(0.8, 5)
	var out bytes.Buffer
	printTimes(&cli.Env{Out: &out, Color: term.Never}, &record.Performance{
		Ceiling: record.Ceiling{Bandwidth: 4300, FLOPs: 900, Launch: 1.9}, Notes: []string{"jax: not installed"},
		Shapes: []record.Times{{
			Shape: problem.Square(1, 8, 512, 64), Method: timing.Method{Mode: timing.Graph, Cache: timing.Warm}, Names: []string{"stage3b", "stage2", "torch flash f16"},
			Summaries: []stats.Summary{sum(8), sum(10), sum(123)}, TFLOPs: []ref.Float{67.1, 53.7, 4.36}, Baseline: &base,
			Rivals: []record.Rival{{Name: "torch flash f16", Comparison: compared(0.065, 1)}},
			Energy: []timing.Energy{{Joules: 1000, Seconds: 2, Launches: 200_000}, {Joules: 1200, Seconds: 2, Launches: 100_000}, {Joules: 600, Seconds: 3, Launches: 20_000}},
		}},
	})
	for _, want := range []string{
		// 5 mJ over 8 µs · 67.1 TFLOP/s = 537 million operations are 9.31 pJ each.
		"  1,8,512,64  stage3b                      5  500         9.31\n", "  torch flash f16             30  200 ",
		"  1,8,512,64  graph, warm  stage3b          8.00    7.92 – 8.08  8.80   2.0     67.1\n",
		"stage2           10.0    9.90 – 10.1  11.0   2.0     53.7  0.800 [0.784, 0.816]\n",
		"torch flash f16   123      122 – 124   135   2.0     4.36  0.07, 1 process\n",
		"4300 GB/s, 900 TFLOP/s, 1.90 µs for an empty launch",
		"jax: not installed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
