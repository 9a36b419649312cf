package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"sync/atomic"
	"time"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Client runs jobs on a host.
type Client struct {
	Host     Host
	Out, Err io.Writer // receive the output of the job
	// Say shows what the client does before the job starts. Quiet ends that.
	Say   func(format string, args ...any)
	Quiet func()
	// Binary returns the file of attest for a system and an architecture.
	Binary func(ctx context.Context, goos, goarch string) (string, error)
	// Silence is how long a connection may send nothing. Patience is how long the client tries to
	// connect again. Zero selects the defaults, 30 s and 5 min.
	Silence, Patience time.Duration
}

// Job is a command that runs on a host.
type Job struct {
	Args     []string // without "attest"
	Env      map[string]string
	Reads    []string // files that it reads
	Writes   []string // files and folders that it writes, which come back
	Evidence string   // the folder of evidence that its records are added to, or ""
	Stdin    []byte   // nil is no input
}

const (
	defaultSilence  = 30 * time.Second
	defaultPatience = 5 * time.Minute
)

// Run runs a job and returns its exit code. If the same job runs already, Run follows it from its
// beginning.
func (c *Client) Run(ctx context.Context, j Job) (code int, err error) {
	o, err := c.order(&j)
	if err != nil {
		return 0, err
	}
	s := &session{Client: c, job: &j, order: o}
	for first := true; ; first = false {
		code, err := s.attempt(ctx)
		if !errors.Is(err, errTorn) {
			return code, err
		}
		if first && !s.reached {
			return 0, fmt.Errorf("%s cannot be reached: %w; check that this works: %s", c.Host.Name, err, c.trial())
		}
		if err := s.again(ctx); err != nil {
			return 0, err
		}
	}
}

// trial returns a command with which the user can check the connection.
func (c *Client) trial() string {
	if c.Host.SSH != "" {
		return c.Host.SSH + " uname"
	}
	return "ssh " + c.Host.Name + " uname"
}

// order describes a job to the agent.
func (c *Client) order(j *Job) (*Order, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	o := &Order{What: "run", Args: j.Args, Env: map[string]string{cli.HostVariable: c.Host.Name}, Client: whereabouts(dir), Stdin: j.Stdin != nil}
	for _, more := range []map[string]string{c.Host.Env, j.Env} {
		for name, value := range more {
			o.Env[name] = value
		}
	}
	if o.Dir, err = mirror(dir); err != nil {
		return nil, err
	}
	for _, path := range j.Writes {
		name, err := mirror(path)
		if err != nil {
			return nil, err
		}
		o.Outputs = append(o.Outputs, name)
	}
	if j.Evidence != "" {
		if o.Evidence, err = mirror(j.Evidence); err != nil {
			return nil, err
		}
	}
	o.Job, err = jobName(o, j.Reads, j.Stdin)
	return o, err
}

// whereabouts says where a job was started.
func whereabouts(dir string) string {
	name := "somebody"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	host, _ := os.Hostname()
	return name + "@" + host + ":" + dir
}

// session is a job with the state that outlives a connection.
type session struct {
	*Client
	job     *Job
	order   *Order
	reached bool        // the host answered
	started bool        // the job runs, or has run
	told    atomic.Bool // the job got Ctrl-C
	down    time.Time
}

// again waits before the next attempt to connect. It returns an error when no time is left for
// another attempt.
func (s *session) again(ctx context.Context) error {
	if s.told.Load() {
		return context.Canceled // the agent ends the job
	}
	patience := cmp.Or(s.Patience, defaultPatience)
	if s.down.IsZero() {
		s.down = time.Now()
		fmt.Fprintf(s.Err, "attest: the connection to %s was lost; the job continues there; connecting again\n", s.Host.Name)
	}
	waited := time.Since(s.down)
	hint := fmt.Errorf("the connection to %s was lost and the job continues there: the same command follows it again, and attest remote clean --stop %s ends it", s.Host.Name, s.Host.Name)
	if !s.started {
		hint = fmt.Errorf("the connection to %s was lost before the job was started", s.Host.Name)
	}
	if waited > patience {
		return hint
	}
	select {
	case <-ctx.Done():
		return hint
	case <-time.After(min(max(waited, patience/300), 15*time.Second)):
		return nil
	}
}

// attempt does as much of the dialogue as one connection allows.
func (s *session) attempt(ctx context.Context) (code int, err error) {
	s.Say("connecting to %s", s.Host.Name)
	conn, err := s.open(ctx)
	s.reached = s.reached || conn != nil && conn.answered
	if err != nil {
		return 0, err
	}
	defer conn.close()
	d := &dialogue{session: s, conn: conn, out: &writer{w: conn.in}}
	defer d.watch()()
	if err := d.begin(); err != nil {
		return 0, err
	}
	if !s.down.IsZero() {
		fmt.Fprintf(s.Err, "attest: connected to %s again\n", s.Host.Name)
		s.down = time.Time{}
	}
	s.started = true
	s.Quiet()
	stop := context.AfterFunc(ctx, func() {
		s.told.Store(true)
		d.out.send(interrupt, nil)
	})
	defer stop()
	e, err := d.follow()
	if err != nil {
		return 0, err
	}
	if err := d.collect(); err != nil {
		return 0, err
	}
	d.out.send(collected, nil)
	conn.in.Close()
	io.Copy(io.Discard, conn.out) // the agent deletes the job and ends
	if e.Error != "" {
		return 0, fmt.Errorf("%s: %s", s.Host.Name, term.Clean(e.Error))
	}
	return e.Code, nil
}

// dialogue is one connection to the agent.
type dialogue struct {
	*session
	conn  *connection
	out   *writer
	timer *time.Timer
}

// watch ends a connection that is silent for too long. The agent sends a sign of life every few
// seconds, so a silent connection is dead, as it is after a laptop slept.
func (d *dialogue) watch() (stop func()) {
	d.timer = time.AfterFunc(cmp.Or(d.Silence, defaultSilence), func() { d.conn.cmd.Process.Kill() })
	return func() { d.timer.Stop() }
}

// receive returns the next frame that is not a sign of life.
func (d *dialogue) receive() (frame, error) {
	for {
		f, err := receive(d.conn.out)
		if err != nil {
			return f, err
		}
		d.timer.Reset(cmp.Or(d.Silence, defaultSilence))
		switch f.kind {
		case alive:
		case failure:
			return f, fmt.Errorf("%s: %s", d.Host.Name, term.CleanLines(string(f.data)))
		default:
			return f, nil
		}
	}
}

// begin orders the job and sends its inputs if the agent needs them.
func (d *dialogue) begin() error {
	if err := d.out.sendJSON(order, d.order); err != nil {
		return err
	}
	f, err := d.receive()
	if err != nil {
		return err
	}
	var st jobState
	if f.kind != state || json.Unmarshal(f.data, &st) != nil {
		return errors.New("the agent answers in another protocol")
	}
	if st.Found {
		if !d.started {
			fmt.Fprintf(d.Err, "attest: this job was started on %s before; this is its output from the beginning\n", d.Host.Name)
		}
		return nil
	}
	if d.started {
		return fmt.Errorf("the job on %s is gone: another attest collected it, or the folder was cleaned", d.Host.Name)
	}
	d.timer.Stop() // inputs may be large
	if err := packInputs(d.out.stream(input), d.job.Reads, d.job.Stdin); err != nil {
		return d.reason(err)
	}
	if err := d.out.send(inputEnd, nil); err != nil {
		return d.reason(err)
	}
	return nil
}

// reason returns the failure that the agent reported before the connection ended, or err.
func (d *dialogue) reason(err error) error {
	if !errors.Is(err, errTorn) {
		return err
	}
	if _, said := d.receive(); said != nil && !errors.Is(said, errTorn) {
		return said
	}
	return err
}

// follow passes the output of the job on until the job ends.
func (d *dialogue) follow() (e ending, err error) {
	for {
		f, err := d.receive()
		if err != nil {
			return e, err
		}
		switch f.kind {
		case stdout:
			d.order.Seen[0] += int64(len(f.data))
			if _, err := d.Out.Write(f.data); err != nil {
				return e, err
			}
		case stderr:
			d.order.Seen[1] += int64(len(f.data))
			d.Err.Write(f.data)
		case ended:
			return e, json.Unmarshal(f.data, &e)
		}
	}
}
