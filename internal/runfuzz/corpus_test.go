package runfuzz

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// mostBytes is the size of the texts that are worth changing: most changes of a long text are in
// places that are never executed.
const mostBytes = 6000

// Corpus returns texts to start from: the instructions of the table, a few per text, and the
// small kernels among the tests of a clone of the repository.
func Corpus(root string) ([]string, error) {
	texts := instructions()
	for _, pattern := range []string{"device/emu/check/testdata/ptx/*.txtar", "testdata/bug/*/kernel.ptx", "ptx/parse/testdata/*/*.ptx", "device/emu/testdata/*/*.ptx"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			_, text, _ := strings.Cut(string(data), ".version") // a txtar has other files before it
			text, _, _ = strings.Cut(text, "\n-- ")
			if text != "" && len(text) < mostBytes {
				texts = append(texts, ".version"+text)
			}
		}
	}
	return texts, nil
}

// targets are the architectures of the texts for the instruction table. A form is in the text of
// the first of them that has it.
var targets = []ptx.Target{ptx.SM90a, {SM: 100, Feature: 'a'}}

// instructions returns a text for every few forms of the instruction table, with three variants
// of each. It leaves out the tensor memory of Blackwell, which the emulator does not have.
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
			for part := range slices.Chunk(ms[i], 6) {
				m := isatest.Kernel("k", part)
				m.Version, m.Target = version, target
				texts = append(texts, m.String())
			}
		}
	}
	return texts
}
