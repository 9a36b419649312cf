package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// AgentCommand is the hidden command of attest that runs on the remote machine:
//
//	attest remote-agent hash              prints the SHA-256 of the binary
//	attest remote-agent serve DIR NONCE   talks to a client; DIR is the folder of attest
//	attest remote-agent supervise JOB     runs a job
const AgentCommand = "remote-agent"

// Agent is the hidden command.
func Agent(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	switch {
	case len(args) == 1 && args[0] == "hash":
		sum, err := selfHash()
		if err == nil {
			_, err = fmt.Fprintln(out, sum)
		}
		return err
	case len(args) == 2 && args[0] == "supervise":
		return supervise(args[1])
	case len(args) == 3 && args[0] == "serve":
		// The connection may end at any time. The agent notices when it writes or reads.
		signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
		if _, err := fmt.Fprintln(out, greeting(args[2])); err != nil {
			return err
		}
		a := &agent{dir: args[1], out: &writer{w: out}, in: make(chan frame)}
		go a.read(in)
		if err := a.serve(); err != nil && !errors.Is(err, errTorn) {
			return a.out.send(failure, []byte(err.Error()))
		}
		return nil
	}
	return errors.New("only attest itself starts this command")
}

// greeting is the line with which the agent begins. What login scripts print comes before it.
func greeting(nonce string) string { return "attest-agent-2-" + nonce }

// selfHash returns the SHA-256 of the running binary.
func selfHash() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	return hashFile(self)
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// agent talks to one client.
type agent struct {
	dir string
	out *writer
	in  chan frame // the frames of the client; closed when the connection ends
}

// The times of an agent.
const (
	pollEvery  = 50 * time.Millisecond // how often output is looked for
	aliveEvery = 5 * time.Second
	endWithin  = 10 * time.Second // how long a command may take to end after Ctrl-C
)

func (a *agent) read(in io.Reader) {
	defer close(a.in)
	for {
		f, err := receive(in)
		if err != nil {
			return
		}
		a.in <- f
	}
}

func (a *agent) serve() error {
	f, ok := <-a.in
	if !ok {
		return errTorn
	}
	var o Order
	if f.kind != order || json.Unmarshal(f.data, &o) != nil {
		return errors.New("the client sent no order: its version of attest differs")
	}
	switch o.What {
	case "run":
		return a.run(&o)
	case "list":
		return a.list()
	case "clean":
		return a.clean(&o)
	}
	return fmt.Errorf("the client ordered %q: its version of attest differs", o.What)
}

// isJob matches the names of jobs.
var isJob = regexp.MustCompile(`^[0-9a-f]{16}$`)

// run starts a job, or finds it, and serves it until the client has all results.
func (a *agent) run(o *Order) error {
	if !isJob.MatchString(o.Job) || !filepath.IsLocal(filepath.Join("x", o.Dir)) {
		return errors.New("the client sent an order that is not valid")
	}
	j := job{filepath.Join(a.dir, "jobs", o.Job)}
	_, err := os.Stat(j.dir)
	if err := a.out.sendJSON(state, jobState{Found: err == nil}); err != nil {
		return err
	}
	if err != nil {
		if err := a.startJob(j, o); err != nil {
			return err
		}
	}
	return a.follow(j, o)
}

// startJob receives the inputs of a job and starts it. The folder gets its name when it is
// complete, so that a connection that is cut before leaves no half job.
func (a *agent) startJob(j job, o *Order) error {
	jobs := filepath.Dir(j.dir)
	if err := os.MkdirAll(jobs, 0o700); err != nil {
		return err
	}
	a.prune()
	dir, err := os.MkdirTemp(jobs, "new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	draft := job{dir}
	err = draft.prepare(o, func(to string) error {
		r, w := io.Pipe()
		go a.receiveInputs(w)
		err := unpack(r, to)
		r.CloseWithError(err) // what the client still sends is dropped
		return err
	})
	if err != nil {
		return fmt.Errorf("the input files cannot be written in %s: %w%s", a.dir, err, fullDisk(jobs))
	}
	if err := os.Rename(dir, j.dir); err != nil {
		if j.running() {
			return nil // another client of the same command was faster
		}
		return err
	}
	if err := j.start(); err != nil {
		return errors.Join(fmt.Errorf("the job cannot be started in %s: %w%s", a.dir, err, fullDisk(jobs)), os.RemoveAll(j.dir))
	}
	return nil
}

// receiveInputs passes the frames with inputs on.
func (a *agent) receiveInputs(w *io.PipeWriter) {
	for f := range a.in {
		switch f.kind {
		case input:
			if _, err := w.Write(f.data); err != nil {
				continue // the reader failed; the client still sends
			}
		case inputEnd:
			w.Close()
			return
		}
	}
	w.CloseWithError(errTorn)
}

// follow sends the output of a job until it ends, and then its results.
func (a *agent) follow(j job, o *Order) error {
	streams := []*tail{{path: j.path(stdoutFile), at: o.Seen[0], kind: stdout}, {path: j.path(stderrFile), at: o.Seen[1], kind: stderr}}
	defer func() {
		for _, t := range streams {
			t.close()
		}
	}()
	poll, beat := time.NewTicker(pollEvery), time.NewTicker(aliveEvery)
	defer poll.Stop()
	defer beat.Stop()
	interrupted := false
	for running := true; running; {
		select {
		case f, ok := <-a.in:
			switch {
			case !ok && interrupted: // the client did not wait for the end
				j.end(endWithin)
				return os.RemoveAll(j.dir)
			case !ok:
				return errTorn
			case f.kind == interrupt:
				interrupted = true
				j.signal(syscall.SIGINT)
			}
			continue
		case <-beat.C:
			if err := a.out.send(alive, nil); err != nil {
				return err
			}
		case <-poll.C:
		}
		running = j.running() // asked before the output is read, so that nothing is missed
		for _, t := range streams {
			if err := t.send(a.out); err != nil && !(interrupted && errors.Is(err, errTorn)) {
				return err
			}
		}
	}
	return a.deliver(j, o)
}

// deliver sends the results of a job that has ended, and deletes the job when the client has
// them.
func (a *agent) deliver(j job, o *Order) error {
	if err := a.out.sendJSON(ended, j.ending()); err != nil {
		return err
	}
	if err := pack(a.out.stream(result), j, o); err != nil {
		return fmt.Errorf("the results: %w", err)
	}
	if err := a.out.send(resultEnd, nil); err != nil {
		return err
	}
	for f := range a.in {
		if f.kind == collected {
			return os.RemoveAll(j.dir)
		}
	}
	return errTorn
}

// tail reads a file that grows.
type tail struct {
	path string
	at   int64
	kind kind
	f    *os.File
}

// send sends what was added to the file.
func (t *tail) send(w *writer) (err error) {
	if t.f == nil {
		if t.f, err = os.Open(t.path); err != nil {
			t.f = nil
			return nil // the job has not opened it yet
		}
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := t.f.ReadAt(buf, t.at)
		if n > 0 {
			if err := w.send(t.kind, buf[:n]); err != nil {
				return err
			}
			t.at += int64(n)
		}
		if err != nil || n == 0 {
			return nil
		}
	}
}

func (t *tail) close() {
	if t.f != nil {
		t.f.Close()
	}
}
