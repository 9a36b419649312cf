package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// correctnessGate compares the outputs with float64 and wants wrong outputs to be caught.
var correctnessGate = spec{record.CorrectnessGate, func(j *judgement) record.Gate {
	r, c := j.r, j.r.Correctness
	if c == nil || len(c.Cases) == 0 {
		return skip("no case was run")
	}
	red := looser(c.Tolerance)
	for i := range c.Cases {
		if c.Cases[i].Varied && r.Kernel.Deterministic() {
			red = append(red, c.Cases[i].Shape.String()+", "+title(&c.Cases[i])+": a second run gave other bits, and the kernel does not declare that")
		}
		for _, why := range Wrong(c.Tolerance, r.Kernel.Computes(), &c.Cases[i]) {
			red = append(red, c.Cases[i].Shape.String()+", "+title(&c.Cases[i])+": "+why)
		}
	}
	if len(red) > 0 {
		return gateOf(record.Red, red, "")
	}
	return gateOf(record.Void, powerless(c, r.Kernel.Computes()), summary(c, r.Kernel.Call))
}}

// title names the inputs of a case.
func title(c *record.Case) string {
	text := fmt.Sprintf("%s, seed %d", c.Distribution, c.Seed)
	if s := c.Sweep; s != nil && s.Wrong > 0 {
		text += fmt.Sprintf(" (%d of the %s of the sweep are wrong, this is the first)", s.Wrong, english.Count(s.Launches, "launch"))
	}
	return text
}

// Wrong returns what is wrong with the kernel on a case.
func Wrong(t record.Tolerance, p problem.Attention, c *record.Case) (why []string) {
	if c.Failure != "" {
		return []string{c.Failure}
	}
	errors := Within(t, p, c)
	if c.Errors != nil && 0 < c.Errors.NotFinite && c.Errors.NotFinite <= c.Unwritten {
		return MemoryFaults(c) // elements that were never written are not finite: one reason is enough
	}
	if len(errors) > 0 && c.Cause != "" {
		errors[0] += " (" + c.Cause + ")"
	}
	return append(MemoryFaults(c), errors...)
}

// MemoryFaults returns how a kernel misused its buffers on a case.
func MemoryFaults(c *record.Case) (why []string) {
	if c.Unwritten > 0 {
		why = append(why, unwritten(c.Unwritten))
	}
	if c.Overrun {
		why = append(why, "memory outside of the buffers was written")
	}
	if !c.InputsKept {
		why = append(why, "the inputs were changed")
	}
	if c.CacheWrong {
		why = append(why, "K and V do not hold the new rows, or other bytes of them were changed")
	}
	if !c.Repeatable && c.Unwritten == 0 { // elements that are not written differ in any case
		why = append(why, "a second run, with other values in the output and the workspace before it, gave a different output")
	}
	return why
}

func unwritten(n int) string {
	if n == 1 {
		return "1 element of the output was never written"
	}
	return fmt.Sprintf("%d elements of the output were never written", n)
}

// LeastCompared is the number of rows of a large output that must be compared.
const LeastCompared = 256

// powerless returns the reasons why the cases prove too little.
func powerless(c *record.Correctness, p problem.Attention) (why []string) {
	caught := map[string]bool{}
	seeds := map[uint64]bool{}
	var shapes []problem.Shape
	for i := range c.Cases {
		one := &c.Cases[i]
		seeds[one.Seed] = true
		shapes = append(shapes, one.Shape)
		for _, w := range blindSpots(one, p, caught) {
			why = append(why, one.Shape.String()+", "+title(one)+": "+w)
		}
	}
	if len(caught) < needed {
		why = append(why, fmt.Sprintf("the cases catch %s of impostors, %d are needed", english.Count(len(caught), "kind"), needed))
	}
	if !partial(shapes) && !refusesPartial(c.Refused) {
		why = append(why, "no shape has a partial tile")
	}
	if len(seeds) < 2 {
		why = append(why, "all cases have the same seed")
	}
	return append(why, unmet(c.Conditions)...)
}

// unmet returns the conditions on sizes with a result that no case gives them. A kernel has a few dozen at
// most, so one with more hides something, or shapes that name its sizes show that it does not.
func unmet(c *record.Conditions) (why []string) {
	if c == nil {
		return nil
	}
	for _, o := range c.Open {
		where := "the call"
		if o.Line > 0 {
			where = fmt.Sprintf("line %d", o.Line)
		}
		at := "its results were not looked at"
		if o.Shape != (problem.Shape{}) {
			at = fmt.Sprintf("it has a result at %v that no case gives it", o.Shape)
		}
		why = append(why, fmt.Sprintf("%s computes %s from sizes, and %s: the kernel has more conditions on sizes than become cases; use --plan full or simplify it", where, o.Text, at))
	}
	if c.More > 0 {
		why = append(why, fmt.Sprintf("%s on sizes are not met either", english.Count(c.More, "other condition")))
	}
	return why
}

// blindSpots returns what a case could not have noticed, and adds the impostors that it
// caught to caught.
func blindSpots(c *record.Case, p problem.Attention, caught map[string]bool) (why []string) {
	if e := c.Errors.Elements; e < min(c.Of(p).Rows(), LeastCompared)*c.Shape.DimV() {
		why = append(why, fmt.Sprintf("only %d elements were compared", e))
	}
	for _, name := range Impostors {
		at := slices.IndexFunc(c.Powers, func(p record.Power) bool { return p.Name == name })
		switch {
		case at >= 0 && c.Powers[at].Caught:
			caught[name] = true
		case Excuse(name, c.Of(p), c.Distribution) != "":
		case at < 0:
			why = append(why, "the impostor "+name+" was not tried")
		default:
			why = append(why, "the impostor "+name+" passes")
		}
	}
	return why
}

// summary returns the worst error of each distribution in one line. Where rounding the inputs
// to the format already exceeds the tolerance, it says how much of the error that causes. The
// precision that the kernel claims stands beside the errors, since it decides how large they
// may be.
func summary(c *record.Correctness, call *kernel.Kernel) string {
	var worst []*record.Case // one per distribution, in the order of the plan
	caught, tried := 0, 0
	for i := range c.Cases {
		one := &c.Cases[i]
		at := slices.IndexFunc(worst, func(w *record.Case) bool { return w.Distribution == one.Distribution })
		switch {
		case at < 0:
			worst = append(worst, one)
		case one.Errors.Max > worst[at].Errors.Max:
			worst[at] = one
		}
		for _, p := range one.Powers {
			if p.Why == "" {
				tried++
			}
			if p.Caught {
				caught++
			}
		}
	}
	var errors []string
	for _, w := range worst {
		text := fmt.Sprintf("%.3g on %s", w.Errors.Max, w.Distribution)
		if w.Plain.Max > c.Tolerance.Max {
			text += fmt.Sprintf(" (rounding the inputs causes %.3g)", w.Plain.Max)
		}
		errors = append(errors, text)
	}
	text := fmt.Sprintf("%s%s: max error %s; %d of %d impostors caught", english.Count(len(c.Cases), "case"), claims(call), strings.Join(errors, ", "), caught, tried)
	if at := slices.IndexFunc(c.Cases, func(one record.Case) bool { return one.Sweep != nil }); at >= 0 {
		w := c.Cases[at].Sweep
		text += fmt.Sprintf("; a sweep of %s up to %d keys leaves every remainder of a tile of %d", english.Count(w.Lengths, "length"), w.MostKV, w.Tile)
	}
	if c.Conditions != nil && c.Conditions.Unsearched != "" {
		text += "; warning: " + c.Conditions.Unsearched
	}
	if at := slices.IndexFunc(c.Cases, func(one record.Case) bool { return one.Cause != "" }); at >= 0 {
		text += "; " + c.Cases[at].Cause // the cause of errors that the quantised inputs already have
	}
	return text
}

// claims returns the precisions that a kernel claims: " with P in f16".
func claims(call *kernel.Kernel) string {
	if call == nil || call.Claims["p"] == "" { // records of the first schema do not have it
		return ""
	}
	text := " with P in " + call.Claims["p"]
	if !call.Deterministic() {
		text = " of a kernel that declares that it is not deterministic," + text
	}
	if sum := call.Claims["accumulator"]; sum != "" && sum != "f32" {
		text += " and sums in " + sum
	}
	return text
}
