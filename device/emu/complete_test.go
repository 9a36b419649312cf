package emu_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// notExecuted lists the forms of the table that the emulator refuses when a module is
// loaded: a piece of the form's syntax, and the reason.
var notExecuted = []struct{ syntax, why string }{
	{".im2col", "tensor maps of the im2col kind cannot be described to a device yet (D4)"},
}

// TestComplete loads every variant of every form of the table. A form must be either
// executed or in notExecuted.
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
				if retired(f.Syntax) {
					m.Version, m.Target = ptx.Version{Major: 6, Minor: 0}, ptx.Target{SM: 60}
				}
				_, err := dev.Load("k.ptx", m.String())
				switch {
				case err != nil && reason == "":
					t.Errorf("%s: %s", f.Syntax, firstLine(err))
				case err != nil:
					refused[reason] = true
				case reason != "":
					t.Errorf("%s is executed: remove it from notExecuted", f.Syntax)
				}
			}
		}
	}
	for _, n := range notExecuted {
		if !refused[n.syntax] {
			t.Errorf("no form with %s is refused: remove it from notExecuted", n.syntax)
		}
	}
}

// retired reports whether the form is a warp instruction that exists only for old targets.
func retired(syntax string) bool {
	return (strings.HasPrefix(syntax, "shfl.") || strings.HasPrefix(syntax, "vote.")) && !strings.Contains(syntax, ".sync")
}

// why returns the entry of notExecuted that matches the form, or "".
func why(syntax string) string {
	for _, n := range notExecuted {
		if strings.Contains(syntax, n.syntax) {
			return n.syntax
		}
	}
	return ""
}

// batches returns the variants of a form in batches of some hundred. Of forms with thousands
// of variants, which differ only in hints without effect, it returns every seventh variant.
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
