package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// rivalReport is what the rival command found out, as JSON has it.
type rivalReport struct {
	Library string         `json:"library"`
	Skipped string         `json:"skipped"` // why nothing was timed, or ""
	Failed  string         `json:"failed"`  // how the Python ended before its time, or ""
	Hello   *rival.Hello   `json:"hello"`
	Shape   problem.Shape  `json:"shape"`
	Causal  bool           `json:"causal"`
	Seed    uint64         `json:"seed"`
	Results []*rivalResult `json:"results"`
	Run     *timing.Run    `json:"run"`

	timed []*rivalResult // by candidate of the run

	prepared []*rival.Prepared
}

// rivalResult is one implementation in one type, timed in one way.
type rivalResult struct {
	Implementation string         `json:"implementation"`
	DType          string         `json:"dtype"`
	Mode           string         `json:"mode"`
	Cache          string         `json:"cache"`
	Note           string         `json:"note"`
	Why            string         `json:"why"` // it was not timed, or ""
	Unsupported    bool           `json:"unsupported"`
	Summary        *stats.Summary `json:"summary"` // in microseconds
	Teraflops      float64        `json:"tflops"`
	MaxError       *float64       `json:"max_error"` // null when the output has NaN in it
	MeanError      *float64       `json:"mean_error"`
	index          int
	unprepared     bool // Why is that of all modes and caches
}

// failed reports whether something went wrong, other than not being there.
func (r *rivalReport) failed() bool {
	return r.Failed != "" || slices.ContainsFunc(r.Results, func(res *rivalResult) bool { return res.Why != "" && !res.Unsupported })
}

// summarise fills in what the run measured.
func (r *rivalReport) summarise() {
	for _, res := range r.timed {
		if s := r.Run.Summary(res.index); s.N > 0 {
			res.Summary, res.Teraflops = &s, r.teraflops(s.P50)
		}
	}
}

// teraflops is the rate at which attention that takes so many microseconds works. Causal
// masks leave half of it.
func (r *rivalReport) teraflops(micros float64) float64 {
	flop := r.Shape.FLOP()
	if r.Causal {
		flop /= 2
	}
	return flop / micros / 1e6
}

// free gives back what the cases hold. A library that has died holds nothing.
func (r *rivalReport) free() {
	for _, p := range r.prepared {
		p.Close()
	}
}

// show writes the report; another one stands before it.
func (r *rivalReport) show(env *cli.Env, another bool) {
	if env.JSON {
		env.Encode(r)
		return
	}
	if another {
		fmt.Fprintln(env)
	}
	r.print(env)
}

func (r *rivalReport) print(env *cli.Env) {
	if r.Skipped != "" {
		fmt.Fprintf(env, "skipped: %s\n", term.Clean(r.Skipped))
		return
	}
	if r.Hello != nil {
		r.printHello(env)
	}
	if r.Run != nil {
		r.printTimes(env)
	}
	r.printRemarks(env)
	if r.Failed != "" {
		fmt.Fprintf(env.Err, "%s: %s\n", env.ErrStyle().Red("error"), r.Failed)
	}
}

func (r *rivalReport) printHello(env *cli.Env) {
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Hello.Versions)) {
		versions = append(versions, name+" "+r.Hello.Versions[name])
	}
	fmt.Fprintf(env, "%s, Python %s, on %s\n", term.Clean(strings.Join(versions, ", ")), term.Clean(r.Hello.Python), term.Clean(r.Hello.Device))
	mask := "not causal"
	if r.Causal {
		mask = "causal"
	}
	fmt.Fprintf(env, "shape %s, N(0,1) inputs of seed %d, %s; µs of one launch\n\n", r.Shape, r.Seed, mask)
}

func (r *rivalReport) printTimes(env *cli.Env) {
	t := term.Table{Right: "llllrrrrrrr", Style: env.OutStyle()}
	t.Head("implementation", "type", "mode", "cache", "launches", "samples", "median", "p90", "CV %", "TFLOP/s", "max error")
	for _, res := range r.timed {
		if res.Summary == nil {
			continue
		}
		worst := "NaN"
		if res.MaxError != nil {
			worst = fmt.Sprintf("%.2g", *res.MaxError)
		}
		m, s := r.Run.Candidates[res.index].Method, res.Summary
		t.Row(res.Implementation, res.DType, res.Mode, res.Cache, m.Launches, s.N,
			fmt.Sprintf("%.2f", s.P50), fmt.Sprintf("%.2f", s.P90), fmt.Sprintf("%.1f", 100*s.CV), fmt.Sprintf("%.4g", res.Teraflops), worst)
	}
	t.WriteTo(env)
	fmt.Fprintf(env, "\nended: %s", r.Run.Ended)
	if low, high := r.Run.Clocks(); high > 0 {
		fmt.Fprintf(env, "; SM clock %d to %d MHz, slowed by: %v", low, high, r.Run.Throttle())
	}
	fmt.Fprintln(env)
}

// printRemarks says how cases were done and why some were not, each once.
func (r *rivalReport) printRemarks(env *cli.Env) {
	said := map[string]bool{}
	say := func(format string, args ...any) {
		if line := term.Clean(fmt.Sprintf(format, args...)); !said[line] {
			said[line] = true
			fmt.Fprintln(env, line)
		}
	}
	for _, res := range r.Results {
		if res.Note != "" {
			say("%s %s: %s", res.Implementation, res.DType, res.Note)
		}
		switch {
		case res.unprepared:
			say("not timed: %s", res.Why)
		case res.Why != "":
			say("not timed, %s %s: %s", res.Mode, res.Cache, res.Why)
		}
	}
	for _, res := range r.timed {
		if res.Summary != nil && r.Run.Candidates[res.index].Method.Clock == "host" {
			say("%s %s: by the host's clock", res.Implementation, res.DType)
		}
	}
}
