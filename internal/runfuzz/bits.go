package runfuzz

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// compare runs the kernels of a text with and without checkers. The error says which bits differ, or
// how the launches fail in different ways. Two things make a difference that is no mistake, so they are
// left out: blocks that race while several processors run them, and guard bands between shared
// variables.
func compare(ctx context.Context, text string, target ptx.Target, s Setting) error {
	plain, failed, err := leaves(ctx, text, target, s, nil)
	if err != nil {
		return err
	}
	watched, other, err := leaves(ctx, text, target, s, &watch{})
	switch {
	case err != nil:
		return err
	case failed != other:
		return fmt.Errorf("fails with %q, and with checkers with %q", failed, other)
	}
	for i := range plain {
		if !bytes.Equal(plain[i], watched[i]) {
			return fmt.Errorf("buffer %d has other bits with checkers", i)
		}
	}
	return nil
}

// leaves runs the kernels of a text until one fails, one cluster at a time, and returns the buffers
// that they leave and how the last one failed.
func leaves(ctx context.Context, text string, target ptx.Target, s Setting, w *watch) (all [][]byte, failed string, err error) {
	o := s.options(w)
	o.GuardShared, o.Output = false, io.Discard
	dev, err := emu.New(target, o)
	if err != nil {
		return nil, "", err
	}
	mod, err := dev.Load("k.ptx", text)
	if err != nil {
		return nil, "", err
	}
	defer mod.Close()
	a := &args{dev: dev, r: random(s.Args, 5), functions: functions(mod, text)}
	for name := range entries(text) {
		k, err := mod.Kernel(name)
		if err != nil {
			continue // it uses what the emulator does not support
		}
		l := s.Launches[len(s.Launches)-1].Launch
		l.Grid = l.Cluster.Norm()
		var buffers []device.Buffer
		if l.Params == nil {
			l.Params, buffers = a.params(k.Info())
		}
		if err := k.Launch(ctx, l); err != nil {
			failed = err.Error()
		}
		for _, b := range buffers {
			data := make([]byte, b.Size())
			if err := b.Read(0, data); err == nil {
				all = append(all, data)
			}
		}
		if failed != "" {
			break
		}
	}
	return all, failed, nil
}
