package fp8

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/english"
)

// Centre returns x minus the mean of its rows, and the means, [B,H,D]: one for each column of each
// head and batch entry.
//
// Use it on K before [Quantise]. The keys of a model often share a large offset in a few columns,
// which takes up the range of the format. Without the offset all logits of a query change by the
// same number, scale·(q·mean), so the weights stay as they are. Everything that depends on the
// logits themselves changes: the log-sum-exp is smaller by that number, and a soft cap or a sink
// gives a different result. Elements must be finite.
func Centre(d Dims, x []float32) (centred, means []float32, err error) {
	if err := d.Check(); err != nil {
		return nil, nil, err
	}
	if len(x) != d.Len() {
		return nil, nil, fmt.Errorf("centre: %s given, but a tensor %v has %d", english.Are(len(x), "element"), d, d.Len())
	}
	if _, err := absmax(PerTensor, d, x); err != nil {
		return nil, nil, err // before a NaN spreads over its column
	}
	centred, means = make([]float32, len(x)), make([]float32, d.B*d.H*d.D)
	sums := make([]float64, d.D)
	for head := range d.B * d.H {
		rows, mean := x[head*d.S*d.D:][:d.S*d.D], means[head*d.D:][:d.D]
		clear(sums)
		for i, v := range rows {
			sums[i%d.D] += float64(v)
		}
		for c, sum := range sums {
			mean[c] = float32(sum / float64(d.S))
		}
		for i, v := range rows {
			centred[head*d.S*d.D+i] = v - mean[i%d.D]
		}
	}
	return centred, means, nil
}
