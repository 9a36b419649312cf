package execrun

import (
	"context"
	"io"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/launchfile"
)

// tryOtherFMA runs the launches once more in the other mode of --fma if the emulator had mismatches
// in this mode. For each launch whose mismatches disappear, it sets OtherFMA.
func (x *Runner) tryOtherFMA(ctx context.Context, r *Report) error {
	if kind, _, _ := strings.Cut(x.Device, ":"); kind != "emu" {
		return nil
	}
	bad := false
	for _, l := range r.Launches {
		bad = bad || l.Mismatches > 0
	}
	if !bad || !emu.Contracts(x.file.Module) {
		return nil
	}
	other := FMAWritten
	if x.FMA == FMAWritten {
		other = FMAPtxas
	}
	return x.once(ctx, x.Schedule, other, io.Discard, &watch{}, func(_ string, res *launchfile.Result) {
		if res.Index >= len(r.Launches) || res.Fault != nil {
			return
		}
		if l := r.Launches[res.Index]; l.Mismatches > 0 {
			if _, n := res.Count(); n == 0 {
				l.OtherFMA = other
			}
		}
	})
}

// otherFMA returns the sentence that explains mismatches by contraction, or "".
func (l *Launch) otherFMA() string {
	switch l.OtherFMA {
	case FMAWritten:
		return "with --fma=written there is no mismatch: the expected values come from an assembler that does not fuse these mul and add into fma"
	case FMAPtxas:
		return "with --fma=ptxas there is no mismatch: the expected values come from an assembler that fuses mul and add into fma"
	}
	return ""
}
