package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func TestCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		told string
	}{
		{nil, OK, ""},
		{Exit(OK), OK, ""},
		{Exit(Red), Red, ""},
		{fmt.Errorf("here: %w", &device.Bug{Reason: "why"}), Internal, "attest: here: internal error of attest, not a defect of the kernel: why\n"},
		{context.Canceled, Interrupted, "attest: interrupted\n"},
		{errors.New("unknown flag"), Misuse, "attest: unknown flag\n"},
	} {
		var told bytes.Buffer
		if got := Code(c.err, &told); got != c.code || told.String() != c.told {
			t.Errorf("%v: code %d and %q, want %d and %q", c.err, got, told.String(), c.code, c.told)
		}
	}
}

// TestInterruptWhileReading has standard input that never ends: Ctrl-C must not
// wait for it.
func TestInterruptWhileReading(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	e := &Env{In: in, Out: io.Discard, Err: io.Discard, Color: term.Auto}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := EachFile(ctx, e, []string{Stdin}, func(*File) int { return 0 }, func(*File, int) { t.Error("shown") })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want that of the context", err)
	}
}

func TestEachFileShowsInOrder(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, text := range []string{
		".version 7.0\n.target sm_80\n.address_size 64\n",
		"nonsense",
		".version 8.0\n.target sm_90\n.address_size 64\n",
	} {
		p := filepath.Join(dir, string(rune('a'+i))+".ptx")
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	var told bytes.Buffer
	var shown []string
	e := &Env{Out: io.Discard, Err: &told, Color: term.Auto}
	err := EachFile(t.Context(), e, paths, func(f *File) string { return f.Module.Target.String() },
		func(f *File, target string) { shown = append(shown, filepath.Base(f.File)+"="+target) })
	if got := Code(err, io.Discard); got != Red {
		t.Errorf("exit code %d, want %d", got, Red)
	}
	if got, want := strings.Join(shown, " "), "a.ptx=sm_80 b.ptx= c.ptx=sm_90"; got != want {
		t.Errorf("shown %q, want %q", got, want)
	}
	if !strings.Contains(told.String(), "b.ptx:1:1: error: ") {
		t.Errorf("told %q, want the position of the error", told.String())
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestFailedWriteIsAnError(t *testing.T) {
	full := errors.New("disk full")
	e := &Env{Out: failingWriter{full}}
	e.Encode(map[string]int{"a": 1})
	if err := e.Finish(nil); !errors.Is(err, full) {
		t.Errorf("error is %v, want %v", err, full)
	}
	if err := e.Finish(Exit(Red)); Code(err, io.Discard) != Red {
		t.Errorf("error is %v, want the command's own", err)
	}
}
