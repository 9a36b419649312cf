//go:build unix

package evidence_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// writeTo is the store that a child process of a test adds to until it is killed or fails.
const writeTo = "ATTEST_TEST_WRITE_TO"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writeTo); dir != "" {
		if err := writeForEver(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// writeForEver adds records with verdicts and prints the hash of each record that was added.
func writeForEver(dir string, told io.Writer) error {
	s, err := evidence.Open(dir)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		r := recordtest.New(fmt.Sprintf("kernel-%d-%d", os.Getpid(), i))
		recordtest.Correct(r, problem.Square(1, 8, 512, 64), 0.01) // a few KiB: more than one write to the disk
		hash, err := s.AddRecord(r)
		if err != nil {
			return err
		}
		fmt.Fprintln(told, hash)
		if hash, err = s.AddVerdict(recordtest.Judge(hash, recordtest.Start, record.Defer, "", "")); err != nil {
			return err
		}
		fmt.Fprintln(told, hash)
	}
}

func child(dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writeTo+"="+dir)
	return cmd
}

// TestKilled repeatedly kills two writers at random moments. The store must be sound each time and
// hold every record that a writer has reported.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "evidence")
	rnd := rand.New(rand.NewPCG(1, 1))
	told := map[string]bool{}
	rounds := 15
	if testing.Short() {
		rounds = 4
	}
	for range rounds {
		var outs []string
		for _, out := range killSome(t, dir, rnd) {
			outs = append(outs, strings.Fields(out)...)
		}
		for _, hash := range outs {
			told[hash] = len(hash) == 64 // an incomplete last line does not count
		}
		c := open(t, dir).Verify()
		if !c.OK() {
			t.Fatalf("after a kill: %v", c.Problems)
		}
	}
	entries, _ := open(t, dir).Entries()
	landed := map[string]bool{}
	for i := range entries {
		landed[entries[i].Object] = true
	}
	for hash, whole := range told {
		if whole && !landed[hash] {
			t.Errorf("%s was said to have landed and has not", hash)
		}
	}
	if len(told) < rounds {
		t.Errorf("only %d writes: the writers were killed too early to prove anything", len(told))
	}
	add(t, open(t, dir), "afterwards")
	if c := open(t, dir).Verify(); !c.OK() || c.Entries != len(entries)+1 {
		t.Errorf("%d entries after adding one to %d: %v", c.Entries, len(entries), c.Problems)
	}
}

func killSome(t *testing.T, dir string, rnd *rand.Rand) (outs []string) {
	t.Helper()
	type writer struct {
		cmd *exec.Cmd
		out *bufio.Reader
	}
	var writers []writer
	for range 2 {
		cmd := child(dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, writer{cmd, bufio.NewReader(out)})
	}
	for _, w := range writers {
		first, _ := w.out.ReadString('\n') // the process has started
		time.Sleep(time.Duration(rnd.IntN(25_000)) * time.Microsecond)
		if err := w.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(w.out)
		outs = append(outs, first+string(rest))
		if err := w.cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("a writer ended by itself: %v", err)
		}
	}
	return outs
}

// TestFileTooLarge makes writes fail in the middle of a file, as on a full disk.
func TestFileTooLarge(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "evidence")
	add(t, open(t, dir), "before")
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(sh, "-c", `trap "" XFSZ; ulimit -f 1; exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), writeTo+"="+dir)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "evidence in "+dir) {
		t.Fatalf("%v: %s", err, out)
	}
	if c := sound(t, open(t, dir), 1); len(c.Notes) > 0 {
		t.Errorf("something is left: %v", c.Notes)
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	// The child process below must be able to read the folder.
	dir, err := os.MkdirTemp("", "attest-evidence-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755); os.RemoveAll(dir) })
	add(t, open(t, dir), "before")
	for _, d := range []string{"tmp", "log", "objects", "."} {
		if err := os.Chmod(filepath.Join(dir, d), 0o555); err != nil {
			t.Fatal(err)
		}
	}
	cmd := child(dir)
	if os.Getuid() == 0 { // root can write read-only folders
		bin := filepath.Join(os.TempDir(), filepath.Base(dir)+".test")
		data, err := os.ReadFile(os.Args[0])
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Remove(bin) })
		if err := os.WriteFile(bin, data, 0o755); err != nil {
			t.Fatal(err)
		}
		cmd.Path, cmd.Dir = bin, dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	for _, d := range []string{".", "tmp", "log", "objects"} {
		os.Chmod(filepath.Join(dir, d), 0o755)
	}
	if err == nil || !strings.Contains(string(out), "cannot be written: choose another") {
		t.Errorf("%v: %s", err, out)
	}
	sound(t, open(t, dir), 1)
}
