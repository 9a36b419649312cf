package difffuzz

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Child runs batches in a separate process. A kernel that faults on a GPU destroys the CUDA
// context of its process, so Child then starts a new process.
type Child struct {
	// Command returns the process. It must call Serve on its standard input and output.
	Command func() *exec.Cmd
	// Timeout is how long the process may take for one answer. 0 means two minutes.
	Timeout time.Duration

	cmd   *exec.Cmd
	in    io.WriteCloser
	enc   *gob.Encoder
	lines chan reply
	info  device.Info
}

// reply is one answer of the process. The first reply describes the device. For each batch,
// one reply says whether the module was loaded or refused, and one reply per job holds its
// outcome.
type reply struct {
	Info    *device.Info
	Refused string
	Outcome *Outcome
	err     error // why no reply could be read
}

// Serve runs the batches that arrive on r on a device and answers on w.
func Serve(r io.Reader, w io.Writer, open func() (device.Device, error)) error {
	dec, enc := gob.NewDecoder(bufio.NewReader(r)), gob.NewEncoder(w)
	dev, err := open()
	if err != nil {
		return err
	}
	info := dev.Info()
	if err := enc.Encode(reply{Info: &info}); err != nil {
		return err
	}
	l := &Local{Device: dev}
	if info.Driver == "cuda" {
		l.GuardBytes = gpuGuard
	}
	for {
		var b Batch
		if err := dec.Decode(&b); errors.Is(err, io.EOF) {
			return dev.Close()
		} else if err != nil {
			return err
		}
		if err := l.serve(&b, enc); err != nil {
			return err
		}
	}
}

// serve runs one batch and sends the replies.
func (l *Local) serve(b *Batch, enc *gob.Encoder) error {
	mod, err := l.Device.Load("fuzz.ptx", b.Text)
	if err != nil {
		return enc.Encode(reply{Refused: err.Error()})
	}
	defer mod.Close()
	for i := range b.Jobs {
		out, err := l.job(context.Background(), mod, &b.Jobs[i])
		if err != nil {
			return enc.Encode(reply{Refused: err.Error()})
		}
		if err := enc.Encode(reply{Outcome: &out}); err != nil {
			return err
		}
		if out.Fault != "" {
			return nil
		}
	}
	return nil
}

// Info starts the process and describes its device.
func (c *Child) Info() (device.Info, error) { return c.info, c.start() }

func (c *Child) start() error {
	if c.cmd != nil {
		return nil
	}
	cmd := c.Command()
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.cmd, c.in, c.enc, c.lines = cmd, in, gob.NewEncoder(in), make(chan reply)
	go read(out, c.lines)
	r := c.receive()
	if r.Info == nil {
		c.kill()
		return fmt.Errorf("the process that runs the kernels did not start: %w", r.err)
	}
	c.info = *r.Info
	return nil
}

// read sends the replies of the process to a channel. The last reply says why there are no
// more.
func read(out io.Reader, to chan<- reply) {
	dec := gob.NewDecoder(bufio.NewReader(out))
	for {
		var r reply
		r.err = dec.Decode(&r)
		to <- r
		if r.err != nil {
			close(to)
			return
		}
	}
}

var errNoAnswer = errors.New("no answer in time")

// receive waits for the next reply.
func (c *Child) receive() reply {
	wait := c.Timeout
	if wait == 0 {
		wait = 2 * time.Minute
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case r := <-c.lines:
		return r
	case <-t.C:
		return reply{err: errNoAnswer}
	}
}

// kill ends the process. The next batch starts a new one.
func (c *Child) kill() {
	if c.cmd == nil {
		return
	}
	c.in.Close()
	c.cmd.Process.Kill()
	for range c.lines { // wait until read has seen the end
	}
	c.cmd.Wait()
	c.cmd = nil
}

// Close ends the process.
func (c *Child) Close() error {
	c.kill()
	return nil
}

// Run launches the jobs. If a job faults, the jobs after it run in a new process.
func (c *Child) Run(ctx context.Context, b *Batch) (outs []Outcome, err error) {
	for len(outs) < len(b.Jobs) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := c.start(); err != nil {
			return nil, err
		}
		part := Batch{Text: b.Text, Jobs: b.Jobs[len(outs):]}
		if err := c.enc.Encode(&part); err != nil {
			c.kill()
			return nil, &Refused{Msg: "the process that runs the kernels ended: " + err.Error()}
		}
		got, err := c.outcomes(len(part.Jobs))
		if err != nil {
			return nil, err
		}
		outs = append(outs, got...)
	}
	return outs, nil
}

// outcomes collects the outcomes of n jobs, or of fewer if one of them faults.
func (c *Child) outcomes(n int) (outs []Outcome, err error) {
	for len(outs) < n {
		r := c.receive()
		switch {
		case r.err != nil && len(outs) == 0:
			c.kill()
			return nil, &Refused{Msg: fmt.Sprintf("the process that loads the module ended: %v", r.err), Crashed: !errors.Is(r.err, errNoAnswer)}
		case r.err != nil:
			c.kill()
			return append(outs, Outcome{Fault: "the process that runs the kernels ended: " + r.err.Error(), Hung: errors.Is(r.err, errNoAnswer)}), nil
		case r.Refused != "":
			return nil, &Refused{Msg: r.Refused}
		}
		outs = append(outs, *r.Outcome)
		if r.Outcome.Fault != "" {
			c.kill()
			return outs, nil
		}
	}
	return outs, nil
}
