package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"attest/device"
	"attest/device/launchfile"
	"attest/internal/diag"
)

// execReport is the JSON of exec.
type execReport struct {
	Device    string        `json:"device"`
	Schedules int           `json:"schedules"`
	Launches  []*execLaunch `json:"launches"`
	skipped   int           // launches after one that failed
}

type execLaunch struct {
	Entry      string       `json:"entry"`
	OK         bool         `json:"ok"`
	Compared   int64        `json:"compared"`
	Mismatches int64        `json:"mismatches"`
	Buffers    []execBuffer `json:"buffers"`
	Defects    []execDefect `json:"defects"`
	Output     string       `json:"output"`
	Stats      execStats    `json:"stats"`
	result     *launchfile.Result
}

type execBuffer struct {
	What       string         `json:"what"`
	Expect     string         `json:"expect"`
	Type       string         `json:"type"`
	Compared   int64          `json:"compared"`
	Mismatches int64          `json:"mismatches"`
	MaxAbs     *float64       `json:"max_abs"`
	MaxRel     *float64       `json:"max_rel"`
	MaxULP     *uint64        `json:"max_ulp"`
	First      []execMismatch `json:"first"`
}

type execMismatch struct {
	Index int64  `json:"index"`
	Got   string `json:"got"`
	Want  string `json:"want"`
}

type execDefect struct {
	Kind        string `json:"kind"`
	Severity    string `json:"severity"`
	Message     string `json:"message"`
	Line        int    `json:"ptx_line"`
	Column      int    `json:"ptx_column"`
	Instruction string `json:"instruction"`
	Source      string `json:"source"`
	Block       [3]int `json:"block"`
	Warp        int    `json:"warp"`
	Lane        int    `json:"lane"`
	Schedule    uint64 `json:"schedule"`
}

type execStats struct {
	ThreadInstructions uint64  `json:"thread_instructions"`
	WarpInstructions   uint64  `json:"warp_instructions"`
	Seconds            float64 `json:"seconds"`
}

func newExecLaunch(r *launchfile.Result, printed string, seed uint64) *execLaunch {
	l := &execLaunch{Entry: r.Entry, OK: r.OK(), Buffers: []execBuffer{}, Defects: []execDefect{}, Output: printed, result: r}
	l.Compared, l.Mismatches = r.Count()
	for _, c := range r.Comparisons {
		l.Buffers = append(l.Buffers, newExecBuffer(c))
	}
	l.Stats.Seconds = r.Elapsed.Seconds()
	if r.Stats != nil {
		l.Stats.ThreadInstructions, l.Stats.WarpInstructions = r.Stats.ThreadInstructions, r.Stats.WarpInstructions
	}
	if r.Fault != nil {
		l.Defects = append(l.Defects, newExecDefect(r.Fault, seed))
	}
	return l
}

func newExecBuffer(c *launchfile.Comparison) execBuffer {
	b := execBuffer{
		What: c.What, Expect: c.Expect, Type: c.Type, Compared: c.Compared, Mismatches: c.Mismatches,
		MaxAbs: finite(c.MaxAbs), MaxRel: finite(c.MaxRel), MaxULP: &c.MaxULP, First: []execMismatch{},
	}
	if b.MaxAbs == nil {
		b.MaxULP = nil
	}
	for _, m := range c.First {
		b.First = append(b.First, execMismatch(m))
	}
	return b
}

func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// newExecDefect is a failed launch.
func newExecDefect(err error, seed uint64) execDefect {
	d := execDefect{Kind: "fault", Severity: diag.Error, Message: err.Error(), Warp: -1, Lane: -1, Schedule: seed}
	var f *device.Fault
	switch {
	case errors.As(err, &f):
		d.Line, d.Column = int(f.Pos.Line), int(f.Pos.Col)
		d.Instruction, d.Source, d.Block, d.Warp, d.Lane = f.Inst, f.Source, f.Block, f.Warp, f.Lane
		d.Message = f.Msg
	case errors.Is(err, device.ErrDeadlock):
		d.Kind = "deadlock"
	case errors.Is(err, context.DeadlineExceeded):
		d.Kind = "timeout"
	}
	return d
}

// compare adds what another schedule did differently.
func (l *execLaunch) compare(r, first *launchfile.Result, seed, firstSeed uint64) {
	switch {
	case r.Fault != nil && first.Fault == nil:
		l.Defects = append(l.Defects, newExecDefect(r.Fault, seed))
	case r.Fault != nil || first.Fault != nil:
		return // told already, or nothing to compare with
	}
	if r.Fault == nil {
		for _, c := range r.Differs(first) {
			c.Expect = fmt.Sprintf("those of schedule %d", firstSeed)
			l.Defects = append(l.Defects, execDefect{
				Kind: "schedule", Severity: diag.Error, Warp: -1, Lane: -1, Schedule: seed,
				Message: fmt.Sprintf("schedule %d gives other bits: %v; first at element %d: %s, not %s",
					seed, c, c.First[0].Index, c.First[0].Got, c.First[0].Want),
			})
		}
	}
	l.OK = l.OK && len(l.Defects) == 0
}

func (r *execReport) ok() bool {
	for _, l := range r.Launches {
		if !l.OK {
			return false
		}
	}
	return true
}
