package record

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// DefaultMinGain is the speedup over the baseline from which a kernel is worth merging, unless
// --min-gain sets another: 10 %.
const DefaultMinGain = 0.10

// Criteria are what was required and predicted before anything was measured.
type Criteria struct {
	// MinGain is the required speedup over the baseline: 0.10 is 10 %. Zero selects
	// DefaultMinGain.
	MinGain float64 `json:"min_gain,omitempty"`
	// Expected is the predicted speedup, or nil if there was no prediction.
	Expected *Expected `json:"expected,omitempty"`
}

// Expected is a predicted speedup over the baseline, as a range with its most likely value.
type Expected struct {
	Conservative float64 `json:"conservative"`
	Realistic    float64 `json:"realistic"`
	Optimistic   float64 `json:"optimistic"`
}

// MinGain returns the speedup over the baseline that the record's kernel has to reach.
func (r *Record) MinGain() float64 {
	if r.Criteria == nil || r.Criteria.MinGain == 0 {
		return DefaultMinGain
	}
	return r.Criteria.MinGain
}

// ParseExpected reads a predicted speedup: one percentage such as +10%, or three, as in
// 2%,10%,20%: conservative, realistic and optimistic.
func ParseExpected(text string) (*Expected, error) {
	words := strings.Split(text, ",")
	if len(words) != 1 && len(words) != 3 {
		return nil, errors.New("use one percentage, +10%, or three: conservative,realistic,optimistic")
	}
	var gains []float64
	for _, w := range words {
		g, err := ParseGain(w)
		if err != nil {
			return nil, err
		}
		gains = append(gains, g)
	}
	if len(gains) == 1 {
		gains = []float64{gains[0], gains[0], gains[0]}
	}
	e := &Expected{Conservative: gains[0], Realistic: gains[1], Optimistic: gains[2]}
	if e.Conservative > e.Realistic || e.Realistic > e.Optimistic {
		return nil, errors.New("the three must rise: conservative, realistic, optimistic")
	}
	return e, nil
}

// ParseGain reads +10%, 10% or 10 as 0.10.
func ParseGain(text string) (float64, error) {
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "+"), "%"), 64)
	if err != nil || !(x > -100 && x < 1e6) {
		return 0, fmt.Errorf("%q is not a percentage: write it as +10%%", text)
	}
	return x / 100, nil
}
