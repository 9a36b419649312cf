package campaign

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/record"
)

func TestCriteria(t *testing.T) {
	c := Criteria{MinGain: "5%", Expect: "+2%,10,20%", Tolerance: []string{"max=0.01", "relative=1.5"}}
	got, err := c.criteria()
	if err != nil || got.MinGain != 0.05 || *got.Expected != (record.Expected{Conservative: 0.02, Realistic: 0.10, Optimistic: 0.20}) {
		t.Errorf("%+v, %v", got, err)
	}
	tol, err := c.tolerance()
	if err != nil || tol.Max != 0.01 || tol.Relative != 1.5 || tol.Mean != 0.02 {
		t.Errorf("%+v, %v", tol, err)
	}
	if got, err := (&Criteria{Expect: "-3%"}).criteria(); err != nil || got.Expected.Realistic != -0.03 || got.Expected.Optimistic != -0.03 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := (&Criteria{}).criteria(); got != nil || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for want, c := range map[string]Criteria{
		"--min-gain 0%":                {MinGain: "0%"},
		"--min-gain fast":              {MinGain: "fast"},
		"--min-gain NaN":               {MinGain: "NaN"},
		"one percentage, +10%, or":     {Expect: "1,2"},
		`"much" is not a percentage`:   {Expect: "much"},
		"the three must rise":          {Expect: "3,2,1"},
		"can only be made stricter":    {Tolerance: []string{"max=0.07"}},
		"use max=X, mean=X":            {Tolerance: []string{"rms=1"}},
		`"" is not a number from 0 on`: {Tolerance: []string{"max"}},
		`"NaN" is not a number`:        {Tolerance: []string{"mean=NaN"}},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
