package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestWhole leaves out what cannot be had: stages are not causal, and Hopper has no u8.
func TestWhole(t *testing.T) {
	const last = "hopper"
	for _, c := range []struct {
		flags       kernelFlags
		first, last string
	}{
		{kernelFlags{}, "stage0", last},
		{kernelFlags{format: "u8"}, "stage0", "stage5-persistent"},
		{kernelFlags{causal: true}, "hopper", last},
	} {
		list, err := (&gater{kernelFlags: c.flags}).whole()
		if err != nil || list[0].Name != c.first || list[len(list)-1].Name != c.last {
			t.Errorf("%+v: %v", c.flags, err)
		}
	}
	if _, err := (&gater{kernelFlags: kernelFlags{format: "u8", causal: true}}).whole(); err == nil {
		t.Error("there is a causal kernel of u8")
	}
}

// TestBatches wants shapes together that the same texts serve, and the design of each.
func TestBatches(t *testing.T) {
	x := &bencher{kernelFlags: kernelFlags{output: "f16"}, samples: 1, time: 1}
	if err := x.shapes.Set("mission,mission256,long,big64,huge64,big128,huge128,1,8/1,512,64"); err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]string{
		"hopper":            byDesign(x.shapes),
		"stage3b":           "mission;mission256;long;big64;huge64;1,8/1,512,64|big128;huge128",
		"hopper-throughput": "mission;mission256;long;big64;huge64|big128;huge128|1,8/1,512,64",
	} {
		x.dim = 0
		list, err := x.prepare(nil, []string{names})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range list {
			got = append(got, b.shapes.String())
			if b.subjects[0].Config["head_dim"] != strconv.Itoa(b.shapes[0].Shape.D) {
				t.Errorf("%s: a kernel of D = %s for %v", names, b.subjects[0].Config["head_dim"], b.shapes)
			}
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%s: %s, want %s", names, strings.Join(got, "|"), want)
		}
		// The gate has the same texts.
		jobs, err := (&gater{kernelFlags: kernelFlags{output: "f16"}, shapes: x.shapes, plan: "smoke"}).prepare([]string{names})
		if err != nil {
			t.Fatal(err)
		}
		got = nil
		for _, j := range jobs {
			got = append(got, j.shapes.String())
		}
		if strings.Join(got, "|") != want {
			t.Errorf("gate %s: %s, want %s", names, strings.Join(got, "|"), want)
		}
	}
}

// byDesign is shapes in groups of what hopper takes for them.
func byDesign(shapes shapeList) string {
	var keys, groups []string
	for _, n := range shapes {
		s := n.Shape
		p := hopper.Problem{Batch: s.B, Heads: s.Hq, HeadsKV: s.Hkv, SeqQ: s.Sq, SeqKV: s.Skv, HeadDim: s.D, Format: fp8.E4M3}
		key := fmt.Sprint(s.D, s.Hq == s.Hkv, hopper.Choose(p, lab.SMs))
		i := slices.Index(keys, key)
		if i < 0 {
			keys, groups = append(keys, key), append(groups, shapeTitle(n))
			continue
		}
		groups[i] += ";" + shapeTitle(n)
	}
	return strings.Join(groups, "|")
}

// TestLeftOut wants a kernel that a shape is not for left out there, with a word, and
// refused if none is for it; and no kernel timed against itself under another name.
func TestLeftOut(t *testing.T) {
	prepare := func(shapes string, names ...string) ([]batch, error) {
		x := &bencher{kernelFlags: kernelFlags{output: "f16"}, samples: 1, time: 1}
		if err := x.shapes.Set(shapes); err != nil {
			t.Fatal(err)
		}
		return x.prepare(nil, names)
	}
	list, err := prepare("1,8,777,64,1,8,777,128", "hopper-pair", "hopper-two-pairs", "hopper-pair")
	if err != nil || len(list) != 2 {
		t.Fatalf("%d groups, %v", len(list), err)
	}
	if len(list[0].left) != 0 || len(list[0].subjects) != 3 { // a kernel twice is the noise of a card
		t.Errorf("D = 64: %+v", list[0])
	}
	if b := list[1]; len(b.subjects) != 2 || len(b.left) != 1 || b.left[0].name != "hopper-two-pairs" || !strings.Contains(b.left[0].why, "head dimension 128") {
		t.Errorf("D = 128: %+v", b)
	}
	list, err = prepare("big128", "hopper-three", "hopper-throughput", "hopper-latency")
	if err != nil || len(list) != 1 || len(list[0].subjects) != 2 || len(list[0].left) != 1 || list[0].left[0].why != "here it is hopper-three: the PTX is the same" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, names := range [][]string{{"hopper-pair", "hopper-two-pairs"}, {"hopper-two-pairs"}, {"hopper-pair", "nothing"}} {
		if _, err := prepare("big128", names...); err == nil {
			t.Errorf("%q: not refused", names)
		}
	}
	if _, err := prepare("mission,big128", "hopper-two-pairs", "hopper-pair"); err == nil {
		t.Error("there is no baseline for big128")
	}
	var out bytes.Buffer
	(&benchResult{Kernel: record.Kernel{Name: "hopper-two-pairs"}, Shapes: []string{"big128"}, Skipped: "no room"}).show(&cli.Env{Out: &out}, false)
	if want := "hopper-two-pairs  big128\n  left out: no room\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestKeeper keeps a record that nobody judged, as bench does.
func TestKeeper(t *testing.T) {
	k := keeper{evidence: filepath.Join(t.TempDir(), "evidence")}
	if err := k.openStore(); err != nil {
		t.Fatal(err)
	}
	r := recordtest.New("hopper-pair")
	hash, verdict, err := k.keep(r, nil)
	if err != nil || len(hash) != 64 || verdict != "" {
		t.Fatalf("%q, %q, %v", hash, verdict, err)
	}
	for _, args := range [][]string{{"list"}, {"show", hash[:12]}, {"verify"}} {
		var out, told bytes.Buffer
		c := rootCommand(&cli.Env{Out: &out, Err: &told})
		c.SetArgs(append([]string{"evidence", "--evidence", k.evidence}, args...))
		if err := c.ExecuteContext(t.Context()); err != nil || args[0] != "verify" && !strings.Contains(out.String(), "hopper-pair") {
			t.Errorf("evidence %s: %v\n%s%s", args[0], err, &out, &told)
		}
	}
	if h, v, err := (&keeper{}).keep(r, nil); h+v != "" || err != nil {
		t.Errorf("%q, %q, %v: there is no store", h, v, err)
	}
}

func TestShapeList(t *testing.T) {
	for text, want := range map[string]string{
		"mission":                      "mission",
		"mission,long":                 "mission;long",
		"mission,1,8,100,64,long":      "mission;1,8,100,64;long",
		"1,2,3,64;2,4/2,5,64":          "1,2,3,64;2,4/2,5,64",
		"1,8,512/100,64 small":         "1,8,512/100,64;small",
		"1,2,3,64,1,2,4,64,mission256": "1,2,3,64;1,2,4,64;mission256",
	} {
		var l shapeList
		if err := l.Set(text); err != nil || l.String() != want {
			t.Errorf("%s is %s, %v, want %s", text, l.String(), err, want)
		}
	}
	for text, want := range map[string]string{"1,2,3": "B,H,S,D", "misson": `did you mean "mission"`, "1,2,3,64,": "no shape", "0,1,1,64": "at least 1"} {
		var l shapeList
		if err := l.Set(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestPlans wants every plan to be able to fail: none is void.
func TestPlans(t *testing.T) {
	s, err := lab.Preset("stage3b", lab.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := lab.Measure(t.Context(), s, planOf("smoke"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := gate.Judge(r); v.Outcome != record.Defer {
		t.Errorf("a right kernel is %s by the smoke plan: %s", v.Outcome, v.Why)
	}
	if full, quick := planOf("full"), planOf("quick"); len(full.Cases) <= len(quick.Cases) || len(quick.Cases) <= len(planOf("smoke").Cases) {
		t.Error("plans do not grow")
	}
}

// TestReplica sends a question to another process and back, and has it answered.
func TestReplica(t *testing.T) {
	s, err := lab.Preset("stage5-persistent", lab.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(replica{
		Device: "emu", Kernel: *newReplicaKernel(s), Baseline: newReplicaKernel(s), Shapes: []problem.Named{{Name: "mission", Shape: problem.Square(1, 8, 512, 64)}},
		Methods: []timing.Method{{Mode: timing.Graph, Cache: timing.Warm}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var r replica
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	got, err := r.Kernel.subject()
	if err != nil || got.PTX != s.PTX || got.Target != s.Target || got.Kernel().SHA256 != s.Kernel().SHA256 || len(got.ABI.Params) != len(s.ABI.Params) {
		t.Fatalf("another kernel arrived: %v", err)
	}
	if r.Shapes[0].Shape != problem.Square(1, 8, 512, 64) || r.Methods[0].Mode != timing.Graph {
		t.Errorf("another question arrived: %+v", r)
	}
	p, err := r.measure(t.Context())
	if err != nil || !strings.Contains(p.Skipped, "no GPU") {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestTimes is the table of a run with a baseline and a rival.
func TestTimes(t *testing.T) {
	sum := func(us float64) stats.Summary {
		return stats.Summary{N: 100, P50: us, P90: us * 1.1, CV: 0.02, Median: stats.Interval{Low: us * 0.99, High: us * 1.01}}
	}
	compared := func(ratio float64, n int) stats.Comparison {
		return stats.Comparison{Ratio: ratio, Interval: stats.Interval{Low: ratio * 0.98, High: ratio * 1.02}, Replicates: n}
	}
	base := compared(0.8, 5)
	var out bytes.Buffer
	printTimes(&cli.Env{Out: &out, Color: "never"}, &record.Performance{
		Ceiling: record.Ceiling{Bandwidth: 4300, FLOPs: 900, Launch: 1.9}, Notes: []string{"jax: not installed"},
		Shapes: []record.Times{{
			Shape: "1,8,512,64", Method: timing.Method{Mode: timing.Graph, Cache: timing.Warm}, Names: []string{"stage3b", "stage2", "torch flash f16"},
			Summaries: []stats.Summary{sum(8), sum(10), sum(123)}, TFLOPs: []float64{67.1, 53.7, 4.36}, Baseline: &base,
			Rivals: []record.Rival{{Name: "torch flash f16", Comparison: compared(0.065, 1)}},
		}},
	})
	for _, want := range []string{
		"  1,8,512,64  graph, warm  stage3b          8.00    7.92 – 8.08  8.80   2.0     67.1\n",
		"stage2           10.0    9.90 – 10.1  11.0   2.0     53.7  0.800 [0.784, 0.816]\n",
		"torch flash f16   123      122 – 124   135   2.0     4.36  0.065 [0.064, 0.066], 1 process\n",
		"4300 GB/s, 900 TFLOP/s, 1.90 µs for an empty launch",
		"jax: not installed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestNCU(t *testing.T) {
	p, err := parseNCU([]byte(`==PROF== Connected to process 1
"ID","Process Name","Kernel Name","dram__throughput.avg.pct_of_peak_sustained_elapsed","gpu__time_duration.sum","sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active","sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active","sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active"
"","","","%","ns","%","%","%"
"0","attest","attn","3.5","1,234.5","41.25","12","20"
`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Micros != 1.2345 || p.Tensor != 41.25 || p.Arithmetic != 20 || p.Memory != 3.5 || len(p.Metrics) != 5 {
		t.Errorf("%+v", p)
	}
	for text, want := range map[string]string{
		"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n": "ERR_NVGPUCTRPERM",
		"":                         "no launch was profiled",
		"\"a__b\"\n\"%\"\n\"1\"\n": "no time",
	} {
		if _, err := parseNCU([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
