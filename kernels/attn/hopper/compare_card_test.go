package hopper

import (
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/timing"
)

// TestCardCompare compares configurations that Choose does not know yet with those that it knows: their
// bits on small problems with those of the emulator, what the compiler says of them, and their times,
// interleaved, with enough samples in each turn for the clock to settle. -shapes and -configs select;
// HOPPER_OUT names the file for the samples.
func TestCardCompare(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	all := selected(t, compared())
	var wg sync.WaitGroup
	small := smallProblems(t, all)
	for i := range small {
		wg.Go(func() { small[i].want = newBench(t, emulator(t, 0, nil), small[i].in).run(small[i].c) })
	}
	reports := compileReports(card, all)
	wg.Wait()
	for _, x := range reports {
		t.Log(x)
	}
	for _, x := range small {
		if got := newBench(t, card, x.in).run(x.c); !got.Same(x.want) {
			t.Errorf("%v, %v: the card's bits are not the emulator's", x.c, x.in.P)
		}
	}
	plan := timing.Plan{WarmUp: 30 * time.Millisecond, Batch: 10, Stop: timing.Stop{Least: 30, Most: 60, Time: 3 * time.Second}}
	timeAll(t, card, all, plan, 0)
}

// compared returns wide heads and many short sequences, with the configurations that are compared on them.
func compared() (all []candidate) {
	const sms = 132
	add := func(configs []Config, d int, causal bool, list ...[4]int) {
		for _, s := range list {
			p := problem.Attention{Shape: problem.Shape{B: s[0], Hq: s[1], Hkv: s[2], Sq: s[3], Skv: s[3], D: d}, Format: problem.E4M3, Causal: causal}.Filled()
			all = append(all, candidate{p.String(), p, append([]Config{Choose(p, sms)}, configs...)})
		}
	}
	for _, causal := range []bool{false, true} {
		add(wideVariants(256), 256, causal, [4]int{4, 8, 8, 4096}, [4]int{1, 4, 4, 7329})
	}
	add(smallCompared(), 64, false, [4]int{17, 16, 16, 64}, [4]int{64, 8, 8, 64}, [4]int{32, 16, 16, 128}, [4]int{2, 16, 16, 384}, [4]int{4, 32, 32, 300})
	return all
}

// change returns c with a change.
func (c Config) change(how func(*Config)) Config {
	how(&c)
	return c
}

// smallCompared returns the configurations for many short sequences: three or four blocks per SM.
func smallCompared() (all []Config) {
	for blocks := 2; blocks <= 4; blocks++ {
		for stages := 1; stages <= 2; stages++ {
			c := Latency(64).change(func(c *Config) { c.TileN, c.BlocksPerSM, c.Stages = 64, blocks, stages })
			all = append(all, c)
			if stages == 2 {
				all = append(all, c.change(func(c *Config) { c.Persistent, c.Descriptors = true, true }))
			}
		}
	}
	return append(all, ManyItems())
}

// smallProblem is a configuration on a small problem, and what the emulator computes.
type smallProblem struct {
	c    Config
	in   inputs
	want result
}

// smallProblems returns problems for every configuration: with whole and with partial tiles, causal and
// not.
func smallProblems(t testing.TB, all []candidate) (list []smallProblem) {
	seen := map[Config]bool{}
	for _, x := range all {
		for _, c := range x.configs {
			if seen[c] {
				continue
			}
			seen[c] = true
			for turn, n := range [][2]int{{65, 200}, {256, 512}, {130, 777}} {
				p := c.able(mixed(x.p.D, n[0], n[1], turn+len(seen)))
				list = append(list, smallProblem{c: c, in: generate(t, "normal", p, uint64(turn))})
			}
		}
	}
	return list
}

// remarks matches what the compiler says of a kernel and is worth a line.
var remarks = regexp.MustCompile(`(?m)^.*(Used \d+ registers|spill|serialized|arning).*$`)

// compileReports compiles the kernels of all candidates, many at a time, and returns what the compiler
// says: registers, local memory, and warnings.
func compileReports(card device.Device, all []candidate) (reports []string) {
	names := map[string]string{} // by text
	for _, x := range all {
		for _, c := range x.configs {
			if k, err := New(x.p, c); err == nil {
				names[k.PTX] = fmt.Sprintf("%v, causal %t", c, x.p.Causal)
			}
		}
	}
	var group sync.WaitGroup
	var mutex sync.Mutex
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, text := range slices.Sorted(maps.Keys(names)) {
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			report := names[text] + ": " + compileReport(card, text)
			mutex.Lock()
			defer mutex.Unlock()
			reports = append(reports, report)
		})
	}
	group.Wait()
	slices.Sort(reports)
	return reports
}

func compileReport(card device.Device, text string) string {
	m, err := card.Load("kernel.ptx", text)
	if err != nil {
		return err.Error()
	}
	defer m.Close()
	log, ok := m.(interface{ Log() string })
	if !ok {
		return "no log"
	}
	return strings.Join(remarks.FindAllString(log.Log(), -1), "; ")
}
