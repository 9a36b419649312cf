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

// TestCardWide compares ways to compute wide heads: their bits on small problems with those of the
// emulator, what the compiler says of them, and their times, interleaved, with enough samples in
// each turn for the clock to settle. -shapes and -configs select; HOPPER_OUT names the file for
// the samples.
func TestCardWide(t *testing.T) {
	card := kerneltest.Card(t, ptx.SM90a)
	all := selected(t, wideCandidates())
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
	plan := timing.Plan{WarmUp: 30 * time.Millisecond, Batch: 10, Stop: timing.Stop{Least: 30, Most: 60, Time: 4 * time.Second}}
	timeAll(t, card, all, plan)
}

// wideCandidates returns the shapes of the goals for D = 256 and shapes between them, each with all
// ways to compute them.
func wideCandidates() (all []candidate) {
	for _, s := range []struct {
		b, h, s int
		causal  bool
	}{
		{4, 8, 4096, false}, {2, 8, 16384, false}, {4, 8, 4096, true}, {1, 8, 8192, false}, {8, 4, 2048, false},
		{1, 3, 5001, false}, {1, 4, 7329, true}, {3, 5, 1777, true},
	} {
		p := square(s.b, s.h, s.s, 256, problem.E4M3)
		p.Causal = s.causal
		name := fmt.Sprintf("%d,%d,%d,256", s.b, s.h, s.s)
		if s.causal {
			name += " causal"
		}
		all = append(all, candidate{name, p, append([]Config{Choose(p, 132)}, wideTried()...)})
	}
	return all
}

// wideTried returns the ways to compute D = 256 that TestCardWide compares.
func wideTried() []Config {
	with := func(c Config, change func(*Config)) Config {
		change(&c)
		return c
	}
	all := append([]Config{WideHeads(), balanced(WideHeads())}, inPlace(WideHeads())...)
	overlap := with(WideHeads(), func(c *Config) {
		c.InPlace, c.LazyRescale, c.Overlap, c.PingPong, c.ProductColumns = true, true, true, 0, 0
	})
	return append(all,
		with(overlap, func(c *Config) { c.PingPong = 32 }),
		with(overlap, func(c *Config) { c.PingPong = 64 }),
		with(overlap, func(c *Config) { c.ProductColumns = 128 }),
		with(overlap, func(c *Config) { c.Persistent = false }),
		with(overlap, func(c *Config) { c.OrderProducts, c.Persistent = true, false }),
		balanced(overlap),
		with(balanced(overlap), func(c *Config) { c.OrderProducts = true }),
	)
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
