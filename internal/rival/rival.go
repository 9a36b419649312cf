package rival

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

//go:embed script/*.py
var script embed.FS

// Libraries are those that can be rivals.
var Libraries = []string{"torch", "fa3", "triton", "jax"}

// ErrMissing is in the error when there is no Python, no library or no GPU.
var ErrMissing = errors.New("not there")

// ErrUnsupported is in the error of a case that the library does not serve.
var ErrUnsupported = errors.New("not supported")

// Options are how a rival is started.
type Options struct {
	// Python is the interpreter; empty is $ATTEST_PYTHON, else python3 or python on
	// PATH.
	Python string
	// Timeout is how long one request may take, 5 minutes when zero: compilers are
	// slow the first time.
	Timeout time.Duration
	// Stderr gets what Python says, if set.
	Stderr io.Writer
}

// Rival is another library, ready to be timed. Goroutines may share it; one
// request is served at a time.
type Rival struct {
	hello   Hello
	library string
	dir     string // where the script is
	timeout time.Duration

	mu    sync.Mutex
	p     *process
	cases int
}

// Python finds the interpreter: ErrMissing when there is none.
func Python() (string, error) {
	if p := os.Getenv("ATTEST_PYTHON"); p != "" {
		path, err := exec.LookPath(p)
		if err != nil {
			return "", &refusal{fmt.Sprintf("ATTEST_PYTHON is %s: %v", p, err), ErrMissing}
		}
		return path, nil
	}
	for _, name := range []string{"python3", "python"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", &refusal{"python3 is not on PATH; install it or set ATTEST_PYTHON", ErrMissing}
}

// Start starts a library of Libraries and waits until it has said what it is.
func Start(ctx context.Context, library string, o Options) (*Rival, error) {
	python := o.Python
	if python == "" {
		var err error
		if python, err = Python(); err != nil {
			return nil, err
		}
	}
	r := &Rival{library: library, timeout: o.Timeout}
	if r.timeout == 0 {
		r.timeout = 5 * time.Minute
	}
	if err := r.start(ctx, python, o.Stderr); err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", library, err)
	}
	return r, nil
}

// start writes the script to a folder of its own, for Triton wants to read the
// source of its kernels, and runs it.
func (r *Rival) start(ctx context.Context, python string, stderr io.Writer) (err error) {
	if r.dir, err = os.MkdirTemp("", "attest-rival-"); err != nil {
		return err
	}
	files, err := fs.Sub(script, "script")
	if err != nil {
		return err
	}
	if err := os.CopyFS(r.dir, files); err != nil {
		return err
	}
	if r.p, err = startProcess(stderr, python, filepath.Join(r.dir, "serve.py"), r.library); err != nil {
		return &refusal{fmt.Sprintf("%s: %v", python, err), ErrMissing}
	}
	return r.ask(ctx, map[string]any{"op": "hello"}, &r.hello)
}

// Hello is what the library says of itself.
func (r *Rival) Hello() Hello { return r.hello }

// Close ends the Python.
func (r *Rival) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.p != nil {
		r.p.close()
		r.p = nil
	}
	return os.RemoveAll(r.dir)
}

// ask sends a request and reads the answer into to.
func (r *Rival) ask(ctx context.Context, request map[string]any, to any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.p == nil {
		return errors.New("the rival is closed")
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	line, err := r.p.ask(ctx, request)
	if err != nil {
		return err
	}
	var status struct {
		OK   bool
		Kind string
		Why  string
	}
	if err := json.Unmarshal(line, &status); err != nil {
		return fmt.Errorf("python answers %.80q, which is not JSON: %w", line, err)
	}
	switch {
	case status.OK:
		return json.Unmarshal(line, to)
	case status.Kind == "missing":
		return &refusal{status.Why, ErrMissing}
	case status.Kind == "unsupported":
		return &refusal{status.Why, ErrUnsupported}
	}
	return errors.New(status.Why)
}

// refusal is an error of a kind, in the library's words alone.
type refusal struct {
	why  string
	kind error
}

func (r *refusal) Error() string { return r.why }
func (r *refusal) Unwrap() error { return r.kind }
