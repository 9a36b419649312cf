package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

// none stands in tables where there is no number.
const none = "–"

// figures returns a number with three significant digits, or all digits before the point.
func figures(x float64) string {
	if math.Abs(x) < 100 {
		x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 2, 64), 64) // without this, 99.96 would become 100.0
	}
	a := math.Abs(x)
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || a >= math.MaxFloat64:
		return "not finite"
	case a == 0:
		return "0"
	case a >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	case a >= 1:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case a >= 0.001:
		return strconv.FormatFloat(x, 'f', 2-int(math.Floor(math.Log10(a))), 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// times returns a factor as a text.
func times(x float64) string {
	if math.IsNaN(x) || math.Abs(x) >= math.MaxFloat64 {
		return figures(x)
	}
	return figures(x) + "×"
}

// speedup returns a comparison as a speedup with its interval. An interval that contains 1 is
// a tie. One process has no interval: the same text differs between processes by more than
// between its own launches.
func speedup(c *stats.Comparison) string {
	if c == nil || c.Ratio <= 0 {
		return none
	}
	if c.Replicates < 2 {
		return times(1/c.Ratio) + " in 1 process"
	}
	i := inverse(c.Interval)
	text := fmt.Sprintf("%s (%s–%s)", times(1/c.Ratio), figures(i.Low), figures(i.High))
	if i.Contains(1) {
		return "tie, " + text
	}
	return text
}

func percent(x float64) string { return figures(100*x) + " %" }

// limit returns a chosen number with all its digits.
func limit(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Counter returns a counter: a whole number with its thousands apart, or an average with two
// decimals.
func Counter(x float64) string {
	switch {
	case !(x >= 0 && x < 1<<53):
		return figures(x)
	case x == math.Trunc(x):
		return term.Group(uint64(x))
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// kib returns a number of bytes in KiB.
func kib(n int) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	return strings.TrimSuffix(strconv.FormatFloat(float64(n)/1024, 'f', 1, 64), ".0") + " KiB"
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// short returns the first letters of a hash, enough to find it.
func short(hash string) string { return hash[:min(len(hash), 10)] }

// clip shortens a text to at most most letters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// how returns a method in a few words.
func how(m timing.Method) string {
	s := orNone(string(m.Mode)) + ", " + orNone(string(m.Cache))
	if m.ByHost() {
		s += ", host clock"
	}
	return s
}

// figure returns the use of a resource; ≈ marks an estimate.
func figure(f resources.Figure) string {
	switch {
	case !f.Known():
		return none
	case f.Source == resources.Estimate:
		return fmt.Sprintf("≈%d", f.Value)
	}
	return strconv.Itoa(f.Value)
}

// use is the largest use of each resource over all targets.
type use struct {
	registers, spills, stack, static resources.Figure
	shared                           int
}

func usage(r *record.Resources) (u use) {
	largest := func(a *resources.Figure, b resources.Figure) {
		if b.Known() && (!a.Known() || b.Value > a.Value) {
			*a = b
		}
	}
	for i := range r.Usage {
		x := &r.Usage[i]
		largest(&u.registers, x.Registers)
		largest(&u.spills, x.SpillStores)
		largest(&u.spills, x.SpillLoads)
		largest(&u.stack, x.Stack)
		largest(&u.static, x.Shared)
	}
	u.shared = u.static.Value + r.Dynamic
	return u
}

// maxError returns the largest error on inputs from N(0,1), of one shape or, for the zero shape,
// of all shapes. The error on other inputs is mostly that of the format.
func maxError(r *record.Record, shape problem.Shape) string {
	if worst, ok := worstErrorOn(r, shape); ok {
		return figures(worst)
	}
	return none
}

// worstError returns the largest error on inputs from N(0,1).
func worstError(r *record.Record) (float64, bool) { return worstErrorOn(r, problem.Shape{}) }

func worstErrorOn(r *record.Record, shape problem.Shape) (worst float64, ok bool) {
	if r.Correctness == nil {
		return 0, false
	}
	for i := range r.Correctness.Cases {
		c := &r.Correctness.Cases[i]
		if c.Errors != nil && c.Distribution == "normal" && (shape == (problem.Shape{}) || c.Shape == shape) {
			worst, ok = max(worst, c.Errors.Max), true
		}
	}
	return worst, ok
}

// ofPlain returns the largest ratio, over all cases, of the root mean square error to that of a
// plain computation in the same precision.
func ofPlain(r *record.Record) string {
	worst := 0.0
	if r.Correctness != nil {
		for i := range r.Correctness.Cases {
			c := &r.Correctness.Cases[i]
			if c.Errors != nil && c.Plain != nil && c.Plain.RMSE > 0 {
				worst = max(worst, c.Errors.RMSE/c.Plain.RMSE)
			}
		}
	}
	if worst == 0 {
		return none
	}
	return times(worst)
}

// cases returns the number of cases, and how many have a remark.
func cases(r *record.Record) string {
	if r.Correctness == nil {
		return none
	}
	odd := 0
	for i := range r.Correctness.Cases {
		if remark(&r.Correctness.Cases[i]) != "" {
			odd++
		}
	}
	text := strconv.Itoa(len(r.Correctness.Cases))
	if odd > 0 {
		text += fmt.Sprintf(", %d bad", odd)
	}
	if !r.Kernel.Deterministic() {
		text += ", bits vary"
	}
	return text
}

// remark returns what is wrong with a case besides the size of its errors.
func remark(c *record.Case) string {
	var all []string
	say := func(when bool, what string) {
		if when {
			all = append(all, what)
		}
	}
	say(c.Failure != "", c.Failure)
	say(c.Unwritten > 0, english.Count(c.Unwritten, "element")+" not written")
	say(c.Overrun, "wrote outside of its buffers")
	say(c.Failure == "" && !c.InputsKept, "changed its inputs")
	say(c.Failure == "" && !c.Repeatable && c.Unwritten == 0, "a second run gave a different output")
	say(c.Errors != nil && c.Errors.NotFinite > 0, "not finite")
	for _, p := range c.Powers {
		say(!p.Caught && p.Why == "", "the impostor "+p.Name+" passes")
	}
	say(c.Cause != "", c.Cause)
	say(len(c.Map) > 0 && c.Cause == "", "fails")
	return strings.Join(all, "; ")
}

// config returns the configuration as one line.
func config(c map[string]string) string {
	var all []string
	for _, name := range sorted.Keys(c) {
		all = append(all, name+"="+c[name])
	}
	return strings.Join(all, ", ")
}
