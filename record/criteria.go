package record

// DefaultMinGain is the speedup over the baseline from which a kernel is worth merging when
// nobody requires another: 10 %.
const DefaultMinGain = 0.10

// Criteria are what was required and predicted before anything was measured.
type Criteria struct {
	// MinGain is the required speedup over the baseline: 0.10 is 10 %. Zero selects
	// DefaultMinGain.
	MinGain float64 `json:"min_gain,omitempty"`
	// Expected is the predicted speedup, nil when nobody predicted one.
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
