package runfuzz

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestSameBits runs mutants with and without checkers and compares the memory that they leave, and how
// they fail. Two things make a difference that is no mistake, so they are excluded: blocks that race
// while several processors run them, and guard bands between shared variables.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	m := mutator(t)
	compared := 0
	tried := *mutants / 10
	for i := range tried {
		seed := *first + uint64(i)
		text := m.Mutant(seed)
		plain, failed, ok := leaves(t.Context(), text, seed%5, nil)
		if !ok {
			continue
		}
		compared++
		watched, other, _ := leaves(t.Context(), text, seed%5, &watch{})
		if failed != other {
			t.Errorf("seed %d: fails with %q, and with checkers with %q", seed, failed, other)
			continue
		}
		for j := range plain {
			if !bytes.Equal(plain[j], watched[j]) {
				t.Errorf("seed %d: buffer %d has other bits with checkers", seed, j)
			}
		}
	}
	t.Logf("%d of %d texts were compared", compared, tried)
	if compared*20 < tried {
		t.Errorf("only %d of %d texts were compared", compared, tried)
	}
}

// leaves runs the kernels of a text until one fails, and returns the buffers that they leave and how
// the last one failed. ok is false if the text cannot be loaded.
func leaves(ctx context.Context, text string, schedule uint64, w *watch) (all [][]byte, failed string, ok bool) {
	m, err := parse.Parse("k.ptx", text)
	if err != nil {
		return nil, "", false
	}
	target, err := emu.TargetFor(m.Target)
	if err != nil {
		return nil, "", false
	}
	s := fullSetting(schedule)
	o := s.options(w)
	o.GuardShared, o.Output = false, io.Discard
	dev, err := emu.New(target, o)
	if err != nil {
		return nil, "", false
	}
	mod, err := dev.Load("k.ptx", text)
	if err != nil {
		return nil, "", false
	}
	defer mod.Close()
	for _, f := range m.Funcs() {
		if !f.Entry || failed != "" {
			continue
		}
		k, err := mod.Kernel(f.Sym.Name)
		if err != nil {
			continue // it uses what the emulator does not support
		}
		l := s.Launches[0].Launch
		var buffers []device.Buffer
		l.Params, buffers = params(dev, k.Info())
		if err := k.Launch(ctx, l); err != nil {
			failed = err.Error()
		}
		for _, b := range buffers {
			data := make([]byte, b.Size())
			if err := b.Read(0, data); err == nil {
				all = append(all, data)
			}
		}
	}
	return all, failed, true
}
