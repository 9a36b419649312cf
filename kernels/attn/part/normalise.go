package part

import (
	"math"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
)

// Sums returns the rows' references and their sums l over all lanes. With SumsInV the
// sums are in O, in column col of lane 0 and the two columns after it of each next lane:
// each lane of a row has a part.
func (s *Softmax) Sums(O *tile.Frag, col int) (reference, l []build.F32) {
	for i := range s.l {
		reference = append(reference, s.reference[i].Get())
		mine := s.l[i].Get()
		if s.SumsInV {
			mine = O.Get(col/2 + 2*i)
		}
		l = append(l, build.LaneReduce(mine, rowLanes, add))
	}
	return reference, l
}

// References returns what the rows' sums are relative to: the shifts lift - c·m of their maxima m.
func (s *Softmax) References() (references []build.F32) {
	for _, r := range s.reference {
		references = append(references, r.Get())
	}
	return references
}

// Normalise returns the factor vs/l of each row's output. A row without keys has l = 0,
// and its output is 0. With lse it also returns the rows' log-sum-exp to base e,
// (log₂ l + c·m - lift)·ln 2, which is -∞ for a row without keys.
func (s *Softmax) Normalise(vs build.F32, reference, l []build.F32, lse bool) (norm, logs []build.F32) {
	k := s.K
	for i := range l {
		seen := l[i].SetpNeu(0) // also true for NaN
		norm = append(norm, vs.DivRn(l[i]).Selp(0, seen))
		if lse {
			logit := l[i].Lg2Approx().Sub(reference[i], build.Rn)
			logs = append(logs, logit.Mul(math.Ln2, build.Rn).Selp(tile.NegInf(k), seen))
		}
	}
	return norm, logs
}
