package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/count"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/problem"
)

// Counted holds the counts of one run of a subject on the emulator.
type Counted struct {
	Launches []CountedLaunch // the launches in stream order
	Bytes    int64           // the bytes of all operands
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
	b, err := launch(ctx, dev, s, shape, sms, 1)
	if err != nil {
		return nil, err
	}
	c := &Counted{}
	for i, l := range b.work.Launches() {
		c.Launches = append(c.Launches, CountedLaunch{counter.Launches()[i], l})
	}
	for _, o := range b.operands {
		c.Bytes += o.Bytes
	}
	return c, nil
}

// Traced holds what some clusters of a subject's launches did on the emulator.
type Traced struct {
	Launches []*warptrace.Launch // the launches in stream order
	Bytes    int64               // the bytes of all operands
}

// Trace runs some clusters of each launch of a subject on the emulator of its target and
// records what their warps do. Persistent kernels are launched for sms SMs. Later launches see
// incomplete results of the earlier ones, which is enough if control flow does not depend on them.
func Trace(ctx context.Context, s *Subject, shape problem.Shape, sms int, wants func(cluster, clusters int) bool) (*Traced, error) {
	rec := &warptrace.Recorder{Wants: wants}
	dev, err := emulator(s.Target, emu.Options{Observer: rec, Only: wants})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	b, err := launch(ctx, dev, s, shape, sms, 1)
	if err != nil {
		return nil, err
	}
	t := &Traced{Launches: rec.Launches()}
	for _, o := range b.operands {
		t.Bytes += o.Bytes
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
	_, err := launch(ctx, dev, s, shape, 0, times)
	return err
}

// launch runs a subject several times. It frees the memory of the bench that it returns.
func launch(ctx context.Context, dev device.Device, s *Subject, shape problem.Shape, sms, times int) (_ *bench, err error) {
	if err := s.ServesShape(shape); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	l, err := load(dev, s, sms, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	in, err := newInputs(s, Case{Shape: shape, Seed: 1, Distribution: "normal"})
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
	return b, nil
}
