package gate

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/record"
)

// dummyGate shows that a gate is one file and one line in the list of gates.
var dummyGate = spec{"dummy", func(j *judgement) record.Gate {
	if strings.Contains(j.r.Kernel.Name, "forbidden") {
		return gateOf(record.Red, []string{"the name is forbidden"}, "")
	}
	return gateOf(record.Red, nil, "the name is allowed")
}}

func TestGateIsOneFile(t *testing.T) {
	list := gates
	t.Cleanup(func() { gates = list })
	gates = append([]spec{dummyGate}, gates...) // the line in the list

	r := green(0.8, 0.002)
	v := Judge(r)
	if g := v.Gates[0]; v.Outcome != record.Merge || len(v.Gates) != 5 || g.Name != "dummy" || g.Status != record.Green || g.Summary != "the name is allowed" {
		t.Errorf("%s: %+v", v.Outcome, v.Gates)
	}
	r.Kernel.Name = "forbidden"
	v = Judge(r)
	if v.Outcome != record.Reject || v.Why != "the dummy gate is red: the name is forbidden" || v.Gates[1].Status != record.Skipped {
		t.Errorf("%s: %s, %+v", v.Outcome, v.Why, v.Gates)
	}
}
