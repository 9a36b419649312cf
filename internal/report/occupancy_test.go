package report

import (
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
)

// TestOccupancyAgrees compares the arithmetic with the driver of an H200, on all published
// records that have both.
func TestOccupancyAgrees(t *testing.T) {
	store, err := evidence.Open("../../evidence")
	if err != nil {
		t.Fatal(err)
	}
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, item := range store.Load().Items {
		r := item.Record
		if r.Resources == nil || r.Resources.Occupancy == nil || r.Build.Device.Driver != "cuda" {
			continue
		}
		f, ok := fit(r.Resources, chip)
		if !ok {
			continue
		}
		n++
		if want := r.Resources.Occupancy.BlocksPerSM; f.Blocks != want {
			t.Errorf("%s %s: %+v, the driver says %d", short(item.Hash), r.Kernel.Name, f, want)
		}
	}
	if n < 10 {
		t.Errorf("only %d records could be compared", n)
	}
}
