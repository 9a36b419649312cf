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

// Libraries are the libraries that can be rivals.
var Libraries = []string{"torch", "fa3", "triton", "jax"}

// ErrMissing is wrapped by the error if Python, the library or a GPU is missing.
var ErrMissing = errors.New("not there")

// ErrUnsupported is wrapped by the error of a case that the library does not support.
var ErrUnsupported = errors.New("not supported")

// Options are the options of Start.
type Options struct {
	// Python is the interpreter; empty is $ATTEST_PYTHON, else python3 or python on
	// PATH.
	Python string
	// Timeout is the longest time of one request; 0 is 5 minutes, since compiling takes long.
	Timeout time.Duration
	// Stderr receives the error output of Python, if it is not nil.
	Stderr io.Writer
	// Ahead says what will be prepared, so that Start can compile it on all cores; nil compiles nothing
	// before Prepare.
	Ahead *Ahead
}

// Ahead is what will be prepared, as far as a compiler must know it.
type Ahead struct {
	DType   string
	Kernels []AheadKernel // of self-attention
	Decode  []Case        // of decode, whose kernels depend on more; only Shape and Causal are used
}

// AheadKernel is what the text of a kernel depends on.
type AheadKernel struct {
	HeadDim int
	Causal  bool
	Grouped bool // whether query heads share heads of K and V
}

// argument returns the argument of the script: the kernels as [head dimension, causal, query heads per
// head of K], and the cases of decode as [extents of Q, extents of K, causal].
func (a *Ahead) argument() (string, error) {
	kernels := [][3]any{}
	for _, k := range a.Kernels {
		group := 1
		if k.Grouped {
			group = 2
		}
		kernels = append(kernels, [3]any{k.HeadDim, k.Causal, group})
	}
	decode := [][3]any{}
	for _, c := range a.Decode {
		decode = append(decode, [3]any{extents(c.Shape.Q()), extents(c.Shape.K()), c.Causal})
	}
	text, err := json.Marshal(map[string]any{"dtype": a.DType, "kernels": kernels, "decode": decode})
	return string(text), err
}

// Rival is another library, ready to be timed. It is safe for concurrent use and answers one
// request at a time.
type Rival struct {
	hello   Hello
	library string
	dir     string // the folder of the script
	timeout time.Duration

	mu    sync.Mutex
	p     *process
	cases int
}

// Python returns the path of the interpreter, or ErrMissing.
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

// Start starts one of Libraries and waits for its description.
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
	if err := r.start(ctx, python, o); err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", library, err)
	}
	return r, nil
}

// start writes the script to a folder and runs it. It must be a file, since Triton reads the
// source of its kernels.
func (r *Rival) start(ctx context.Context, python string, o Options) (err error) {
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
	args := []string{filepath.Join(r.dir, "serve.py"), r.library}
	if o.Ahead != nil {
		text, err := o.Ahead.argument()
		if err != nil {
			return err
		}
		args = append(args, text)
	}
	if r.p, err = startProcess(o.Stderr, []string{"PYTHONPATH=" + pythonPath(r.library)}, python, args...); err != nil {
		return &refusal{fmt.Sprintf("%s: %v", python, err), ErrMissing}
	}
	return r.ask(ctx, map[string]any{"op": "hello"}, &r.hello)
}

// Hello returns the description of the library.
func (r *Rival) Hello() Hello { return r.hello }

// Close ends the Python process.
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
		return fmt.Errorf("Python answered %.80q, which is not JSON: %w", line, err)
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

// refusal is an error with a text of the library and a kind for errors.Is.
type refusal struct {
	why  string
	kind error
}

func (r *refusal) Error() string { return r.why }
func (r *refusal) Unwrap() error { return r.kind }
