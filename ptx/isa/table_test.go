package isa

import "testing"

func TestVariantsFindThemselves(t *testing.T) {
	for _, fam := range Families {
		for _, f := range fam.Forms {
			for m := range f.Variants() {
				found := false
				for _, l := range Lookup(m.Opcode()) {
					found = found || l.Form == f
				}
				if !found {
					t.Errorf("%s: Lookup(%s) does not find the form", f.Syntax, m.Opcode().Text)
				}
			}
		}
	}
}
