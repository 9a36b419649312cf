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

// The printed text assembles to the machine code, data and relocations of the
// text it was parsed from.
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

// unsupported matches what ptxas says of a text newer than itself.
var unsupported = regexp.MustCompile(`(?i)unsupported \.version|not defined for option 'gpu-name'`)

// assemble returns what ptxas makes of the text: the sections that hold code,
// data and relocations. Symbol names and debug information hold line numbers of
// the PTX, which printing changes.
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
	const version = 20 // where the ELF header holds it; in a cubin it is CUDA's
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
