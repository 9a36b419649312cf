package check_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/emu/check"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

var full = flag.Bool("full", false, "compare the bits of all mutants of the corpus, with and without checkers")

// traced is a device that records the contents of its buffers when they are freed, and the numbers of
// instructions of its launches.
type traced struct {
	device.Device
	device.Module
	contents [][]byte
	stats    []device.Stats
	fault    error
}

func (r *traced) Close() error { return nil }

func (r *traced) Alloc(size int64) (device.Buffer, error) {
	b, err := r.Device.Alloc(size)
	return &tracedBuffer{b, r}, err
}

func (r *traced) Kernel(name string) (device.Kernel, error) {
	k, err := r.Module.Kernel(name)
	return &tracedKernel{k, r}, err
}

type tracedBuffer struct {
	device.Buffer
	r *traced
}

func (b *tracedBuffer) Free() error {
	data := make([]byte, b.Size())
	if err := b.Read(0, data); err != nil {
		return err
	}
	b.r.contents = append(b.r.contents, data)
	return b.Buffer.Free()
}

type tracedKernel struct {
	device.Kernel
	r *traced
}

func (k *tracedKernel) Launch(ctx context.Context, l device.Launch) error {
	runner := k.Kernel.(interface {
		Run(context.Context, device.Launch) (device.Stats, error)
	})
	s, err := runner.Run(ctx, l)
	k.r.stats = append(k.r.stats, s)
	return err
}

// trace runs the launches of a file.
func trace(t *testing.T, text string, launches *launchfile.File, read func(string) ([]byte, error), opts emu.Options) *traced {
	t.Helper()
	m, err := parse.Parse("kernel.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	opts.MaxInstructions, opts.Output = 1<<16, io.Discard
	dev, err := emu.New(m.Target, opts)
	if err != nil {
		t.Fatal(err)
	}
	r := &traced{Device: dev}
	if r.Module, r.fault = dev.Load("kernel.ptx", text); r.fault != nil {
		return r
	}
	run := launchfile.Runner{Device: r, Module: r, Read: read, Timeout: 2 * time.Second}
	err = run.Run(context.Background(), launches, func(res *launchfile.Result) {
		if r.fault == nil {
			r.fault = res.Fault
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(r.contents, bytes.Compare) // buffers with names are freed in any order
	return r
}

// TestSameBits: a launch executes the same instructions and leaves the same bits with and without
// checkers, also if its kernel is wrong.
func TestSameBits(t *testing.T) {
	if testing.Short() {
		t.Skip("blocks that race on purpose race in the emulator too, where the race detector sees them")
	}
	files, err := filepath.Glob("testdata/ptx/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			s := readSample(t, file)
			launches, err := launchfile.Parse("launch.json", s.files["launch.json"])
			if err != nil {
				t.Fatal(err)
			}
			for _, mark := range []string{"[bug]", "[twin]"} {
				text := without(s.text, mark)
				all := []mutant{{key: "without " + mark, text: text}}
				if *full {
					all = append(all, mutants(t, text)...)
				}
				for _, m := range all {
					if _, err := parse.Parse("kernel.ptx", m.text); err == nil {
						sameBits(t, m.key, m.text, launches, s.read)
					}
				}
			}
		})
	}
}

// sameBits compares runs with and without checkers. A launch that fails may leave any bits, and
// blocks that race run in parallel, so that no two runs need give the same bits. Guard
// bands between shared variables may change what an access past the end of a variable finds, and
// then they are an error. So a launch with guard bands is compared only if it does not fail.
func sameBits(t *testing.T, name, text string, launches *launchfile.File, read func(string) ([]byte, error)) {
	t.Helper()
	for _, schedule := range []uint64{0, 5} {
		plain := trace(t, text, launches, read, emu.Options{Schedule: schedule})
		if plain.fault != nil {
			continue
		}
		for _, guard := range []bool{false, true} {
			c := check.New()
			watched := trace(t, text, launches, read, emu.Options{Schedule: schedule, Observer: c, GuardShared: guard, KeepGoing: true})
			if slices.ContainsFunc(c.Findings(), func(f finding.Finding) bool { return f.Kind == check.GlobalRace }) {
				continue
			}
			if guard && watched.fault != nil || errors.Is(watched.fault, context.DeadlineExceeded) {
				continue
			}
			if watched.fault != nil {
				t.Errorf("%s, schedule %d: only with checkers: %v", name, schedule, watched.fault)
				continue
			}
			for i, s := range plain.stats {
				if s != watched.stats[i] {
					t.Errorf("%s, schedule %d: %+v instructions, %+v with checkers", name, schedule, s, watched.stats[i])
				}
			}
			for i, c := range plain.contents {
				if !bytes.Equal(c, watched.contents[i]) {
					t.Errorf("%s, schedule %d: buffer %d has other bits with checkers", name, schedule, i)
				}
			}
		}
	}
}
