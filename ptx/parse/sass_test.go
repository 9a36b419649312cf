package parse_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSameMachineCode checks that ptxas gives the same machine code, data and relocations for a
// text and for its printed form.
func TestSameMachineCode(t *testing.T) {
	if testing.Short() {
		t.Skip("assembles the whole corpus twice")
	}
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	for _, file := range corpus(t) {
		t.Run(testName(file), func(t *testing.T) {
			src := read(t, file)
			m := mustParse(t, file, src)
			want := assemble(t, m.Target.String(), src)
			got := assemble(t, m.Target.String(), m.String())
			if len(want) == 0 {
				t.Fatal("the object has no sections to compare")
			}
			for name, data := range want {
				if !bytes.Equal(data, got[name]) {
					t.Errorf("section %s differs", name)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d sections, want %d", len(got), len(want))
			}
		})
	}
}

// unsupported matches the error of ptxas for a text that is newer than ptxas.
var unsupported = regexp.MustCompile(`(?i)unsupported \.version|not defined for option 'gpu-name'`)

// assemble returns the sections with code, data and relocations that ptxas makes from the text.
// It leaves out symbol names and debug information, because they contain line numbers of the
// PTX, which printing changes.
func assemble(t *testing.T, target, text string) map[string][]byte {
	t.Helper()
	in := filepath.Join(t.TempDir(), "text.ptx")
	out := filepath.Join(filepath.Dir(in), "text.cubin")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	msg, err := exec.Command("ptxas", "-c", "-arch", target, "-o", out, in).CombinedOutput()
	if unsupported.Match(msg) {
		t.Skipf("this ptxas is older than the text: %s", bytes.TrimSpace(msg))
	}
	if err != nil {
		t.Fatalf("ptxas: %v\n%s", err, msg)
	}
	object := []byte(read(t, out))
	const version = 20 // the offset of the version in the ELF header; a cubin has the CUDA version there
	binary.LittleEndian.PutUint32(object[version:], uint32(elf.EV_CURRENT))
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string][]byte{}
	for _, s := range f.Sections {
		switch s.Type {
		case elf.SHT_PROGBITS, elf.SHT_RELA, elf.SHT_REL:
		default:
			continue
		}
		if strings.Contains(s.Name, "debug") {
			continue
		}
		if sections[s.Name], err = s.Data(); err != nil {
			t.Fatal(err)
		}
	}
	return sections
}
