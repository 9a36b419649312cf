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

// process is a Python that answers requests.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan []byte   // its lines; closed when there are no more
	ended   chan struct{} // closed when it has ended, and err is set
	err     error
	stderr  *tail
}

// startProcess runs a program that speaks the protocol.
func startProcess(also io.Writer, name string, args ...string) (*process, error) {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // with the compilers it starts
	cmd.WaitDelay = 2 * time.Second                       // one of them may outlive it with its end of a pipe
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

// read passes lines on until the program ends.
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

// ask sends a request and waits for its answer. When ctx ends first the program is
// killed: what it would still say no longer has a question.
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

// died describes how the program ended without being asked to.
func (p *process) died() error {
	p.kill()
	reason := "it ended by itself"
	if p.err != nil {
		reason = p.err.Error()
	}
	return &Died{Reason: reason, Stderr: p.stderr.String(), Err: p.err}
}

// kill ends the program and what it started, if it is still there: the number of
// a process that has ended may be another's by now.
func (p *process) kill() {
	select {
	case <-p.ended:
		return
	default:
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	p.drain()
}

// close asks the program to end, and sees to it.
func (p *process) close() {
	io.WriteString(p.in, `{"op": "close"}`+"\n")
	p.in.Close()
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
	}
	p.kill()
}

// drain waits for the end, whatever is still said before it.
func (p *process) drain() {
	for range p.answers {
	}
	<-p.ended
}

// Died is a Python that ended, or was ended, before its time.
type Died struct {
	Reason string
	Stderr string // the last it said
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
			return 0, fmt.Errorf("passing on what python says: %w", err)
		}
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
