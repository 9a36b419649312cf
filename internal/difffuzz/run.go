package difffuzz

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Job is a kernel of a module to launch, in a form that can cross to another process.
type Job struct {
	Name   string
	Blocks int
	Block  device.Dim
	Data
}

// Batch is a module and the launches of its kernels.
type Batch struct {
	Text string
	Jobs []Job
}

// Outcome is what became of a launch: what it wrote, or why it failed.
type Outcome struct {
	Out, Mem, Trace []byte
	Fault           string
	// Hung says that the launch did not end in time.
	Hung bool
}

// Runner runs batches on a device.
type Runner interface {
	// Run launches the jobs. An error means that the module was refused, or that the
	// device is not to be had at all; what a kernel does wrong is in its outcome.
	Run(ctx context.Context, b *Batch) ([]Outcome, error)
	Close() error
}

// Refused is the error of a device that does not load a module.
type Refused struct {
	Msg string
	// Crashed says that the process ended while it loaded the module.
	Crashed bool
}

func (r *Refused) Error() string { return r.Msg }

// Timeout is how long one launch may take; a generated kernel takes moments.
const Timeout = 8 * time.Second

// Local runs batches on a device of this process.
type Local struct {
	Device device.Device
	// Extra is how many blocks more than asked for a launch has. The outputs of the
	// others must not depend on it.
	Extra int
	// Guard is how many bytes lie behind each buffer that a kernel must leave alone. What a
	// GPU stores there, by a mistake of its assembler, would change whatever lies there: the
	// code or constants of another kernel, which then is the one that differs. The emulator
	// faults by itself.
	Guard int
}

// gpuGuard is the Guard for GPUs.
const gpuGuard = 4 << 10

// Close closes the device.
func (l *Local) Close() error { return l.Device.Close() }

// Run launches the jobs one after the other.
func (l *Local) Run(ctx context.Context, b *Batch) ([]Outcome, error) {
	mod, err := l.Device.Load("fuzz.ptx", b.Text)
	if err != nil {
		return nil, &Refused{Msg: err.Error()}
	}
	defer mod.Close()
	outs := make([]Outcome, 0, len(b.Jobs))
	for i := range b.Jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out, err := l.job(ctx, mod, &b.Jobs[i])
		if err != nil {
			return nil, err
		}
		outs = append(outs, out)
		if out.Fault != "" && l.Device.Info().Driver == "cuda" {
			break // the context is lost
		}
	}
	return outs, nil
}

func (l *Local) job(ctx context.Context, mod device.Module, j *Job) (o Outcome, err error) {
	defer func() {
		if r := recover(); r != nil {
			o, err = Outcome{Fault: fmt.Sprintf("panic: %v", r)}, nil
		}
	}()
	k, err := mod.Kernel(j.Name)
	if err != nil {
		return o, &Refused{Msg: err.Error()}
	}
	var bufs [4]device.Buffer
	defer func() {
		for _, b := range bufs {
			if b != nil {
				b.Free()
			}
		}
	}()
	grow := j.Blocks + l.Extra
	sizes := [4]int{len(j.In), j.Out * grow / j.Blocks, len(j.Mem) * grow / j.Blocks, j.Trace * grow / j.Blocks}
	launch := device.Launch{Grid: device.D(grow), Block: j.Block}
	for i, content := range [4][]byte{j.In, nil, j.Mem, nil} {
		if sizes[i] == 0 {
			continue
		}
		if bufs[i], err = l.upload(content, sizes[i]); err != nil {
			return o, fmt.Errorf("a buffer of %d bytes: %w", sizes[i], err)
		}
		if i < 3 {
			launch.Params = append(launch.Params, device.Ptr(bufs[i]))
		}
	}
	if j.Par != nil {
		launch.Params = append(launch.Params, device.Param(j.Par))
	}
	if bufs[3] != nil {
		launch.Params = append(launch.Params, device.Ptr(bufs[3]))
	}
	limited, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	if err := k.Launch(limited, launch); err != nil {
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		return Outcome{Fault: err.Error(), Hung: limited.Err() != nil}, nil
	}
	for i, b := range bufs {
		if stray, err := l.stray(b, sizes[i]); err != nil || stray {
			return Outcome{Fault: orStray(err, sizes[i])}, nil
		}
	}
	return l.download(j, bufs)
}

// stray reports whether something was stored behind a buffer.
func (l *Local) stray(b device.Buffer, size int) (bool, error) {
	if b == nil || l.Guard == 0 {
		return false, nil
	}
	behind := make([]byte, l.Guard)
	err := b.Read(int64(size), behind)
	return bytes.Count(behind, []byte{0xff}) < len(behind), err
}

func orStray(err error, size int) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("a store behind a buffer of %d bytes", size)
}

// upload makes a buffer with the content at its start and ones behind it: what is
// compared is only what the kernel has written.
func (l *Local) upload(content []byte, size int) (device.Buffer, error) {
	size += l.Guard
	b, err := l.Device.Alloc(int64(size))
	if err != nil {
		return nil, err
	}
	data := make([]byte, size)
	for i := range data[copy(data, content):] {
		data[len(content)+i] = 0xff
	}
	return b, b.Write(0, data)
}

func (l *Local) download(j *Job, bufs [4]device.Buffer) (o Outcome, err error) {
	for i, to := range [4]*[]byte{1: &o.Out, 2: &o.Mem, 3: &o.Trace} {
		if to == nil || bufs[i] == nil {
			continue
		}
		*to = make([]byte, [4]int{0, j.Out, len(j.Mem), j.Trace}[i])
		if err := bufs[i].Read(0, *to); err != nil {
			return Outcome{Fault: err.Error()}, nil
		}
	}
	return o, nil
}

// job is the launch of a kernel.
func (k *Kernel) job(name string, l *layout) Job {
	blocks := k.Grid.Norm().X
	d := k.data(l, blocks)
	// Inputs for more blocks than are launched, for a device that runs more.
	d.In = k.data(l, mostBlocks).In
	return Job{Name: name, Blocks: blocks, Block: k.Block, Data: d}
}

// NewBatch is the kernels as one module.
func NewBatch(ks []*Kernel) *Batch {
	b := &Batch{}
	var names []string
	for i, k := range ks {
		name := fmt.Sprintf("k%d", i)
		names = append(names, name)
		b.Jobs = append(b.Jobs, k.job(name, k.layout()))
	}
	b.Text = Text(ks, names)
	return b
}
