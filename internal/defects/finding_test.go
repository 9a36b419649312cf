package defects

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu/check"
)

// TestListMerges: what two schedules show alike is one finding, also when the
// accesses of a race change places. An error outdoes a warning.
func TestListMerges(t *testing.T) {
	var l List
	a, b := race().Defect, race().Defect
	a.Severity = check.Warning
	b.Access, b.Other = *a.Other, &a.Access
	elsewhere := race().Defect
	elsewhere.Access.Pos.Line++
	l.Add(3, a)
	l.Add(4, b)
	l.Add(5, elsewhere, check.Defect{Kind: Schedule, Severity: check.Error, Message: "x"}, check.Defect{Kind: Schedule, Severity: check.Warning, Message: "y"})
	all := l.All()
	if len(all) != 4 {
		t.Fatalf("%d findings, want 4", len(all))
	}
	if f := all[0]; f.Count != 64 || f.Schedule != 3 || f.Severity != check.Error || f.Access.Pos.Line != 8 {
		t.Errorf("the first was seen %d times, since schedule %d, as a %s at line %d", f.Count, f.Schedule, f.Severity, f.Access.Pos.Line)
	}
	if errs, warnings := l.Count(); errs != 3 || warnings != 1 {
		t.Errorf("%d errors and %d warnings, want 3 and 1", errs, warnings)
	}
}

// TestListKeepsBothSides: in one schedule, a race with its accesses the other way
// round is one of its own.
func TestListKeepsBothSides(t *testing.T) {
	var l List
	a, b := race().Defect, race().Defect
	b.Access, b.Other = *a.Other, &a.Access
	l.Add(0, a, b)
	l.Add(1, b, a)
	if all := l.All(); len(all) != 2 || all[0].Count != 64 || all[1].Count != 64 {
		t.Errorf("%d findings, want 2 of 64", len(all))
	}
}

func TestRulesExplainEveryKind(t *testing.T) {
	for _, k := range append([]check.Kind{Fault, Timeout, Schedule, Mismatch}, check.Kinds...) {
		r := RuleOf(k)
		if r == nil {
			t.Errorf("%s has no rule", k)
			continue
		}
		if r.Short == "" || !strings.HasSuffix(r.Full, ".") || !strings.HasSuffix(r.Help, ".") {
			t.Errorf("%s is not explained: %+v", k, r)
		}
		if len(r.Short) > 78 {
			t.Errorf("%s: %d columns do not fit a help text", k, len(r.Short))
		}
	}
	if len(Rules) != len(check.Kinds)+4 {
		t.Errorf("%d rules for %d kinds", len(Rules), len(check.Kinds)+4)
	}
}

func TestNearest(t *testing.T) {
	for in, want := range map[string]check.Kind{
		"shared-rac": check.SharedRace, "uninit-regster": check.UninitRegister, "deadlok": check.Deadlock,
		"proxy": check.ProxyFence, "wgmma": check.WgmmaHazard, "hazard": check.WgmmaHazard, "nonsense": "", "": "",
	} {
		if got := Nearest(in); got != want {
			t.Errorf("%q is near %q, want %q", in, got, want)
		}
	}
}

func TestRecord(t *testing.T) {
	f := race()
	f.Waiters = []check.Access{{Warp: 2, Note: "barrier 0"}}
	got, err := json.Marshal(f.Record())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"kind":"shared-race","severity":"error","message":"write to`,
		`"ptx_line":6,"ptx_column":2,"instruction":"st.shared.u32","source":"k.cu:2:5","callers":["k.cu:3:1"],"block":[0,0,0],"warp":1,"lanes":[0,1,2,3],` +
			`"function":"k","action":"write","space":"shared","address":"s+0x4","variable":"s","offset":4,"size":4,"lane":0,"kernel":"k",`,
		`"other":{"ptx_line":8,`, `"block":[1,0,0],"warp":0,"lanes":[7],`,
		`"waiters":[{"ptx_line":0,`, `"waits_for":"barrier 0"}]`, `"count":32,"schedule":0}`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}
