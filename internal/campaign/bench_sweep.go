package campaign

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/internal/shapes"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// What a sweep does differently from other measurements, so that a shape takes about two seconds.
const (
	// sweepWarmUp is the warm-up of each candidate. The GPU is busy all the time, so its clocks are up.
	sweepWarmUp = 30 * time.Millisecond
	// sweepPairs allows 512 rows of 4096 keys each.
	sweepPairs = 1 << 21
)

// drawn draws the shapes: of self-attention, or of decode for a kernel that supports few queries.
func (x *Bench) drawn(kernel string) shapes.List {
	list := shapes.Draw(x.Sweep, x.Seed, x.HeadDim)
	chosen := x.For(list[0])
	if s, err := chosen.Kernel(kernel); err != nil || s.ServesShape(list[0].Shape) != nil {
		return shapes.DrawDecode(x.Sweep, x.Seed, x.HeadDim)
	}
	return list
}

// leastAhead is the number of shapes from which on it pays to compile kernels of rivals on all cores
// before the first shape is timed.
const leastAhead = 8

// ahead returns which kernels rivals will be asked for, or nil for few shapes.
func ahead(batches []batch) *rival.Ahead {
	if len(batches) < leastAhead {
		return nil
	}
	a := &rival.Ahead{DType: string(batches[0].subjects[0].Problem.Format)}
	for _, b := range batches {
		for _, n := range b.shapes {
			k := rival.AheadKernel{HeadDim: n.Shape.D, Causal: b.subjects[0].Problem.Causal, Grouped: n.Shape.Hq != n.Shape.Hkv}
			switch {
			case n.Shape.Sq < n.Shape.Skv:
				a.Decode = append(a.Decode, rival.Case{Shape: n.Shape, Causal: k.Causal})
			case !slices.Contains(a.Kernels, k):
				a.Kernels = append(a.Kernels, k)
			}
		}
	}
	return a
}

// textOf returns a key that differs between kernels, and between their baselines.
func textOf(s, baseline *lab.Subject) string {
	if baseline == nil {
		return s.PTX
	}
	return s.PTX + baseline.PTX
}

// remember keeps what the next shapes of a sweep need not measure again.
func (x *Bench) remember(r *record.Record, s, baseline *lab.Subject) {
	if !x.alone || r.Performance == nil || len(r.Performance.Shapes) == 0 {
		return
	}
	x.ceiling = &r.Performance.Ceiling
	if key := textOf(s, baseline); x.before[key] == nil {
		x.before[key] = r
	}
}

// swept shows the results of a sweep, one line per shape, and sums them up.
type swept struct {
	of, n    int             // the number of shapes, and of those that were shown
	compared int             // how many of them have a rival
	below    int             // on how many a rival is faster
	logs     float64         // the sum of the logarithms of the speedups
	lowest   float64         // the lowest speedup
	lowestAt string          // its shape and rival
	noted    map[string]bool // the notes that were shown
}

// show writes the line of a shape: the time of the kernel and its speedup over the fastest rival.
func (w *swept) show(env *cli.Env, r *BenchResult) {
	w.n++
	if env.JSON {
		env.Encode(r)
		return
	}
	s := env.OutStyle()
	if r.Performance == nil || len(r.Performance.Shapes) == 0 {
		fmt.Fprintf(env, "%3d/%d  %-32s not timed\n", w.n, w.of, masked(strings.Join(r.Shapes, ", "), r))
	}
	if r.Performance != nil {
		for i := range r.Performance.Shapes {
			t := &r.Performance.Shapes[i]
			fmt.Fprintf(env, "%3d/%d  %-32s %9s µs  %6.4g TFLOP/s  %s\n", w.n, w.of, masked(t.Shape.String(), r), term.Micros(t.Summaries[0].P50), float64(t.TFLOPs[0]), w.beside(t))
		}
		for _, note := range r.Performance.Notes {
			if !w.noted[note] { // a library that is missing is missing for all shapes
				fmt.Fprintf(env, "         %s\n", s.Dim(term.Clean(note)))
				w.noted[note] = true
			}
		}
	}
	for _, why := range r.Wrong {
		fmt.Fprintf(env, "         %s: %s\n", s.Red("wrong"), term.Clean(why))
	}
}

// masked returns a shape with the mask of the kernel.
func masked(shape string, r *BenchResult) string {
	if r.Kernel.Computes().Causal {
		return shape + " causal"
	}
	return shape
}

// beside returns the speedup over the fastest rival, in words.
func (w *swept) beside(t *record.Times) string {
	fastest := -1
	for i := range t.Rivals {
		if c := t.Rivals[i].Comparison; c.Ratio > 0 && (fastest < 0 || c.Ratio > t.Rivals[fastest].Comparison.Ratio) {
			fastest = i
		}
	}
	if fastest < 0 {
		return "no rival supports it"
	}
	speedup, name := 1/t.Rivals[fastest].Comparison.Ratio, t.Rivals[fastest].Name
	w.compared++
	w.logs += math.Log(speedup)
	if speedup < 1 {
		w.below++
	}
	if w.lowestAt == "" || speedup < w.lowest {
		w.lowest, w.lowestAt = speedup, fmt.Sprintf("%v, %s", t.Shape, name)
	}
	return fmt.Sprintf("%.2fx over %s", speedup, term.Clean(name))
}

// end writes the mean and the lowest speedup.
func (w *swept) end(env *cli.Env) {
	if w.compared == 0 || env.JSON {
		return
	}
	fmt.Fprintf(env, "%s beside a rival: geometric mean of the speedups %.2fx, lowest %.2fx (%s), below 1 on %d (%.0f %%)\n",
		english.Count(w.compared, "shape"), math.Exp(w.logs/float64(w.compared)), w.lowest, term.Clean(w.lowestAt), w.below, 100*float64(w.below)/float64(w.compared))
}
