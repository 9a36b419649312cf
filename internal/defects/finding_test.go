package defects

import (
	"encoding/json"
	"strings"
	"testing"

	"attest/device/emu/check"
)

// TestListMerges: what two schedules show alike is one finding, also when the
// accesses of a race change places.
func TestListMerges(t *testing.T) {
	var l List
	a, b := race().Defect, race().Defect
	b.Access, b.Other = *a.Other, &a.Access
	warning := race().Defect
	warning.Severity = check.Warning
	elsewhere := race().Defect
	elsewhere.Access.Pos.Line++
	l.Add(3, a)
	l.Add(4, b, warning)
	l.Add(5, elsewhere, check.Defect{Kind: Schedule, Severity: check.Error, Message: "x"}, check.Defect{Kind: Schedule, Severity: check.Error, Message: "y"})
	all := l.All()
	if len(all) != 5 {
		t.Fatalf("%d findings, want 5", len(all))
	}
	if f := all[0]; f.Count != 64 || f.Schedule != 3 || f.Access.Pos.Line != 6 {
		t.Errorf("the first was seen %d times, since schedule %d, at line %d", f.Count, f.Schedule, f.Access.Pos.Line)
	}
	if errs, warnings := l.Count(); errs != 4 || warnings != 1 {
		t.Errorf("%d errors and %d warnings, want 4 and 1", errs, warnings)
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
		`"kind":"shared-race","severity":"error","kernel":"k","message":"write to`,
		`"ptx_line":6,"ptx_column":2,"instruction":"st.shared.u32","function":"k","source":"k.cu:2:5","action":"write",` +
			`"block":[0,0,0],"warp":1,"lanes":[0,1,2,3],"space":"shared","address":"s+0x4","variable":"s","offset":4,"size":4,"lane":0,`,
		`"other":{"ptx_line":8,`, `"block":[1,0,0],"warp":0,"lanes":[7],`,
		`"waiters":[{"ptx_line":0,`, `"waits_for":"barrier 0"}]`, `"count":32,"schedule":0}`,
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}
