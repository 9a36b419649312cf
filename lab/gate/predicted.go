package gate

import "fmt"

// predicted says what the timing model expects of a kernel that was not timed: its time beside its
// baseline's, and whether the change can pay at all. It is text for the reader and decides nothing.
func (j *judgement) predicted() string {
	p := j.r.Prediction
	if p == nil || p.Kernel <= 0 || p.Baseline <= 0 {
		return ""
	}
	where := fmt.Sprintf("PREDICTED for %s on %s", p.Chip, p.Shape)
	needed := j.r.MinGain()
	if most := p.Baseline/p.Free - 1; p.Free > 0 && most < needed {
		return fmt.Sprintf("%s: cannot pay: %.4g µs against %.4g µs of %s, and %.4g µs (%+.1f %%) even with the changed part free; +%.0f %% is needed",
			where, p.Kernel, p.Baseline, j.r.Baseline.Name, p.Free, 100*most, 100*needed)
	}
	return fmt.Sprintf("%s: %.4g µs against %.4g µs of %s (%+.1f %%)", where, p.Kernel, p.Baseline, j.r.Baseline.Name, 100*(p.Baseline/p.Kernel-1))
}
