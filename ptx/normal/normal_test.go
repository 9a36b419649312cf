package normal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx/normal"
)

const one = `.version 8.0
.target sm_90
.address_size 64
.file 1 "a.go"
.visible .entry f(.param .u64 p) {
	.reg .b32 %r<4>;
	.reg .pred %p<2>;
	.reg .b64 %rd<2>;
	// a comment
	.loc 1 10 1
	ld.param.u64 %rd1, [p];
	mov.u32 %r3, %tid.x;
	setp.gt.u32 %p1, %r3, 0x10;
	@%p1 bra done;
	st.global.u32 [%rd1], %r3;
done:
	ret;
}
`

// TestSameMachineCode checks that the hash does not depend on names, comments, lines and the
// base of integers.
func TestSameMachineCode(t *testing.T) {
	other := strings.NewReplacer("%r3", "%r1", "%p1", "%p0", "done", "$end", "a comment", "another", ".loc 1 10 1", ".loc 1 99 1", "a.go", "b.go", "0x10", "16").Replace(one)
	if a, b := hash(t, one), hash(t, other); a != b {
		t.Errorf("the same instructions under other names have hashes %s and %s", a, b)
	}
}

// TestOtherMachineCode checks that each of these changes gives another hash.
func TestOtherMachineCode(t *testing.T) {
	for _, change := range [][2]string{
		{"setp.gt", "setp.ge"}, {"0x10", "0x11"}, {"@%p1", "@!%p1"}, {"[%rd1], %r3", "[%rd1+4], %r3"},
		{"[%rd1], %r3", "[%rd1], %r2"}, {"entry f", "entry g"}, {"sm_90", "sm_80"}, {"param .u64 p", "param .u64 .ptr .align 16 p"},
	} {
		if hash(t, one) == hash(t, strings.Replace(one, change[0], change[1], 1)) {
			t.Errorf("%q instead of %q has the same hash", change[1], change[0])
		}
	}
}

// TestCorpus checks that the normal form of PTX from other compilers is valid PTX, and that the
// normal form of a normal form is the same text.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../parse/testdata/*/*.ptx")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		once, err := normal.Text(file, string(text))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		twice, err := normal.Text(file, once)
		if err != nil {
			t.Errorf("%s: the normal form is not valid PTX: %v", file, err)
		} else if once != twice {
			t.Errorf("%s: the normal form of the normal form is different", file)
		}
	}
}

func hash(t *testing.T, text string) string {
	t.Helper()
	h, err := normal.Hash("f.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
