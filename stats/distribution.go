package stats

import "math"

// normal returns the probability that a standard normal value is at most x.
func normal(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// quantileNormal is the inverse of normal.
func quantileNormal(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// student returns the p-quantile of Student's t with df degrees of freedom. It bisects an
// interval, which is fast enough for a few calls per comparison. p must be between 0 and 1.
func student(p float64, df int) float64 {
	if p < 0.5 {
		return -student(1-p, df)
	}
	low, high := 0.0, 1.0
	for studentCDF(high, df) < p {
		high *= 2
	}
	for range 200 {
		if mid := (low + high) / 2; studentCDF(mid, df) < p {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// studentCDF returns the probability of at most t ≥ 0, by the finite sums for whole degrees
// of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
func studentCDF(t float64, df int) float64 {
	theta := math.Atan(t / math.Sqrt(float64(df)))
	sin, cos := math.Sincos(theta)
	if df%2 == 0 {
		return 0.5 + sin*series(cos, df, 2)/2
	}
	between := theta
	if df > 1 {
		between += sin * cos * series(cos, df, 3)
	}
	return 0.5 + between/math.Pi
}

// series returns 1 + (first-1)/first·cos² + … up to cos^(df-2) or cos^(df-3).
func series(cos float64, df, first int) float64 {
	sum, term := 1.0, 1.0
	for k := first; k < df; k += 2 {
		term *= float64(k-1) / float64(k) * cos * cos
		sum += term
	}
	return sum
}
