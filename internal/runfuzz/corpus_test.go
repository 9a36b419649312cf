package runfuzz

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// mostBytes is the size of the texts that are worth changing: most changes of a long text are in
// places that are never executed.
const mostBytes = 6000

// mostLarge is the size of the largest texts from which lines are taken.
const mostLarge = 200_000

// Corpus returns texts to start from: the instructions of the table, one or two per text, and the
// small kernels among the tests of a clone of the repository. The large texts are the other kernels
// of the tests, and the presets.
func Corpus(root string) (small, large []string, err error) {
	small = instructions()
	add := func(text string) {
		if len(text) < mostBytes {
			small = append(small, text)
		} else if len(text) < mostLarge {
			large = append(large, text)
		}
	}
	for _, pattern := range []string{"device/emu/check/testdata/*/*.txtar", "testdata/bug/*/kernel.ptx", "ptx/parse/testdata/*/*.ptx", "device/emu/testdata/*/*.ptx", "lab/testdata/*/*.ptx", "examples/*/*.ptx"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, nil, err
			}
			_, text, ok := strings.Cut(string(data), ".version") // a txtar has other files before it
			text, _, _ = strings.Cut(text, "\n-- ")
			if ok {
				add(".version" + text)
			}
		}
	}
	for _, text := range presets() {
		add(text)
	}
	return small, large, nil
}

// presets returns the texts of all presets for a small problem.
func presets() (texts []string) {
	for _, name := range kernels.Names() {
		for _, d := range []int{64, 128} {
			p := problem.Attention{Shape: problem.Square(1, 1, 64, d)}.Filled()
			k, err := kernels.Build(name, p, kernel.Chip{Target: ptx.SM90a, SMs: 132, SharedMax: 227 << 10, SharedPerSM: 228 << 10})
			if err == nil {
				texts = append(texts, k.PTX)
			}
		}
	}
	return texts
}

// targets are the architectures of the texts for the instruction table. A form is in the text of
// the first of them that has it.
var targets = []ptx.Target{ptx.SM90a, {SM: 100, Feature: 'a'}}

// instructions returns a text for every two variants of the instruction table, with three variants of
// each form. It leaves out the tensor memory of Blackwell, which the emulator does not have.
func instructions() (texts []string) {
	version := ptx.Version{Major: 9, Minor: 0}
	for _, family := range isa.Families {
		ms := make([][]isa.Match, len(targets))
		for _, form := range family.Forms {
			if form.Op == "tcgen05" {
				continue
			}
			all := slices.Collect(form.Variants())
			for _, m := range []isa.Match{all[0], all[len(all)/2], all[len(all)-1]} {
				if i := slices.IndexFunc(targets, func(t ptx.Target) bool { return m.RunsOn(version, t) }); i >= 0 {
					ms[i] = append(ms[i], m)
				}
			}
		}
		for i, target := range targets {
			for part := range slices.Chunk(ms[i], 2) {
				m := isatest.Kernel("k", part)
				m.Version, m.Target = version, target
				texts = append(texts, m.String())
			}
		}
	}
	return texts
}
