package defects

import (
	"math/bits"

	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/ptx"
)

// Record is a finding as JSON. Its names are part of the command line's contract;
// every one is always there.
type Record struct {
	Kind     string `json:"kind"`
	Severity string `json:"severity"`
	Message  string `json:"message"`
	AccessRecord
	Lane     int            `json:"lane"` // the first of Lanes, or -1
	Kernel   string         `json:"kernel"`
	Other    *AccessRecord  `json:"other"`
	Why      string         `json:"why"`
	Fix      string         `json:"fix"`
	Waiters  []WaiterRecord `json:"waiters"`
	Count    int            `json:"count"`
	Schedule uint64         `json:"schedule"`
}

// AccessRecord is an Access as JSON.
type AccessRecord struct {
	Line        int      `json:"ptx_line"` // from 1, 0 when it has no place
	Column      int      `json:"ptx_column"`
	Instruction string   `json:"instruction"`
	Source      string   `json:"source"`
	Callers     []string `json:"callers"` // of the function that Source is in, the innermost first
	Block       [3]int   `json:"block"`
	Warp        int      `json:"warp"`  // -1 for no one
	Lanes       []int    `json:"lanes"` // in order
	Function    string   `json:"function"`
	Action      string   `json:"action"`
	Space       string   `json:"space"` // "" when no memory was touched
	Address     string   `json:"address"`
	Variable    string   `json:"variable"`
	Offset      int64    `json:"offset"`
	Size        int      `json:"size"`
}

// WaiterRecord is someone who waits in a deadlock.
type WaiterRecord struct {
	AccessRecord
	WaitsFor string `json:"waits_for"`
}

// Record is the finding as JSON.
func (f *Finding) Record() Record {
	r := Record{
		Kind: string(f.Kind), Severity: string(f.Severity), Kernel: f.Kernel, Message: f.Message,
		AccessRecord: accessRecord(&f.Access), Lane: -1, Why: f.Why, Fix: f.Fix,
		Waiters: []WaiterRecord{}, Count: f.Count, Schedule: f.Schedule,
	}
	if len(r.Lanes) > 0 {
		r.Lane = r.Lanes[0]
	}
	if f.Other != nil {
		other := accessRecord(f.Other)
		r.Other = &other
	}
	for i := range f.Waiters {
		r.Waiters = append(r.Waiters, WaiterRecord{accessRecord(&f.Waiters[i]), f.Waiters[i].Note})
	}
	return r
}

func accessRecord(a *check.Access) AccessRecord {
	r := AccessRecord{
		Line: int(a.Pos.Line), Column: int(a.Pos.Col), Instruction: a.Inst, Function: a.Func, Source: a.Source,
		Action: a.Action, Block: a.Block, Warp: a.Warp, Lanes: []int{}, Address: a.Where(),
		Variable: a.Var, Offset: a.Offset, Size: a.Size,
		Callers: append([]string{}, a.Callers...),
	}
	for m := a.Lanes; m != 0; m &= m - 1 {
		r.Lanes = append(r.Lanes, bits.TrailingZeros32(m))
	}
	if a.Space != ptx.Generic {
		r.Space = a.Space.String()
	}
	return r
}
