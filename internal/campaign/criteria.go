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
		if out.MinGain, err = record.ParseGain(c.MinGain); err != nil || out.MinGain <= 0 {
			return nil, fmt.Errorf("--min-gain %s: use a percentage above 0, such as 5%%", c.MinGain)
		}
	}
	if c.Expect != "" {
		if out.Expected, err = record.ParseExpected(c.Expect); err != nil {
			return nil, fmt.Errorf("--expect %s: %w", c.Expect, err)
		}
	}
	return out, nil
}

// tolerance returns the tolerance that --tolerance sets, or nil for that of the gate. A user can
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
