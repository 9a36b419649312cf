package launchfile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/device"
)

// Runner runs launch files on a device.
type Runner struct {
	Device device.Device
	Module device.Module
	// Load loads another PTX file that the launch file names. The caller closes the module.
	Load func(name string) (device.Module, error)
	// Read reads a file that the launch file names. Save writes one; if it is nil, no file is
	// written.
	Read func(name string) ([]byte, error)
	Save func(name string, data []byte) error
	// Timeout is how long a launch may take. 0 sets no limit.
	Timeout time.Duration
	// Keep makes each Result keep the content of the buffers, which Differs needs.
	Keep bool

	named   map[string]device.Buffer
	buffers []device.Buffer // the buffers without a name, which are freed after their launch
}

// Result is the outcome of a launch.
type Result struct {
	Index       int
	Entry       string
	Module      string // the PTX file of the launch, "" for Runner.Module
	Fault       error  // why the launch failed, or nil
	Comparisons []*Comparison
	Stats       *device.Stats // nil if the device does not count
	Elapsed     time.Duration
	kept        []savedBuffer
}

// savedBuffer is the content of a buffer after a launch.
type savedBuffer struct {
	b    *buffer
	data []byte
}

// OK reports whether the launch succeeded and no element differs from its expected value.
func (r *Result) OK() bool {
	_, mismatches := r.Count()
	return r.Fault == nil && mismatches == 0
}

// Count returns how many elements were compared and how many of them differ.
func (r *Result) Count() (compared, mismatches int64) {
	for _, c := range r.Comparisons {
		compared += c.Compared
		mismatches += c.Mismatches
	}
	return compared, mismatches
}

// Differs compares the content of the buffers after two runs of one launch, bit by
// bit, and returns the buffers that differ.
func (r *Result) Differs(first *Result) (found []*Comparison) {
	for i, k := range r.kept {
		c := k.b.elem.compare(k.data, first.kept[i].data, nil)
		if c.Mismatches > 0 {
			c.What = k.b.what
			found = append(found, c)
		}
	}
	return found
}

// Run runs the launches and calls each with every result. After a launch that failed
// it stops without an error, because later launches would use its buffers. It returns
// an error if a launch cannot be run.
func (r *Runner) Run(ctx context.Context, f *File, each func(*Result)) error {
	r.named = map[string]device.Buffer{}
	defer r.freeAll()
	for i := range f.Launches {
		l := &f.Launches[i]
		mod, err := r.module(l)
		if err != nil {
			return l.node.Field("module").Errorf("%v", err)
		}
		if _, err := mod.Kernel(l.Entry); err != nil {
			return l.node.Field("entry").Errorf("%v", err)
		}
	}
	for i := range f.Launches {
		res, err := r.launch(ctx, &f.Launches[i])
		r.free()
		if err != nil {
			return err
		}
		res.Index = i
		each(res)
		if res.Fault != nil {
			return nil
		}
	}
	return nil
}

// module returns the module of a launch.
func (r *Runner) module(l *Launch) (device.Module, error) {
	switch {
	case l.Module == "":
		return r.Module, nil
	case r.Load == nil:
		return nil, errors.New("other modules cannot be loaded here")
	}
	return r.Load(l.Module)
}

// use is a buffer on the device with its expected content.
type use struct {
	b    *buffer
	on   device.Buffer
	want []byte
}

func (r *Runner) launch(ctx context.Context, l *Launch) (*Result, error) {
	mod, err := r.module(l)
	if err != nil {
		return nil, err
	}
	k, err := mod.Kernel(l.Entry)
	if err != nil {
		return nil, err
	}
	call := device.Launch{Grid: l.Grid, Block: l.Block, Cluster: l.Cluster, Shared: l.Shared, Cooperative: l.Cooperative}
	uses, err := r.params(mod, l, &call)
	if err != nil {
		return nil, err
	}
	if err := call.Check(r.Device.Info(), k.Info()); err != nil {
		return nil, l.node.Errorf("%s", strings.TrimPrefix(err.Error(), "launch of "+l.Entry+": "))
	}
	res := &Result{Entry: l.Entry, Module: l.Module}
	if err := r.run(ctx, k, call, res); err != nil {
		return nil, err
	}
	if res.Fault != nil {
		return res, nil
	}
	for _, u := range uses {
		if err := r.finish(u, res); err != nil {
			return nil, u.b.node.Errorf("%v", err)
		}
	}
	return res, nil
}

// run launches the kernel. Only a cancelled context is an error. A failure of the
// kernel goes into the result.
func (r *Runner) run(ctx context.Context, k device.Kernel, call device.Launch, res *Result) (err error) {
	limited := ctx
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	start := time.Now()
	if s, ok := k.(device.StatsKernel); ok {
		var stats device.Stats
		stats, err = s.Run(limited, call)
		res.Stats = &stats
	} else {
		err = k.Launch(limited, call)
	}
	res.Elapsed = time.Since(start)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%s has not ended after %v: %w", res.Entry, r.Timeout, err)
	}
	res.Fault = err
	return nil
}

// finish compares, saves and keeps the content of a buffer.
func (r *Runner) finish(u use, res *Result) error {
	b := u.b
	if b.expect == "" && (b.save == "" || r.Save == nil) && !r.Keep {
		return nil
	}
	got := make([]byte, u.on.Size())
	if err := u.on.Read(0, got); err != nil {
		return err
	}
	if b.expect != "" {
		c := b.elem.compare(got, u.want, b.tol)
		c.What, c.Expect = b.what, b.expect
		res.Comparisons = append(res.Comparisons, c)
	}
	if r.Keep {
		res.kept = append(res.kept, savedBuffer{b, got})
	}
	if b.save != "" && r.Save != nil {
		return r.Save(b.save, got)
	}
	return nil
}
