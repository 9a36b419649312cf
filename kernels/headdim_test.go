package kernels

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// TestValueHeadDim wants every kernel either to refuse V with another head dimension than K, with a reason
// and before it is built, or to have a contract that supports exactly that head dimension.
func TestValueHeadDim(t *testing.T) {
	p := problem.Attention{Shape: problem.Shape{B: 1, Hq: 2, Hkv: 2, Sq: 2, Skv: 256, D: 64, DV: 128}}.Filled()
	other := p
	other.DV = 0
	for _, name := range Names() {
		k, err := Build(name, p, kernel.Chip{})
		if err != nil {
			if why := err.Error(); !strings.Contains(why, "heads of V") && !strings.Contains(why, "head dimension 64/128") {
				t.Errorf("%s: %v", name, err)
			}
			if Check(name, p, kernel.Chip{}) == nil {
				t.Errorf("%s is not built, and Check accepts the problem", name)
			}
			continue
		}
		if err := k.Serves(p, kernel.Chip{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if k.Serves(other, kernel.Chip{}) == nil {
			t.Errorf("%s is written for 64/128 and accepts 64", name)
		}
	}
}
