package difffuzz

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Job is the launch of one kernel of a module. It can be sent to another process.
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

// Outcome is the result of a launch: the bytes that it wrote, or why it failed.
type Outcome struct {
	Out, Mem, Trace []byte
	Fault           string
	// Hung is set if the launch did not end in time.
	Hung bool
}

// Runner runs batches on a device.
type Runner interface {
	// Run launches the jobs. An error means that the device refused the module or cannot be
	// used at all. The fault of a kernel is in its outcome.
	Run(ctx context.Context, b *Batch) ([]Outcome, error)
	Close() error
}

// Refused is the error of a device that refuses to load a module.
type Refused struct {
	Msg string
	// Crashed is set if the process ended while it loaded the module.
	Crashed bool
}

func (r *Refused) Error() string { return r.Msg }

// Timeout is the time limit of one launch. A generated kernel runs for milliseconds.
const Timeout = 8 * time.Second

// Local runs batches in this process.
type Local struct {
	Device device.Device
	// ExtraBlocks is the number of additional blocks of each launch. The outputs of the other
	// blocks must not depend on it.
	ExtraBlocks int
	// GuardBytes is the number of bytes behind each buffer that a kernel must not change.
	// Without them, a wrong store that ptxas generated could change the code or constants of
	// another kernel, and that other kernel would show the difference. The emulator needs no
	// guard, because it faults on such a store.
	GuardBytes int
}

// gpuGuard is GuardBytes for GPUs.
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
			break // the fault has destroyed the CUDA context
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
	grow := j.Blocks + l.ExtraBlocks
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
		if stray, err := l.guardChanged(b, sizes[i]); err != nil || stray {
			return Outcome{Fault: faultOrStray(err, sizes[i])}, nil
		}
	}
	return l.download(j, bufs)
}

// guardChanged reports whether a kernel stored behind a buffer.
func (l *Local) guardChanged(b device.Buffer, size int) (bool, error) {
	if b == nil || l.GuardBytes == 0 {
		return false, nil
	}
	behind := make([]byte, l.GuardBytes)
	err := b.Read(int64(size), behind)
	return bytes.Count(behind, []byte{0xff}) < len(behind), err
}

func faultOrStray(err error, size int) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("a store behind a buffer of %d bytes", size)
}

// upload makes a buffer that starts with the content and has all bits set behind it.
func (l *Local) upload(content []byte, size int) (device.Buffer, error) {
	size += l.GuardBytes
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

// job returns the launch of a kernel.
func (k *Kernel) job(name string, l *layout) Job {
	blocks := k.Grid.Norm().X
	d := k.data(l, blocks)
	// There are inputs for more blocks than the launch has, because a device may run more.
	d.In = k.data(l, maxBlocks).In
	return Job{Name: name, Blocks: blocks, Block: k.Block, Data: d}
}

// NewBatch returns the batch that runs the kernels in one module.
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
