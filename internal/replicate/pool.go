package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/record"
)

// Pool holds other processes of this program by their number. A process times one kernel
// after the other and keeps the libraries that it has started, since starting Python takes
// longer than timing a kernel. The zero value is an empty pool.
type Pool struct{ workers map[int]*worker }

// worker is one other process.
type worker struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *json.Decoder
	told *head
}

// Time times a kernel in the process with a number, which it starts if necessary.
func (p *Pool) Time(ctx context.Context, process int, j Job) (*record.Performance, error) {
	w := p.workers[process]
	if w == nil {
		var err error
		if w, err = startWorker(); err != nil {
			return nil, err
		}
		if p.workers == nil {
			p.workers = map[int]*worker{}
		}
		p.workers[process] = w
	}
	perf, err := w.time(ctx, j)
	if err != nil {
		w.close()
		delete(p.workers, process)
	}
	return perf, err
}

// Close ends all processes.
func (p *Pool) Close() {
	for _, w := range p.workers {
		w.close()
	}
	p.workers = nil
}

func startWorker() (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	w := &worker{cmd: exec.Command(self, Command), told: &head{}}
	w.cmd.Stderr = w.told
	if w.in, err = w.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = json.NewDecoder(out)
	return w, w.cmd.Start()
}

// time sends a job and waits for its result. If ctx ends first, it kills the process.
func (w *worker) time(ctx context.Context, j Job) (*record.Performance, error) {
	stop := context.AfterFunc(ctx, func() { w.cmd.Process.Kill() })
	defer stop()
	err := json.NewEncoder(w.in).Encode(j)
	var m message
	if err == nil {
		err = w.out.Decode(&m)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		w.cmd.Process.Kill()
		w.cmd.Wait() // so that all that it told is there
		return nil, fmt.Errorf("the other process ended early: %s", strings.TrimSpace(string(w.told.text)))
	case m.Error != "":
		return nil, errors.New(m.Error)
	}
	return m.Performance, nil
}

// close lets the process end, and kills it if it does not.
func (w *worker) close() {
	w.in.Close()
	timer := time.AfterFunc(5*time.Second, func() { w.cmd.Process.Kill() })
	w.cmd.Wait() // how it ends no longer matters
	timer.Stop()
}
