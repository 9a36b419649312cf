package hopper

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/timing"
)

var sampleFlag = flag.String("sample", "", "what TestCardChoice wrote, several files with commas between: TestChooseSample makes testdata/sample.json of it. -number and -seed must be those of TestCardChoice")

// sampleFile holds the times of random problems, in the form of [timesFile]. The costs of choices must
// never be fitted to them: they show how good Choose is where nobody has looked.
const sampleFile = "testdata/sample.json"

// near is the largest ratio to the time of the fastest configuration with which a choice counts as good.
const near = 1.03

// picked is a problem with what Choose takes and what is fastest, by their divisions.
type picked struct {
	timed
	choice, fastest string
}

// slower returns the time of the choice over that of the fastest configuration.
func (x picked) slower() float64 { return x.micros[x.choice] / x.micros[x.fastest] }

// pick returns what Choose takes for problems that were timed with all configurations. It fails the test if Choose
// takes one without a time.
func pick(t *testing.T, table []timed) (all []picked) {
	t.Helper()
	for _, x := range table {
		one := picked{timed: x, choice: Choose(x.p, 132).Division()}
		if x.micros[one.choice] == 0 {
			t.Errorf("%v: Choose takes %s, which was not timed: draw and time a new sample with TestCardChoice", x.p, one.choice)
			continue
		}
		one.fastest = one.choice
		for _, o := range choices(x.p.HeadDim()) {
			c := o.adapted(x.p)
			if micros := x.micros[c.Division()]; micros > 0 && !c.short(x.p) && micros < x.micros[one.fastest] {
				one.fastest = c.Division()
			}
		}
		all = append(all, one)
	}
	return all
}

// logPicks logs each problem, those that Choose serves worst first.
func logPicks(t *testing.T, all []picked) {
	sorted := slices.SortedFunc(slices.Values(all), func(x, y picked) int { return int(math.Copysign(1, y.slower()-x.slower())) })
	for _, x := range sorted {
		line := fmt.Sprintf("%5.1f %%  %-32v %9.2f µs  %s", 100*(x.slower()-1), x.p, x.micros[x.choice], x.choice)
		if x.choice != x.fastest {
			line += fmt.Sprintf("; %.2f µs  %s", x.micros[x.fastest], x.fastest)
		}
		t.Log(line)
	}
}

// summary says in a paragraph how good the choices are.
func summary(all []picked) string {
	if len(all) == 0 {
		return "No sample of other shapes has been timed with all designs.\n"
	}
	good := func(some []picked) (n int) {
		for _, x := range some {
			if x.slower() <= near {
				n++
			}
		}
		return n
	}
	var of []string
	for _, d := range []int{64, 128, 256} {
		some := slices.DeleteFunc(slices.Clone(all), func(x picked) bool { return x.p.D != d })
		of = append(of, fmt.Sprintf("%d of %d with D = %d", good(some), len(some), d))
	}
	logs, worst := 0.0, all[0]
	for _, x := range all {
		logs += math.Log(x.slower())
		if x.slower() > worst.slower() {
			worst = x
		}
	}
	return fmt.Sprintf("On %s that were drawn at random as for the sweep, and that the costs are not fitted to, `Choose` was compared with the fastest\n"+
		"of all designs that it considers. Its choice takes at most 3 %% longer on %d of them (%.0f %%): %s. The geometric mean is %.1f %% longer, and\n"+
		"the worst %.1f %%, on (%v). `kernels/attn/hopper/testdata/sample.json` has the times (`.ci/card choice`).\n",
		english.Count(len(all), "shape"), good(all), 100*float64(good(all))/float64(len(all)), strings.Join(of, ", "),
		100*(math.Exp(logs/float64(len(all)))-1), 100*(worst.slower()-1), worst.p)
}

// TestChooseSample checks that docs/TUNING.md says how good Choose is on the sample of random problems.
// -update rewrites it, and -sample brings testdata/sample.json up to date first.
func TestChooseSample(t *testing.T) {
	if *sampleFlag != "" {
		writeTimes(t, sampleFile, fromRuns(nil, sampled(t, *sampleSize, *sampleSeed), readRuns(t, *sampleFlag)))
	}
	var table []timed
	if _, err := os.Stat(sampleFile); !errors.Is(err, fs.ErrNotExist) {
		table = readTimes(t, sampleFile)
	}
	for _, x := range readTimes(t, timesFile) {
		if slices.ContainsFunc(table, func(y timed) bool { return x.p == y.p }) {
			t.Errorf("%v is in %s and in %s: a sample must not have problems that the costs are fitted to", x.p, timesFile, sampleFile)
		}
	}
	picks := pick(t, table)
	logPicks(t, picks)
	tellSample(t, summary(picks))
}

// tellSample checks the paragraph in docs/TUNING.md, and with -update or -sample writes it.
func tellSample(t *testing.T, want string) {
	t.Helper()
	const begin, end = "<!-- sample: written by go test ./kernels/attn/hopper -run ChooseSample -update, from testdata/sample.json -->\n", "<!-- end of sample -->"
	file := filepath.Join("..", "..", "..", "docs", "TUNING.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	was, after, closed := strings.Cut(rest, end)
	switch {
	case !ok || !closed:
		t.Fatalf("%s has no place for the sample: add the lines\n%s%s", file, begin, end)
	case was == want:
	case kerneltest.Update() || *sampleFlag != "":
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not say what the sample shows today:\n%srun go test ./kernels/attn/hopper -run ChooseSample -update", file, want)
	}
}

// TestSampled: the sample has every head dimension, with and without masks and groups, and each problem
// has the configuration that Choose takes. Times of the emulator take the way that those of a GPU take.
func TestSampled(t *testing.T) {
	all := sampled(t, 300, 3)
	kinds := map[string]bool{}
	for _, x := range all {
		kinds[fmt.Sprint(x.p.D, x.p.Causal, x.p.Hq != x.p.Hkv)] = true
		if !slices.Contains(x.configs, Choose(x.p, 132)) {
			t.Errorf("%v lacks what Choose takes", x.p)
		}
	}
	if len(all) < 250 || len(kinds) < 12 {
		t.Errorf("%d problems of the kinds %v", len(all), kinds)
	}
	small := []candidate{{"causal", square(1, 1, 64, 64, problem.E4M3), nil}, {"grouped", square(1, 2, 65, 128, problem.E4M3), nil}}
	small[0].p.Causal, small[1].p.Hkv = true, 1
	for i := range small {
		small[i].configs = []Config{Choose(small[i].p, 132), SplitKeys(1).adapted(small[i].p)}
	}
	file := filepath.Join(t.TempDir(), "out.json")
	t.Setenv("HOPPER_OUT", file)
	dev := kerneltest.Emulator(t, ptx.SM90a, emu.Options{})
	timeAll(t, dev, small, timing.Plan{WarmUp: 1, Batch: 1, Stop: timing.Stop{Least: 1, Most: 1, Time: time.Millisecond}}, 0)
	table := fromRuns(nil, small, readRuns(t, file))
	writeTimes(t, file, table)
	read := readTimes(t, file)
	for i, x := range read {
		if x.p != small[i].p || x.micros[small[i].configs[0].Division()] <= 0 {
			t.Errorf("%v: read %+v", small[i].p, x)
		}
	}
	if picks := pick(t, read); len(picks) != 2 || !strings.Contains(summary(picks), "1 of 1 with D = 64") && !strings.Contains(summary(picks), "0 of 1 with D = 64") {
		t.Errorf("%+v: %s", picks, summary(picks))
	}
}
