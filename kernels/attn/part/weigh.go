package part

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// Weigh merges softmaxes of the same rows over different keys. logs[i] are the log₂ of the row
// sums of part i, -∞ for a row that has seen no key. Weigh returns the weight of each part's O/l,
// by part and row slot: its row sum divided by the largest one. It also returns the factor that
// normalises the weighted sum, with vs as the scale of V, and with lse the rows' log-sum-exp to
// base e. A NaN stays a NaN.
func Weigh(k *build.Kernel, logs [][]build.F32, vs func() build.F32, lse bool) (weight [][]build.F32, norm, logSums []build.F32) {
	weight = make([][]build.F32, len(logs))
	for s := range logs[0] {
		most := logs[0][s]
		for _, x := range logs[1:] {
			most = most.Max(x[s], build.NaN)
		}
		base, sum := finite(k, most), k.F32(0)
		for i := range logs {
			w := logs[i][s].Sub(base, build.Rn).Ex2Approx(build.Ftz)
			weight[i] = append(weight[i], w)
			sum = sum.Add(w, build.Rn)
		}
		seen := most.SetpGtu(tile.NegInf(k)) // or NaN
		norm = append(norm, vs().Mul(sum.RcpApprox(build.Ftz), build.Rn).Selp(0, seen))
		if lse {
			whole := base.Add(sum.Lg2Approx(build.Ftz), build.Rn).Mul(math.Ln2, build.Rn)
			logSums = append(logSums, whole.Selp(tile.NegInf(k), seen))
		}
	}
	return weight, norm, logSums
}

// finite returns x, or 0 for -∞. A NaN stays a NaN.
func finite(k *build.Kernel, x build.F32) build.F32 {
	return x.Selp(0, x.SetpGtu(tile.NegInf(k)))
}
