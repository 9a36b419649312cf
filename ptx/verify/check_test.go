package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestCheck runs Check on the files in testdata/check. A comment "// want SEVERITY KIND:
// MESSAGE" at the end of a line expects that finding on the line. Check must return all
// expected findings and no others.
func TestCheck(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no files in testdata/check", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ptx"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := wanted(string(text))
			if len(want) == 0 {
				t.Fatal("the file has no comment with an expected finding")
			}
			compare(t, want, found(Check(mustParse(t, file, string(text)))))
		})
	}
}

func mustParse(t testing.TB, file, text string) *ptx.Module {
	t.Helper()
	m, err := parse.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func wanted(text string) (want []string) {
	for n, line := range strings.Split(text, "\n") {
		for i, w := range strings.Split(line, "// want ") {
			if i > 0 {
				want = append(want, fmt.Sprintf("%d: %s", n+1, strings.TrimSpace(w)))
			}
		}
	}
	return want
}

// found returns findings in the form of wanted. Findings about the header are on line 1.
func found(ds []finding.Finding) (got []string) {
	for _, d := range ds {
		got = append(got, fmt.Sprintf("%d: %s %s: %s", max(d.Pos.Line, 1), d.Severity, d.Kind, d.Message))
	}
	return got
}

func compare(t *testing.T, want, got []string) {
	t.Helper()
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("missing    %s", w)
		}
	}
	for _, g := range got {
		if !slices.Contains(want, g) {
			t.Errorf("unexpected %s", g)
		}
	}
}
