package emu_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// notExecuted are the forms of the table that the emulator refuses when a module is
// loaded, each with its reason: a piece of the form's syntax, and why.
var notExecuted = []struct{ syntax, why string }{
	{".im2col", "tensor maps of the im2col kind cannot be described to a device yet (D4)"},
}

// TestComplete loads every variant of every form of the table. Each must be
// executed or be in the list above; and nothing is in the list that is executed.
func TestComplete(t *testing.T) {
	dev, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for _, fam := range isa.Families {
		for _, f := range fam.Forms {
			reason := why(f.Syntax)
			for _, ms := range batches(f) {
				m := isatest.Kernel("k", ms)
				m.Version, m.Target = ptx.Version{Major: 9, Minor: 0}, ptx.SM90a
				_, err := dev.Load("k.ptx", m.String())
				switch {
				case err != nil && reason == "":
					t.Errorf("%s: %s", f.Syntax, firstLine(err))
				case err != nil:
					refused[reason] = true
				case reason != "":
					t.Errorf("%s is executed: take it off the list", f.Syntax)
				}
			}
		}
	}
	for _, n := range notExecuted {
		if !refused[n.syntax] {
			t.Errorf("nothing with %s is refused: take it off the list", n.syntax)
		}
	}
}

// why is the entry of the list that the form falls under, or "".
func why(syntax string) string {
	for _, n := range notExecuted {
		if strings.Contains(syntax, n.syntax) {
			return n.syntax
		}
	}
	return ""
}

// batches are the form's variants, some hundred at a time; of forms with thousands,
// which differ in hints that change nothing, every seventh.
func batches(f *isa.Form) (bs [][]isa.Match) {
	var all []isa.Match
	for m := range f.Variants() {
		all = append(all, m)
	}
	if len(all) > 3000 {
		for i := range len(all) / 7 {
			all[i] = all[7*i]
		}
		all = all[:len(all)/7]
	}
	for len(all) > 300 {
		bs, all = append(bs, all[:300]), all[300:]
	}
	return append(bs, all)
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
