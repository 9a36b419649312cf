package rival

import (
	"bufio"
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
)

// process is a Python process that answers requests.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan []byte   // the lines that it writes; closed at its end
	ended   chan struct{} // closed when it has ended; err is set before
	err     error
	stderr  *tail
}

// startProcess starts a program that speaks the protocol, with more variables in its
// environment.
func startProcess(also io.Writer, environment []string, name string, args ...string) (*process, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(append(os.Environ(), "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // kill ends the compilers that it starts, too
	cmd.WaitDelay = 2 * time.Second                       // a compiler may outlive it and hold a pipe open
	p := &process{cmd: cmd, answers: make(chan []byte, 1), ended: make(chan struct{}), stderr: &tail{also: also}}
	cmd.Stderr = p.stderr
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(out)
	return p, nil
}

// read forwards lines until the program ends.
func (p *process) read(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		p.answers <- line
	}
	p.err = p.cmd.Wait()
	close(p.answers)
	close(p.ended)
}

// ask sends a request and waits for its answer. If ctx ends first, it kills the program, since
// a late answer would be taken for that of the next request.
func (p *process) ask(ctx context.Context, request any) ([]byte, error) {
	line, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, p.died()
	}
	select {
	case answer, ok := <-p.answers:
		if !ok {
			return nil, p.died()
		}
		return answer, nil
	case <-ctx.Done():
		p.kill()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, &Died{Reason: "it gave no answer in time and was stopped", Stderr: p.stderr.String(), Err: ctx.Err()}
		}
		return nil, ctx.Err()
	}
}

// died returns how the program ended unexpectedly.
func (p *process) died() error {
	p.kill()
	reason := "it ended by itself"
	if p.err != nil {
		reason = p.err.Error()
	}
	return &Died{Reason: reason, Stderr: p.stderr.String(), Err: p.err}
}

// kill ends the program and its children, unless it has already ended: its process number may
// belong to another process by then.
func (p *process) kill() {
	select {
	case <-p.ended:
		return
	default:
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	p.drain()
}

// close asks the program to end, and kills it if it does not.
func (p *process) close() {
	io.WriteString(p.in, `{"op": "close"}`+"\n")
	p.in.Close()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
	}
	p.kill()
}

// drain waits for the end of the program and discards its output.
func (p *process) drain() {
	for range p.answers {
	}
	<-p.ended
}

// Died is the error of a Python process that ended too early.
type Died struct {
	Reason string
	Stderr string // the end of its error output
	Err    error
}

func (e *Died) Error() string {
	s := "python: " + e.Reason
	if e.Stderr != "" {
		s += "; it said:\n" + strings.TrimSpace(e.Stderr)
	}
	return s
}

func (e *Died) Unwrap() error { return e.Err }

// tail keeps the end of what is written to it.
type tail struct {
	also io.Writer
	mu   sync.Mutex
	kept []byte
}

const mostKept = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	t.kept = t.kept[max(0, len(t.kept)-mostKept):]
	if t.also != nil {
		if _, err := t.also.Write(b); err != nil {
			return 0, fmt.Errorf("forwarding the output of Python: %w", err)
		}
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
