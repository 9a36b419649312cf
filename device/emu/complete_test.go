package emu_test

import (
	"slices"
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

// TestComplete loads every variant of every form of the table, on a target that has it. A form must
// be either executed or in notExecuted.
func TestComplete(t *testing.T) {
	devices := map[ptx.Target]*emu.Device{}
	for _, target := range completeTargets {
		dev, err := emu.New(target, emu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		devices[target] = dev
	}
	refused := map[string]bool{}
	for _, fam := range isa.Families {
		for _, f := range fam.Forms {
			reason := why(f.Syntax)
			for _, b := range batches(t, f) {
				m := isatest.Kernel("k", b.variants)
				m.Version, m.Target = newestVersion, b.target
				if retired(f.Syntax) {
					m.Version, m.Target = ptx.Version{Major: 6, Minor: 0}, ptx.Target{SM: 60}
				}
				_, err := devices[b.target].Load("k.ptx", m.String())
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

// completeTargets lists the targets on which TestComplete loads variants. The first that has a
// variant loads it.
var completeTargets = []ptx.Target{ptx.SM90a, ptx.Blackwell[0], ptx.Blackwell[2]}

var newestVersion = ptx.Version{Major: 9, Minor: 0}

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

// batch holds variants of a form for one target.
type batch struct {
	target   ptx.Target
	variants []isa.Match
}

// batches returns the variants of a form in batches of some hundred. Of forms with thousands
// of variants, which differ only in hints without effect, it returns every seventh variant.
func batches(t *testing.T, f *isa.Form) (bs []batch) {
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
	byTarget := map[ptx.Target][]isa.Match{}
	for _, m := range all {
		at := slices.IndexFunc(completeTargets, func(t ptx.Target) bool { return m.RunsOn(newestVersion, t) })
		if at < 0 {
			t.Errorf("no target of the emulator has %s", m.Opcode().Text)
			continue
		}
		byTarget[completeTargets[at]] = append(byTarget[completeTargets[at]], m)
	}
	for target, ms := range byTarget {
		for part := range slices.Chunk(ms, 300) {
			bs = append(bs, batch{target, part})
		}
	}
	return bs
}

func firstLine(err error) string {
	s, _, _ := strings.Cut(err.Error(), "\n")
	return s
}
