package verify

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
)

// TestValid compares Valid with Check: both must report the same errors, except those that an
// assembler does not look for.
func TestValid(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := mustParse(t, file, string(text))
		want := map[string]bool{}
		for _, f := range Check(m) {
			if f.Severity == finding.Error && f.Kind != "uninit-register" && f.Kind != "bad-barrier" {
				want[f.Format(file)] = true
			}
		}
		var invalid *Invalid
		if err := Valid(file, m); err != nil && !errors.As(err, &invalid) {
			t.Fatal(err)
		}
		if invalid != nil {
			for _, f := range invalid.Findings {
				if s := f.Format(file); !want[s] && f.Kind != "bad-barrier" {
					t.Errorf("only Valid reports %s", s)
				} else {
					delete(want, s)
				}
			}
		}
		for s := range want {
			t.Errorf("only Check reports %s", s)
		}
	}
}

// TestInvalidBarrier wants a barrier that does not exist to be an error only where the text
// names it, since an assembler does not know the values of registers.
func TestInvalidBarrier(t *testing.T) {
	for body, want := range map[string]string{
		"call 2, ();":                     "2 cannot be called: name a function, or a register with its address",
		"bar.sync 16;":                    "bar.sync: barrier 16 does not exist; a block has 0 to 15",
		"mov.u32 %r1, 16;\nbar.sync %r1;": "",
		"add.u32 %r1, %r2, %r3;":          "", // registers that nothing has written
	} {
		m := mustParse(t, "k.ptx", header+".visible .entry k()\n{\n.reg .b32 %r<9>;\n"+body+"\nret;\n}\n")
		err := Valid("k.ptx", m)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// TestInvalidMany wants the error to name the first mistakes only.
func TestInvalidMany(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "add.u32 %%x%d, 1, 2;\n", i)
	}
	err := Valid("k.ptx", mustParse(t, "k.ptx", header+".visible .entry k()\n{\n"+b.String()+"ret;\n}\n"))
	if err == nil || strings.Count(err.Error(), "\n") != 10 || !strings.HasSuffix(err.Error(), "\n90 more errors") {
		t.Error(err)
	}
}
