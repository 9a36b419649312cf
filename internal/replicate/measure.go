package replicate

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// Limits are what another process may use. 0 is no limit.
type Limits struct {
	Time   time.Duration
	Memory int64 // bytes that it holds in memory
}

// mostAnswered is the number of bytes that another process may write. A record with all its
// samples has a few MB.
const mostAnswered = 256 << 20

// Measure does the whole measurement of a job and writes its messages.
func (j *Job) Measure(ctx context.Context, out *json.Encoder) error {
	s, err := j.subject(j.Kernel)
	if err != nil {
		return err
	}
	p := *j.Plan
	if p.Baseline, err = j.subject(j.Baseline); err != nil {
		return err
	}
	m := &machine.Machine{Name: j.Device}
	if err := m.Open(); err != nil {
		return err
	}
	defer m.Close()
	p.Device, p.Sensor, p.Ask = m.Device, m.Sensor, resources.OnPath()
	pool := &Pool{}
	defer pool.Close()
	if t := p.Times; t != nil && t.Processes > 1 {
		t.Elsewhere = j.another(t, pool)
	}
	rec, err := lab.Measure(ctx, s, p, func(p lab.Progress) { out.Encode(message{Progress: &p}) })
	if err != nil {
		return err
	}
	return out.Encode(message{Record: rec})
}

// another returns the function that times a job in one more process.
func (j *Job) another(t *lab.Times, pool *Pool) func(context.Context, int) (*record.Performance, error) {
	return func(ctx context.Context, process int) (*record.Performance, error) {
		one := *j
		one.Plan = nil
		one.Shapes, one.Methods, one.Rivals, one.Stop, one.Seed = t.Shapes, t.Methods, t.Rivals, t.Stop, t.Seed+uint64(process)
		return pool.Time(ctx, process, one)
	}
}

// Ended is the error of a process that ended before it gave its record.
type Ended struct {
	Section string // what it measured then, "" before its first step
	Why     string
	// Internal says that attest itself failed, and not the kernel. Stack is then the stack of
	// the panic, or "".
	Internal bool
	Stack    string
}

func (e *Ended) Error() string { return e.Why }

// MeasureElsewhere measures a kernel in another process of this program, which may crash,
// hang or fill the memory without harm to this one. The error is an *Ended if it did.
func MeasureElsewhere(ctx context.Context, j Job, l Limits, progress func(lab.Progress)) (*record.Record, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if l.Time > 0 {
		timer := time.AfterFunc(l.Time, func() {
			stop(fmt.Errorf("the process that judged the kernel was stopped after %v, the limit of --timeout", l.Time))
		})
		defer timer.Stop()
	}
	cmd := exec.CommandContext(running, self, Command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // also ends the processes that it started
	cmd.WaitDelay = 2 * time.Second
	told := &head{}
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), told
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	switch err := cmd.Start(); {
	case err != nil && ctx.Err() == nil && running.Err() != nil: // the limit was over before the start
		return nil, &Ended{Why: context.Cause(running).Error()}
	case err != nil:
		return nil, err
	}
	if l.Memory > 0 {
		go watchMemory(running, cmd.Process.Pid, l.Memory, stop)
	}
	rec, section, wrong := read(out, progress)
	if wrong != nil {
		stop(wrong) // it would wait for somebody to read the rest
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case rec != nil && err == nil:
		return rec, nil
	case running.Err() != nil:
		return nil, &Ended{Section: section, Why: context.Cause(running).Error()}
	case err == nil:
		return nil, &Ended{Section: section, Why: "the process that judged the kernel ended without a result"}
	}
	return nil, told.explain(section, err)
}

// read reads messages up to the record.
func read(out io.Reader, progress func(lab.Progress)) (rec *record.Record, section string, err error) {
	limited := &io.LimitedReader{R: out, N: mostAnswered}
	for in := json.NewDecoder(bufio.NewReader(limited)); ; {
		var m message
		switch err := in.Decode(&m); {
		case limited.N <= 0:
			return nil, section, fmt.Errorf("the process that judged the kernel wrote more than %d MiB", mostAnswered>>20)
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return rec, section, nil
		case err != nil:
			return nil, section, fmt.Errorf("the output of the process that judged the kernel cannot be read: %w", err)
		}
		if m.Record != nil {
			rec = m.Record
		}
		if m.Progress != nil {
			section = m.Progress.Section
			if progress != nil {
				progress(*m.Progress)
			}
		}
	}
}

// watchMemory stops a process that holds more memory than the limit.
func watchMemory(ctx context.Context, pid int, limit int64, stop context.CancelCauseFunc) {
	for {
		if n, ok := memoryOf(pid); ok && n > limit {
			stop(fmt.Errorf("the process that judged the kernel used more than %d MiB of memory, the limit of --memory", limit>>20))
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// head keeps the beginning of an error output, where a crash of Go says why.
type head struct {
	mu   sync.Mutex
	text []byte
}

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	const most = 64 << 10
	h.text = append(h.text, b[:min(len(b), most-len(h.text))]...)
	return len(b), nil
}

// explain returns the error of a process that failed. The kernel is not to blame if the
// process says why it could not measure: that is an error of the user.
func (h *head) explain(section string, err error) error {
	said := strings.TrimSpace(string(h.text))
	line, _, _ := strings.Cut(said, "\n")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == misuse && !crashed(said) {
		return errors.New(strings.TrimPrefix(said, "attest: "))
	}
	if exit != nil && exit.ExitCode() == internal {
		return &Ended{Section: section, Why: strings.TrimPrefix(line, "attest: "), Internal: true, Stack: said}
	}
	why := strings.TrimSuffix(fmt.Sprintf("the process that judged the kernel crashed (%v): %s", err, line), ": ")
	return &Ended{Section: section, Why: why, Internal: crashed(said), Stack: said}
}

// The exit codes of a process that did not do its job. A panic of Go has the first of them, too.
const (
	misuse   = 2
	internal = 3
)

func crashed(said string) bool {
	for _, sign := range []string{"panic: ", "fatal error: ", "runtime: "} {
		if strings.HasPrefix(said, sign) || strings.Contains(said, "\n"+sign) {
			return true
		}
	}
	return false
}
