package campaign

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
)

// Criteria are what a user requires and predicts before the measurement. The fields are the
// values of --min-gain, --expect and --tolerance.
type Criteria struct {
	MinGain   string
	Expect    string
	Tolerance []string
}

// Check refuses values that cannot be read.
func (c *Criteria) Check() error {
	if _, err := c.criteria(); err != nil {
		return err
	}
	_, err := c.tolerance()
	return err
}

// criteria returns what is recorded; nil when there is nothing to record.
func (c *Criteria) criteria() (*record.Criteria, error) {
	if c.MinGain == "" && c.Expect == "" {
		return nil, nil
	}
	out := &record.Criteria{}
	var err error
	if c.MinGain != "" {
		if out.MinGain, err = percent(c.MinGain); err != nil || out.MinGain <= 0 {
			return nil, fmt.Errorf("--min-gain %s: use a percentage above 0, such as 5%%", c.MinGain)
		}
	}
	if c.Expect != "" {
		if out.Expected, err = expected(c.Expect); err != nil {
			return nil, fmt.Errorf("--expect %s: %w", c.Expect, err)
		}
	}
	return out, nil
}

// expected reads one percentage, or three: conservative, realistic and optimistic.
func expected(text string) (*record.Expected, error) {
	words := strings.Split(text, ",")
	if len(words) != 1 && len(words) != 3 {
		return nil, fmt.Errorf("use one percentage, +10%%, or three: conservative,realistic,optimistic")
	}
	var gains []float64
	for _, w := range words {
		g, err := percent(w)
		if err != nil {
			return nil, err
		}
		gains = append(gains, g)
	}
	if len(gains) == 1 {
		gains = []float64{gains[0], gains[0], gains[0]}
	}
	e := &record.Expected{Conservative: gains[0], Realistic: gains[1], Optimistic: gains[2]}
	if e.Conservative > e.Realistic || e.Realistic > e.Optimistic {
		return nil, fmt.Errorf("the three must rise: conservative, realistic, optimistic")
	}
	return e, nil
}

// percent reads +10%, 10% or 10 as 0.10.
func percent(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "+"), "%"), 64)
	if err != nil || !(x > -100 && x < 1e6) {
		return 0, fmt.Errorf("%q is not a percentage: write it as +10%%", text)
	}
	return x / 100, nil
}

// tolerance returns the tolerance that is asked for; nil is that of the gate. A user can
// make it stricter, never looser.
func (c *Criteria) tolerance() (*record.Tolerance, error) {
	if len(c.Tolerance) == 0 {
		return nil, nil
	}
	t := gate.Tolerance
	limits := map[string]*float64{"max": &t.Max, "mean": &t.Mean, "bad-share": &t.BadShare, "relative": &t.Relative}
	for _, word := range c.Tolerance {
		name, value, _ := strings.Cut(word, "=")
		limit := limits[name]
		x, err := strconv.ParseFloat(value, 64)
		switch {
		case limit == nil:
			return nil, fmt.Errorf("--tolerance %s: use max=X, mean=X, bad-share=X or relative=X", word)
		case err != nil || !(x >= 0):
			return nil, fmt.Errorf("--tolerance %s: %q is not a number from 0 on", word, value)
		case x > *limit:
			return nil, fmt.Errorf("--tolerance %s: the limit is %g, and it can only be made stricter", word, *limit)
		}
		*limit = x
	}
	return &t, nil
}
