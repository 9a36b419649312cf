package stats

import "math"

// Wilson returns Wilson's confidence interval for a proportion of which k of n draws are a
// sample. It never leaves [0, 1], and it is not empty where k is 0 or n. Without draws it is
// [0, 1].
func Wilson(k, n int, confidence float64) Interval {
	if n == 0 {
		return Interval{Low: 0, High: 1, Confidence: confidence}
	}
	z := math.Sqrt2 * math.Erfinv(confidence)
	size := float64(n)
	p := float64(k) / size
	middle := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	return Interval{Low: max(middle-half, 0), High: min(middle+half, 1), Confidence: confidence}
}
