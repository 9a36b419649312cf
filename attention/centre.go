package attention

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// checkCentre refuses to centre keys where more than the weights depends on the logits, or where the
// kernel changes the keys.
func checkCentre(p Problem) error {
	switch {
	case p.Softcap != 0:
		return fmt.Errorf("keys without their mean have other logits, so a soft cap of %v would give another result: leave out CentreKeys", p.Softcap)
	case p.Sinks:
		return errors.New("keys without their mean have other logits, so sinks would take another share of the weight: leave out CentreKeys")
	case p.Rope != "":
		return errors.New("the kernel rotates the keys, so their mean does not drop out of the softmax: leave out CentreKeys")
	}
	return nil
}

// centred is an input without its mean over the rows of a head. Centre it before it is quantised.
type centred struct {
	floats
	means []float32 // [B,Hkv,D]
}

func centre(in Input, d fp8.Dims) (*centred, error) {
	x, ok := in.(floats)
	if !ok {
		return nil, errors.New("CentreKeys needs keys that are not quantised: use F32, F16 or BF16, or call fp8.Centre before fp8.Quantise")
	}
	c, means, err := fp8.Centre(d, x)
	return &centred{c, means}, err
}

// addMeans adds to the log-sum-exp of each row what the means of the keys contribute to its logits:
// scale·(q·mean), with the quantised q.
func (c *centred) addMeans(p problem.Attention, q *fp8.Tensor, lse []float32) {
	s, row := p.Shape, make([]float64, p.D)
	for i := range lse {
		b, h, at := i/s.Sq/s.Hq, i/s.Sq%s.Hq, i%s.Sq
		q.Row(b, h, at, row)
		mean := c.means[(b*s.Hkv+s.HeadKV(h))*s.D:]
		var dot float64
		for d, x := range row {
			dot += x * float64(mean[d])
		}
		lse[i] += float32(p.LogitScale() * dot)
	}
}
