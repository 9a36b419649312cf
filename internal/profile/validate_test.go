package profile

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/ordered"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/timing"
)

var full = flag.Bool("full", false, "validate predictions on all measured kernels and shapes of moderate size, which takes minutes")

var which = flag.String("pairs", "", "validate only pairs whose kernel, shape and causal mask match this regular expression, such as 'hopper-pair 1,8,'")

var update = flag.Bool("update", false, "write the page in testdata")

// few are the kernels that are validated without -full, on one problem.
var few = []string{"stage3b", "hopper-pair", "hopper-latency", "hopper-split-kv", "hopper-split-kv-cluster"}

// pair is a kernel and a problem with the time that was measured on an H200.
type pair struct {
	kernel    string
	p         problem.Attention
	measured  float64
	predicted float64
	low, high float64 // the band of the prediction
}

func (x *pair) off() float64 { return x.predicted/x.measured - 1 }

// group names the pairs among which a ranking makes sense: the designs for Hopper, or the stages,
// on one problem.
func (x *pair) group() string {
	return fmt.Sprintf("%v %v %v %v", strings.HasPrefix(x.kernel, "hopper"), x.p.Format, x.p.Shape, x.p.Causal)
}

// stages returns the times of the stage kernels in the published evidence. The newest record
// counts.
func stages(t *testing.T) (list []pair) {
	store, err := evidence.Open("../../evidence")
	if err != nil {
		t.Fatal(err)
	}
	newest := map[string]pair{}
	for _, item := range store.Load().Items {
		r := item.Record
		if r.Performance == nil || !chips.OnChip(r.Build.Device.Name, "H200") || strings.HasPrefix(r.Kernel.Name, "hopper") {
			continue
		}
		for _, s := range r.Performance.Shapes {
			if s.Method.Mode != timing.Graph || s.Method.Cache != timing.Warm || len(s.Summaries) == 0 {
				continue
			}
			x := pair{kernel: r.Kernel.Name, p: problem.Attention{Shape: s.Shape, Format: problem.Format(r.Kernel.Format)}, measured: s.Summaries[0].P50}
			newest[x.kernel+x.group()] = x
		}
	}
	for _, k := range slices.Sorted(maps.Keys(newest)) {
		list = append(list, newest[k])
	}
	return list
}

// designs returns the measured times of the designs for Hopper.
func designs(t *testing.T) (list []pair) {
	text, err := os.ReadFile("../../kernels/attn/hopper/testdata/times.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines []struct {
		B, H, S, D int
		Causal     bool
		Micros     map[string]float64
	}
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		p := problem.Attention{Shape: problem.Square(l.B, l.H, l.S, l.D), Format: problem.E4M3, Causal: l.Causal}
		for _, d := range hopper.Designs()[1:] {
			if us, ok := l.Micros[d.Config(p, 132).Division()]; ok {
				list = append(list, pair{kernel: d.Name, p: p, measured: us})
			}
		}
	}
	return list
}

// TestValidation compares predictions with times that were measured on an H200. Neither the
// kernels nor their times are used to calibrate the chip's numbers.
func TestValidation(t *testing.T) {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	list := chosen(t)
	table := newTable(t)
	failures := make([]error, len(list))
	err = ordered.Map(t.Context(), len(list), func(i int) *predict.Profile {
		x := &list[i]
		p, err := x.predict(t.Context(), chip)
		failures[i] = err
		return p
	}, func(i int, p *predict.Profile) {
		x := &list[i]
		if failures[i] != nil {
			t.Errorf("%s %v: %v", x.kernel, x.p.Shape, failures[i])
			return
		}
		x.predicted, x.low, x.high = p.Micros, p.Low, p.High
		t.Logf("%-24s %-5s %-16v causal %-5v  measured %8.2f  predicted %8.2f  %+6.1f %%", x.kernel, x.p.Format, x.p.Shape, x.p.Causal, x.measured, x.predicted, 100*x.off())
		table.add(x, p)
	})
	if err != nil || t.Failed() {
		t.Fatal("some pairs were not predicted", err)
	}
	judge(t, list)
}

// chosen returns the pairs to validate, as the flags say.
func chosen(t *testing.T) (list []pair) {
	named, err := regexp.Compile(*which)
	if err != nil {
		t.Fatal(err)
	}
	mine := parseShard(t)
	seen := map[string]int{}
	for _, x := range append(stages(t), designs(t)...) {
		s := x.p.Shape
		work := float64(s.B) * float64(s.Hq) * float64(s.Sq) * float64(s.Skv)
		quick := s == problem.Square(1, 8, 2048, 64) && seen[x.kernel] == 0 && slices.Contains(few, x.kernel)
		if !named.MatchString(fmt.Sprintf("%s %v %v", x.kernel, x.p.Shape, x.p.Causal)) {
			continue
		}
		if *full && work <= 150e6 && mine.has(x.group()) || !*full && quick {
			seen[x.kernel]++
			list = append(list, x)
		}
	}
	return list
}

// predict predicts the time of the pair on a chip.
func (x *pair) predict(ctx context.Context, chip chips.Chip) (*predict.Profile, error) {
	s, err := lab.Preset(x.kernel, x.p, kernel.Chip{SMs: chip.SMs})
	if err != nil {
		return nil, err
	}
	r, err := Of(ctx, s, problem.Named{Shape: x.p.Shape}, chip, Options{})
	if err != nil {
		return nil, err
	}
	return r.Predicted, nil
}

// judge holds predictions to their limits.
func judge(t *testing.T, list []pair) {
	sum, signed, worst := 0.0, 0.0, 0.0
	groups := map[string][]pair{}
	for _, x := range list {
		sum += math.Abs(x.off())
		signed += x.off()
		worst = max(worst, math.Abs(x.off()))
		groups[x.group()] = append(groups[x.group()], x)
	}
	n := float64(len(list))
	checkBands(t, list)
	ranks, ranked := 0.0, 0
	for _, g := range groups {
		if len(g) >= 4 {
			ranks += spearman(g)
			ranked++
		}
	}
	t.Logf("%d pairs: mean absolute error %.1f %%, signed %+.1f %%, largest %.1f %%, mean rank correlation %.2f over %d problems", len(list), 100*sum/n, 100*signed/n, 100*worst, ranks/float64(max(ranked, 1)), ranked)
	if !(sum/n <= 0.08 && worst <= 0.22 && ranks/float64(ranked) >= 0.95) {
		t.Error("the predictions are worse than allowed: a mean absolute error of 8 %, a largest error of 22 %, a rank correlation of 0.95")
	}
}

// checkBands checks that about four of five measured times lie in the bands, which are the tenth and the
// ninetieth percentile of the validation.
func checkBands(t *testing.T, list []pair) {
	inside := 0
	for _, x := range list {
		if x.low <= x.measured && x.measured <= x.high {
			inside++
		}
	}
	share := float64(inside) / float64(len(list))
	t.Logf("%.0f %% of the measured times lie in their bands", 100*share)
	if len(list) >= 20 && !(share >= 0.7 && share <= 0.95) {
		t.Error("the bands do not fit the validation: docs/timing.md says how to derive them")
	}
}

// spearman returns the rank correlation of predicted and measured times.
func spearman(g []pair) float64 {
	rank := func(value func(pair) float64) map[string]int {
		order := slices.Clone(g)
		slices.SortFunc(order, func(a, b pair) int { return int(math.Copysign(1, value(a)-value(b))) })
		ranks := map[string]int{}
		for i, x := range order {
			ranks[x.kernel] = i
		}
		return ranks
	}
	a, b := rank(func(x pair) float64 { return x.measured }), rank(func(x pair) float64 { return x.predicted })
	sum, n := 0.0, float64(len(g))
	for k := range a {
		sum += float64((a[k] - b[k]) * (a[k] - b[k]))
	}
	return 1 - 6*sum/(n*(n*n-1))
}
