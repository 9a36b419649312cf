package repo

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPackagesSayWhatTheyAre checks that each package has a doc.go. A command may have its
// package comment in main.go instead.
func TestPackagesSayWhatTheyAre(t *testing.T) {
	pkgs := list(t)
	for i := range pkgs {
		p := &pkgs[i]
		if p.Doc == "" {
			t.Errorf("%s has no package comment", p.rel())
		}
		if !slices.Contains(p.GoFiles, "doc.go") && !(p.Name == "main" && slices.Contains(p.GoFiles, "main.go")) {
			t.Errorf("%s has no doc.go", p.rel())
		}
	}
}

// mostLines is the limit on the length of a file. A longer file has more than one job. The
// limit does not apply to generated files, whose names start with z.
const mostLines = 500

func TestFilesAreShort(t *testing.T) {
	seen := 0
	eachFile(t, func(path string, content []byte) {
		name := filepath.Base(path)
		if !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "z") {
			return
		}
		seen++
		if n := bytes.Count(content, []byte("\n")); n > mostLines {
			t.Errorf("%s has %d lines, want at most %d: move one of its jobs to another file", path, n, mostLines)
		}
	})
	if seen < 50 {
		t.Errorf("found only %d Go files: is this the repository?", seen)
	}
}

// TestNoPrograms wants no compiled program in the repository: go build leaves one where it runs.
func TestNoPrograms(t *testing.T) {
	eachFile(t, func(path string, content []byte) {
		for format, magic := range map[string]string{"ELF": "\x7fELF", "Mach-O": "\xcf\xfa\xed\xfe", "ar": "!<arch>\n"} {
			if bytes.HasPrefix(content, []byte(magic)) {
				t.Errorf("%s is a compiled program (%s): remove it", path, format)
			}
		}
	})
}

// TestGeneratedFilesAreMarked checks that exactly the files with the prefix z have the
// "Code generated" comment. Tools read the comment, and people read the name.
func TestGeneratedFilesAreMarked(t *testing.T) {
	eachFile(t, func(path string, content []byte) {
		name := filepath.Base(path)
		if !strings.HasSuffix(name, ".go") {
			return
		}
		marked := bytes.HasPrefix(content, []byte("// Code generated "))
		if marked != strings.HasPrefix(name, "z") {
			t.Errorf("%s: a generated file needs both the comment \"Code generated …\" and a name z*.go; another file must have neither", path)
		}
	})
}

// TestFilesReportWarnings checks that no file ignores the warnings of a kernel. The method
// PTX returns a kernel's text even if the kernel has warnings, so a file that calls it must
// also call Strict, which makes warnings errors, or Warnings.
func TestFilesReportWarnings(t *testing.T) {
	seen := 0
	eachFile(t, func(path string, content []byte) {
		name := filepath.Base(path)
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "doc.go" || !bytes.Contains(content, []byte(".PTX()")) {
			return
		}
		seen++
		if !bytes.Contains(content, []byte(".Strict()")) && !bytes.Contains(content, []byte(".Warnings()")) {
			t.Errorf("%s calls the method PTX of a kernel: also call Strict or Warnings", path)
		}
	})
	if seen < 4 {
		t.Errorf("only %d files call PTX: does the test still find them?", seen)
	}
}

// eachFile calls visit for each file of the repository, except testdata and build outputs.
func eachFile(t *testing.T, visit func(path string, content []byte)) {
	t.Helper()
	top := root(t)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != top && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin") {
				return filepath.SkipDir
			}
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		visit(filepath.ToSlash(rel), content)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
