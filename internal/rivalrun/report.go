package rivalrun

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// Report is the JSON of attest rival: one library on one shape.
type Report struct {
	Library string        `json:"library"`
	Skipped string        `json:"skipped"` // why nothing was timed, or ""
	Failed  string        `json:"failed"`  // how the Python process ended too early, or ""
	Hello   *rival.Hello  `json:"hello"`
	Shape   problem.Shape `json:"shape"`
	Causal  bool          `json:"causal"`
	Seed    uint64        `json:"seed"`
	Results []*Result     `json:"results"`
	Run     *timing.Run   `json:"run"`

	timed []*Result // the results that were timed, in the order of the candidates of Run

	prepared []*rival.Prepared
}

// Result is one implementation in one type, timed by one method.
type Result struct {
	Implementation string         `json:"implementation"`
	DType          string         `json:"dtype"`
	Mode           string         `json:"mode"`
	Cache          string         `json:"cache"`
	Note           string         `json:"note"`
	Why            string         `json:"why"` // why it was not timed, or ""
	Unsupported    bool           `json:"unsupported"`
	Summary        *stats.Summary `json:"summary"` // the summary in microseconds
	Teraflops      float64        `json:"tflops"`
	MaxError       *float64       `json:"max_error"` // null when the output holds a NaN
	MeanError      *float64       `json:"mean_error"`
	index          int
	unprepared     bool // Why holds for all modes and caches
}

// failed reports whether something failed that should not have. A library that is missing,
// or that does not support a case, has not failed.
func (r *Report) failed() bool {
	return r.Failed != "" || slices.ContainsFunc(r.Results, func(res *Result) bool { return res.Why != "" && !res.Unsupported })
}

// summarise fills in the times of the run.
func (r *Report) summarise() {
	for _, res := range r.timed {
		if s := r.Run.Summary(res.index); s.N > 0 {
			res.Summary, res.Teraflops = &s, r.teraflops(s.P50)
		}
	}
}

// teraflops returns the rate of attention in TFLOP/s for a time in microseconds. A causal mask
// halves the work.
func (r *Report) teraflops(micros float64) float64 {
	flop := r.Shape.FLOP()
	if r.Causal {
		flop /= 2
	}
	return flop / micros / 1e6
}

// free releases the memory of the cases. A library that has died holds none.
func (r *Report) free() {
	for _, p := range r.prepared {
		p.Close()
	}
}

// Show writes the report, after an empty line if it is not the first.
func (r *Report) Show(env *cli.Env, another bool) {
	if env.JSON {
		env.Encode(r)
		return
	}
	if another {
		fmt.Fprintln(env)
	}
	r.print(env)
}

func (r *Report) print(env *cli.Env) {
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

func (r *Report) printHello(env *cli.Env) {
	var versions []string
	for _, name := range sorted.Keys(r.Hello.Versions) {
		versions = append(versions, name+" "+r.Hello.Versions[name])
	}
	fmt.Fprintf(env, "%s, Python %s, on %s\n", term.Clean(strings.Join(versions, ", ")), term.Clean(r.Hello.Python), term.Clean(r.Hello.Device))
	mask := "not causal"
	if r.Causal {
		mask = "causal"
	}
	fmt.Fprintf(env, "shape %s, N(0,1) inputs of seed %d, %s; µs of one launch\n\n", r.Shape, r.Seed, mask)
}

func (r *Report) printTimes(env *cli.Env) {
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
		fmt.Fprintf(env, "; SM clock %d to %d MHz, throttled by: %v", low, high, r.Run.Throttle())
	}
	fmt.Fprintln(env)
}

// printRemarks prints the notes of the library and why cases were not timed, each line once.
func (r *Report) printRemarks(env *cli.Env) {
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
		if res.Summary != nil && r.Run.Candidates[res.index].Method.ByHost() {
			say("%s %s: timed by the host's clock", res.Implementation, res.DType)
		}
	}
}
