package report

import (
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

func TestParity(t *testing.T) {
	shape := problem.Square(1, 1, 64, 64)
	measured := func(name, format string, hashes ...string) *record.Record {
		r := &record.Record{Kernel: record.Kernel{Name: name, Format: format}, Correctness: &record.Correctness{}}
		for i, h := range hashes {
			r.Correctness.Cases = append(r.Correctness.Cases, record.Case{Shape: shape, Seed: uint64(i), Distribution: "normal", OutputsHash: h})
		}
		return r
	}
	a := measured("stage2", "e4m3", "x", "y", "z", "")
	for _, c := range []struct {
		b    *record.Record
		want string
	}{
		{measured("stage3a", "e4m3", "x", "y", "z"), "same bits as stage2 on 3 of 3 cases"},
		{measured("stage3a", "e4m3", "x", "other"), "same bits as stage2 on 1 of 2 cases"},
		{measured("stage3a", "e4m3", "x", "", "", ""), "same bits as stage2 on 1 of 1 case"}, // a case that failed has no bits
		{measured("stage3a", "u8", "x"), "same bits as stage2 on 0 of 0 cases"},
		{&record.Record{}, "same bits as stage2 on 0 of 0 cases"},
	} {
		if got := ParityOf(a, c.b).String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	c := measured("stage3a", "e4m3", "x")
	c.Correctness.Cases[0].Distribution = "uniform"
	if p := ParityOf(a, c); p.Of != 0 {
		t.Errorf("other inputs are compared: %v", p)
	}
}
