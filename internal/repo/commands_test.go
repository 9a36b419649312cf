package repo

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCommands runs the commands in the console blocks of every document. A command is a
// line that starts with "$ ". The test compares the output on both streams with the output
// that the document shows.
func TestCommands(t *testing.T) {
	w := workspace(t)
	ran := 0
	for _, d := range documents(t) {
		for i := range d.blocks {
			b := &d.blocks[i]
			if b.lang != "console" {
				continue
			}
			var now strings.Builder
			for _, line := range commands(b.text) {
				ran++
				out, _ := w.run(line) // a command may fail on purpose
				now.WriteString("$ " + line + "\n" + out)
			}
			d.compare(t, b, sameHashes(now.String(), b.text))
		}
	}
	if ran == 0 {
		t.Error("no document shows a command with its output")
	}
}

// TestShellBlocks runs the shell blocks that are marked <!-- run -->. They must succeed.
func TestShellBlocks(t *testing.T) {
	w := workspace(t)
	ran := 0
	for _, d := range documents(t) {
		for i := range d.blocks {
			b := &d.blocks[i]
			if b.lang != "sh" || b.from != "run" {
				continue
			}
			ran++
			if strings.Contains(b.text, "clang ") && !w.clang {
				t.Logf("%s:%d: skipped, clang is not installed", d.path, b.line)
				continue
			}
			if out, err := w.run("set -e\n" + strings.ReplaceAll(b.text, "/tmp/", t.TempDir()+"/")); err != nil {
				t.Errorf("%s:%d: %v\n%s", d.path, b.line, err, out)
			}
		}
	}
	if ran == 0 {
		t.Error("no document marks a shell block <!-- run -->")
	}
}

// place is a folder in which commands run. It has links to the files of the repository, so
// that commands find them but write their own files outside the repository.
type place struct {
	dir, bin string
	clang    bool
}

// built is the folder of the attest that the tests of documents share, once one of them has built it.
var built string

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		os.RemoveAll(built)
	}
	os.Exit(code)
}

// buildAttest builds attest, unless an earlier test did, and returns its path.
func buildAttest(t *testing.T) string {
	t.Helper()
	if built == "" {
		dir, err := os.MkdirTemp("", "attest")
		if err != nil {
			t.Fatal(err)
		}
		build := exec.Command("go", "build", "-o", filepath.Join(dir, "attest"), "./cmd/attest")
		build.Dir = root(t)
		if out, err := build.CombinedOutput(); err != nil {
			os.RemoveAll(dir)
			t.Fatalf("go build: %v\n%s", err, out)
		}
		built = dir
	}
	return filepath.Join(built, "attest")
}

// workspace returns a place to run attest.
func workspace(t *testing.T) *place {
	t.Helper()
	w := &place{dir: t.TempDir(), bin: t.TempDir()}
	symlink(t, buildAttest(t), filepath.Join(w.bin, "attest"))
	entries, err := os.ReadDir(root(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			symlink(t, filepath.Join(root(t), e.Name()), filepath.Join(w.dir, e.Name()))
		}
	}
	for _, name := range []string{"clang", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"} {
		if path, err := exec.LookPath(name); err == nil {
			symlink(t, path, filepath.Join(w.bin, "clang"))
			w.clang = true
			break
		}
	}
	return w
}

func symlink(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Symlink(from, to); err != nil {
		t.Fatal(err)
	}
}

// run runs a shell command in an environment without a visible GPU, and returns its output.
func (w *place) run(line string) (string, error) {
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "PATH="+w.bin+":"+os.Getenv("PATH"), "CUDA_VISIBLE_DEVICES=", "NO_COLOR=1", "ATTEST_SEED=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// recordHash matches the hash of a record, which depends on the time of the run.
var recordHash = regexp.MustCompile(`record [0-9a-f]{12}\b`)

// sameHashes returns out with its record hashes replaced by those in shown.
func sameHashes(out, shown string) string {
	hashes := recordHash.FindAllString(shown, -1)
	return recordHash.ReplaceAllStringFunc(out, func(hash string) string {
		if len(hashes) > 0 {
			hash, hashes = hashes[0], hashes[1:]
		}
		return hash
	})
}

// commands returns the command lines of a console block.
func commands(text string) (cs []string) {
	for line := range strings.Lines(text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			cs = append(cs, strings.TrimSpace(c))
		}
	}
	return cs
}

// TestCode compares each block of Go or JSON in the documents with the file that the block
// repeats.
func TestCode(t *testing.T) {
	seen := 0
	for _, d := range documents(t) {
		for i := range d.blocks {
			b := &d.blocks[i]
			if b.lang != "go" && b.lang != "json" {
				continue
			}
			seen++
			if b.from == "" {
				t.Errorf("%s:%d: a block of code needs a line <!-- path --> before it", d.path, b.line)
				continue
			}
			d.compare(t, b, readFile(t, b.from))
		}
	}
	if seen == 0 {
		t.Error("no document shows code")
	}
}
