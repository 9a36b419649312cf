package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/defects"
	"github.com/GOATnote-Inc/attest/ptx"
)

// failure is a launch that failed, as a defect.
func failure(m *ptx.Module, entry string, err error) check.Defect {
	d := check.Defect{
		Kind: defects.Fault, Severity: check.Error, Kernel: entry, Message: err.Error(),
		Access: check.Access{Warp: defects.NoOne},
	}
	var fault *device.Fault
	var dead *device.Deadlock
	switch {
	case errors.As(err, &fault):
		d.Message = fault.Msg
		d.Access = check.Access{
			Func: enclosing(m, fault.Pos), Pos: fault.Pos, Source: fault.Source, Callers: fault.Callers, Inst: fault.Inst,
			Block: fault.Block, Warp: fault.Warp,
		}
		if fault.Lane >= 0 {
			d.Access.Lanes = 1 << fault.Lane
		}
	case errors.As(err, &dead):
		d.Kind = check.Deadlock
		d.Message, _, _ = strings.Cut(err.Error(), "\n")
		for _, w := range dead.Waiters {
			d.Waiters = append(d.Waiters, check.Access{
				Func: enclosing(m, w.Pos), Pos: w.Pos, Source: w.Source, Callers: w.Callers, Inst: w.Inst,
				Block: w.Block, Warp: w.Warp, Lanes: w.Lanes, Note: w.Why,
			})
		}
		if len(d.Waiters) > 0 {
			first := &d.Waiters[0]
			d.Access.Func, d.Access.Pos, d.Access.Source, d.Access.Inst = first.Func, first.Pos, first.Source, first.Inst
			d.Access.Callers = first.Callers
		}
	case errors.Is(err, device.ErrDeadlock):
		d.Kind = check.Deadlock
	case errors.Is(err, context.DeadlineExceeded):
		d.Kind = defects.Timeout
	}
	return d
}

// enclosing is the function that a place in the PTX is in, or "".
func enclosing(m *ptx.Module, at ptx.Pos) (name string) {
	for _, f := range m.Funcs() {
		if f.Pos.IsValid() && f.Pos.Line <= at.Line {
			name = f.Sym.Name
		}
	}
	return name
}

// explained reports whether the checkers have told why a launch failed.
func explained(found []check.Defect, err error) bool {
	var fault *device.Fault
	isFault := errors.As(err, &fault)
	for i := range found {
		d := &found[i]
		switch {
		case d.Severity != check.Error:
		case isFault && d.Kind == check.Kind(fault.Kind) && d.Access.Pos == fault.Pos:
			return true
		case errors.Is(err, device.ErrDeadlock) && len(d.Waiters) > 0:
			return true
		}
	}
	return false
}

// differences are the buffers that another schedule left with other bits.
func differences(r, first *launchfile.Result, seed, firstSeed uint64, checked bool) (found []check.Defect) {
	for _, c := range r.Differs(first) {
		c.Expect = fmt.Sprintf("those of schedule %d", firstSeed)
		d := check.Defect{
			Kind: defects.Schedule, Severity: check.Error, Kernel: r.Entry, Access: check.Access{Warp: defects.NoOne},
			Message: fmt.Sprintf("schedule %d gives other bits: %v; first at element %d: %s, not %s",
				seed, c, c.First[0].Index, c.First[0].Got, c.First[0].Want),
		}
		if !checked {
			d.Fix = "run again with --check all, which names the accesses that race"
		}
		found = append(found, d)
	}
	return found
}

// mismatches are the buffers that differ from what is expected, for a log of
// findings.
func (l *execLaunch) mismatches(index int) (found []*defects.Finding) {
	for _, c := range l.result.Comparisons {
		if c.Mismatches > 0 {
			found = append(found, &defects.Finding{Defect: check.Defect{
				Kind: defects.Mismatch, Severity: check.Error, Kernel: l.Entry, Count: 1,
				Message: fmt.Sprintf("launch %d, %s: %v", index, l.Entry, c), Access: check.Access{Warp: defects.NoOne},
			}})
		}
	}
	return found
}
