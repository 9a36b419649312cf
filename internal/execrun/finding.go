package execrun

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// explained reports whether the checkers have explained why a launch failed.
func explained(found []finding.Finding, err error) bool {
	var fault *device.Fault
	isFault := errors.As(err, &fault)
	for i := range found {
		f := &found[i]
		switch {
		case f.Severity != finding.Error:
		case isFault && f.Kind == fault.Class && f.Pos == fault.Pos:
			return true
		case errors.Is(err, device.ErrDeadlock) && len(f.Waiters) > 0:
			return true
		}
	}
	return false
}

// differences returns a finding for each buffer that another schedule left with other
// bits.
func differences(r, first *launchfile.Result, seed, firstSeed uint64, checked bool) (found []finding.Finding) {
	for _, c := range r.Differs(first) {
		c.Expect = fmt.Sprintf("those of schedule %d", firstSeed)
		f := finding.Finding{
			Kind: finding.Schedule, Severity: finding.Error, Kernel: r.Entry, Place: finding.At(ptx.Pos{}),
			Message: fmt.Sprintf("schedule %d gives other bits: %v; first at element %d: %s, not %s",
				seed, c, c.First[0].Index, c.First[0].Got, c.First[0].Want),
		}
		if !checked {
			f.Fix = "run again with --check all, which names the accesses that race"
		}
		found = append(found, f)
	}
	return found
}

// mismatches returns a finding for each buffer that differs from what is expected.
func (l *Launch) mismatches(index int) (found []finding.Finding) {
	for _, c := range l.result.Comparisons {
		if c.Mismatches > 0 {
			found = append(found, finding.Finding{
				Kind: finding.Mismatch, Severity: finding.Error, Kernel: l.Entry, Count: 1,
				Message: fmt.Sprintf("launch %d, %s: %v", index, l.Entry, c), Place: finding.At(ptx.Pos{}),
				Why: l.otherFMA(),
			})
		}
	}
	return found
}
