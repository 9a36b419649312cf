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

// instructions returns a text for every few forms of the instruction table, with three variants
// of each.
func instructions() (texts []string) {
	for _, family := range isa.Families {
		var ms []isa.Match
		for _, form := range family.Forms {
			all := slices.Collect(form.Variants())
			ms = append(ms, all[0], all[len(all)/2], all[len(all)-1])
		}
		for part := range slices.Chunk(ms, 6) {
			m := isatest.Kernel("k", part)
			m.Version, m.Target = ptx.Version{Major: 9, Minor: 0}, ptx.SM90a
			texts = append(texts, m.String())
		}
	}
	return texts
}
