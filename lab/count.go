package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// Counted holds the counts of one run of a subject on the emulator.
type Counted struct {
	Launches []CountedLaunch // the launches in stream order
	Bytes    int64           // the bytes of all operands, without rows of K and V that no query sees
}

// CountedLaunch is one launch of a run.
type CountedLaunch struct {
	*count.Counts
	Launch device.Launch
}

// Count runs a subject once on the emulator of its target and counts what each launch does.
// Persistent kernels are launched for sms SMs; 0 is the number of SMs of the emulator.
func Count(ctx context.Context, s *Subject, shape problem.Shape, sms int) (*Counted, error) {
	counter := count.New()
	dev, err := emulator(s.Target, emu.Options{Observer: counter})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	b, err := launch(ctx, dev, s, shape, sms, 1, nil)
	if err != nil {
		return nil, err
	}
	c := &Counted{}
	for i, l := range b.work.Launches() {
		c.Launches = append(c.Launches, CountedLaunch{counter.Launches()[i], l})
	}
	c.Bytes = b.touched()
	return c, nil
}

// Traced holds what some clusters of a subject's launches did on the emulator.
type Traced struct {
	Launches []*warptrace.Launch // the launches in stream order
	Bytes    int64               // the bytes of all operands, without workspaces and without rows of K and V that no query sees
	// Workspaces are the addresses of the workspaces: where each begins and where it ends.
	Workspaces [][2]uint64
}

// Trace runs some clusters of each launch of a subject on the emulator of its target and
// records what their warps do. Persistent kernels are launched for sms SMs. Later launches see
// incomplete results of the earlier ones, which is enough if control flow does not depend on them.
func Trace(ctx context.Context, s *Subject, shape problem.Shape, sms int, wants func(cluster, clusters int) bool) (*Traced, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rec := &warptrace.Recorder{Wants: wants, Full: func() { cancel(warptrace.ErrFull) }}
	dev, err := emulator(s.Target, emu.Options{Observer: rec, Only: wants})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	b, err := launch(ctx, dev, s, shape, sms, 1, nil)
	if context.Cause(ctx) == warptrace.ErrFull {
		return nil, fmt.Errorf("%s: %w", s.Name, warptrace.ErrFull)
	}
	if err != nil {
		return nil, err
	}
	t := &Traced{Launches: rec.Launches()}
	t.Bytes = b.touched()
	for _, o := range b.operands {
		if o.Role == kernel.Workspace {
			t.Bytes -= o.Bytes
			t.Workspaces = append(t.Workspaces, [2]uint64{o.addr(), o.addr() + uint64(o.Bytes)})
		}
	}
	return t, nil
}

// Launch runs a subject several times without checking it, for a profiler. A nil device is
// the emulator of the subject's target.
func Launch(ctx context.Context, dev device.Device, s *Subject, shape problem.Shape, times int) error {
	if dev == nil {
		e, err := emulator(s.Target, emu.Options{})
		if err != nil {
			return err
		}
		defer e.Close()
		dev = e
	}
	_, err := launch(ctx, dev, s, shape, 0, times, nil)
	return err
}

// Record runs a subject several times and returns its first launch and what the last run left in an operand. A nil device is
// the emulator of the subject's target.
func Record(ctx context.Context, dev device.Device, s *Subject, shape problem.Shape, times int, operand string) (first device.Launch, data []byte, err error) {
	if dev == nil {
		e, err := emulator(s.Target, emu.Options{})
		if err != nil {
			return first, nil, err
		}
		defer e.Close()
		dev = e
	}
	_, err = launch(ctx, dev, s, shape, 0, times, func(b *bench) error {
		first = b.work.Launches()[0]
		data, err = b.read(operand)
		return err
	})
	return first, data, err
}

// launch runs a subject several times, and then calls after, unless it is nil. It frees the memory of the bench that it
// returns.
func launch(ctx context.Context, dev device.Device, s *Subject, shape problem.Shape, sms, times int, after func(*bench) error) (_ *bench, err error) {
	if err := s.ServesShape(shape); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	l, err := load(dev, s, sms, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	in, err := newInputs(s, Case{Shape: shape, Seed: 1, Distribution: "normal", vary: s.own()})
	if err != nil {
		return nil, err
	}
	b, err := l.set(in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.free()) }()
	if err := b.write(in); err != nil {
		return nil, err
	}
	for range times {
		if _, err := b.run(ctx); err != nil {
			return nil, err
		}
	}
	if after != nil {
		return b, after(b)
	}
	return b, nil
}

// touched returns the bytes of all operands. Of K, V and their scales it counts the rows that at
// least one query sees, by the lengths of the sequences and by a causal mask or a window.
func (b *bench) touched() (bytes int64) {
	p := b.subject.varied(b.in.vary).At(b.in.shape).Filled()
	seen, names := 0, p.Names()
	for i, keys := range p.KeyLengths() {
		first, _ := p.Sees(i, 0)
		_, end := p.Sees(i, p.QueryLengths()[i]-1)
		seen += min(max(end-first, 0), keys)
	}
	rows := p.B * p.Skv
	switch p.Keys {
	case problem.Packed:
		rows = int(names["total_kv"].Int64())
	case problem.Paged:
		rows = int(names["pages"].Int64()) * p.PageSize
	}
	for _, o := range b.operands {
		part := o.Bytes
		if slices.Contains([]string{"k", "v", "ks", "vs"}, o.Name) && rows > 0 {
			part = int64(float64(part) * float64(seen) / float64(rows))
		}
		bytes += part
	}
	return bytes
}
