package emu_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/internal/ops"
	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// TestComplete loads every variant of every form of the table, on a target that has it. The emulator
// must execute all families except those for which it says why it does not.
func TestComplete(t *testing.T) {
	devices := map[ptx.Target]*emu.Device{}
	for _, target := range completeTargets {
		dev, err := emu.New(target, emu.Options{})
		if err != nil {
			t.Fatal(err)
		}
		devices[target] = dev
	}
	for _, fam := range isa.Families {
		reason := ops.NotExecuted(fam.Name)
		for _, f := range fam.Forms {
			for _, b := range batches(t, f) {
				m := isatest.Kernel("k", b.variants)
				m.Version, m.Target = isa.Newest, b.target
				if retired(f.Syntax) {
					m.Version, m.Target = ptx.Version{Major: 6, Minor: 0}, ptx.Target{SM: 60}
				}
				_, err := devices[b.target].Load("k.ptx", m.String())
				switch {
				case err != nil && (reason == "" || !strings.Contains(err.Error(), reason)):
					t.Errorf("%s: %s", f.Syntax, firstLine(err))
				case err == nil && reason != "":
					t.Errorf("%s is executed, although family %s should not be: %s", f.Syntax, fam.Name, reason)
				}
			}
		}
	}
}

// TestCompletenessList checks that DEVIATIONS.md has one line for each family that the emulator does
// not execute.
func TestCompletenessList(t *testing.T) {
	text, err := os.ReadFile("../../DEVIATIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	list := 0
	for _, fam := range isa.Families {
		reason := ops.NotExecuted(fam.Name)
		if reason == "" {
			continue
		}
		list++
		var opcodes []string
		for _, f := range fam.Forms {
			if op := "`" + f.Op + "`"; !slices.Contains(opcodes, op) {
				opcodes = append(opcodes, op)
			}
		}
		if line := fmt.Sprintf("| %s: %s | %s |", fam.Doc, strings.Join(opcodes, ", "), reason); !strings.Contains(string(text), line) {
			t.Errorf("DEVIATIONS.md does not have the line\n%s", line)
		}
	}
	_, section, _ := strings.Cut(string(text), "## What the emulator does not execute")
	section, _, _ = strings.Cut(section, "\n## ")
	if rows := strings.Count(section, "\n| ") - 1; rows != list {
		t.Errorf("the list in DEVIATIONS.md has %d lines; %d families are not executed", rows, list)
	}
}

// completeTargets lists the targets on which TestComplete loads variants. The first that has a
// variant loads it.
var completeTargets = append([]ptx.Target{ptx.SM90a}, ptx.Blackwell...)

// retired reports whether the form is a warp instruction that exists only for old targets.
func retired(syntax string) bool {
	return (strings.HasPrefix(syntax, "shfl.") || strings.HasPrefix(syntax, "vote.")) && !strings.Contains(syntax, ".sync")
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
		at := slices.IndexFunc(completeTargets, func(t ptx.Target) bool { return m.RunsOn(isa.Newest, t) })
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
