package capture

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

//go:embed script/sitecustomize.py
var script []byte

// Options say what is recorded.
type Options struct {
	Out       string // folder of the launch files; it must be empty or missing
	Limit     int    // the most launches
	PerKernel int    // the most launches of one kernel
	Bytes     int64  // the most memory of one launch
	Kernel    string // regular expression for the names of kernels; "" is all
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
}

// Launch is a launch that was recorded, or the reason why launches of a kernel were not.
type Launch struct {
	Kernel  string `json:"kernel"`
	Launch  string `json:"launch,omitempty"` // the launch file, in the folder
	PTX     string `json:"ptx,omitempty"`    // the PTX file, in the folder
	Grid    []int  `json:"grid,omitempty"`
	Block   []int  `json:"block,omitempty"`
	Shared  int    `json:"shared,omitempty"` // bytes
	Bytes   int64  `json:"bytes,omitempty"`  // the bytes of all buffers
	Skipped string `json:"skipped,omitempty"`
}

// index is the file in which the script lists the launches.
const index = "launches.jsonl"

// waitDelay is how long the program may take to end after Ctrl-C.
const waitDelay = 5 * time.Second

// Run runs a program and returns what was recorded. The error is an *exec.ExitError if the program
// failed; what was recorded before that is returned too.
func Run(ctx context.Context, o Options, program string, args ...string) ([]Launch, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := emptyFolder(o.Out); err != nil {
		return nil, err
	}
	hook, err := os.MkdirTemp("", "attest-capture-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(hook)
	if err := os.WriteFile(filepath.Join(hook, "sitecustomize.py"), script, 0o600); err != nil {
		return nil, err
	}
	out, err := filepath.Abs(o.Out)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	cmd.Env = append(os.Environ(), o.environment(hook, out)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = waitDelay
	failed := cmd.Run()
	launches, err := readIndex(filepath.Join(out, index))
	if ctx.Err() != nil {
		return launches, ctx.Err()
	}
	return launches, errors.Join(failed, err)
}

func (o *Options) check() error {
	switch {
	case o.Out == "":
		return errors.New("--out is empty: name a folder for the launch files")
	case o.Limit < 1:
		return errors.New("--limit must be at least 1")
	case o.PerKernel < 1:
		return errors.New("--per-kernel must be at least 1")
	case o.Bytes < 1:
		return errors.New("--bytes must be at least 1")
	}
	if _, err := regexp.Compile(o.Kernel); err != nil {
		return fmt.Errorf("--kernel: %w", err)
	}
	return nil
}

// environment returns the variables with which the program and its children record launches.
func (o *Options) environment(hook, out string) []string {
	path := hook
	if old := os.Getenv("PYTHONPATH"); old != "" {
		path += string(os.PathListSeparator) + old
	}
	return []string{
		"PYTHONPATH=" + path,
		"ATTEST_CAPTURE_OUT=" + out,
		"ATTEST_CAPTURE_LIMIT=" + strconv.Itoa(o.Limit),
		"ATTEST_CAPTURE_PER_KERNEL=" + strconv.Itoa(o.PerKernel),
		"ATTEST_CAPTURE_BYTES=" + strconv.FormatInt(o.Bytes, 10),
		"ATTEST_CAPTURE_KERNEL=" + o.Kernel,
		// PyTorch's compiler launches Triton kernels past Triton unless it is told not to.
		"TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER=0",
		"TORCHINDUCTOR_USE_STATIC_TRITON_LAUNCHER=0",
	}
}

// emptyFolder creates a folder, or checks that it is empty.
func emptyFolder(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("--out %s: the folder is not empty; name another one or remove it", path)
	}
	return nil
}

// readIndex reads what the script listed. Without a launch there is no file.
func readIndex(path string) (launches []Launch, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l Launch
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return launches, fmt.Errorf("%s: %w", path, err)
		}
		launches = append(launches, l)
	}
	return launches, lines.Err()
}
