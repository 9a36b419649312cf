package verify

import (
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestTable checks that Check accepts every variant of the instruction table for the version and
// the architecture that the table says it needs. The texts are those that ptxas accepts.
func TestTable(t *testing.T) {
	const batch = 500
	checked := 0
	for _, fam := range isa.Families {
		byNeeds := map[isa.Needs][]isa.Match{}
		for _, f := range fam.Forms {
			for m := range f.Variants() {
				byNeeds[m.Needs()] = append(byNeeds[m.Needs()], m)
			}
		}
		for _, ms := range byNeeds {
			for len(ms) > 0 {
				n := min(batch, len(ms))
				checked += n
				checkVariants(t, ms[:n])
				ms = ms[n:]
			}
		}
	}
	if checked == 0 {
		t.Fatal("the table is empty")
	}
	t.Logf("%d variants", checked)
}

func checkVariants(t *testing.T, ms []isa.Match) {
	t.Helper()
	m, err := parse.Parse("table.ptx", isatest.Kernel("k", ms).String())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Check(m) {
		// Samples read registers without setting them first.
		if d.Severity == finding.Error && d.Kind != "uninit-register" {
			t.Errorf("%s: %s: %s", ms[0].Form.Family.Name, d.Kind, d.Message)
		}
	}
}
