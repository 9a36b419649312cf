package profile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/limited"
	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/warptrace"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// LaunchedWorks runs the launches that a launch file describes on the emulator, or a few clusters of each if they
// are large, and returns them for predictions, in order. Files that the launch file names must lie in
// its folder.
func LaunchedWorks(ctx context.Context, ptxPath, launchPath string) (works []predict.Work, err error) {
	text, err := limited.ReadFile(ptxPath, limited.Small)
	if err != nil {
		return nil, err
	}
	description, err := limited.ReadFile(launchPath, limited.Small)
	if err != nil {
		return nil, fmt.Errorf("--launch: %w", err)
	}
	file, err := launchfile.Parse(launchPath, description)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(launchPath))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return launchedWorks(ctx, ptxPath, string(text), file, func(name string) ([]byte, error) {
		return limited.ReadIn(root, filepath.FromSlash(name), limited.Small)
	})
}

const (
	// wholeBytes is the memory that a recording of all clusters may take. A sample can miss the cluster that
	// ends last.
	wholeBytes = 64 << 20
	// launchedSamples is the number of clusters that are recorded of each larger launch.
	launchedSamples = 4
)

func launchedWorks(ctx context.Context, name, text string, file *launchfile.File, read func(string) ([]byte, error)) ([]predict.Work, error) {
	works, err := recorded(ctx, name, text, file, read, &warptrace.Recorder{Most: wholeBytes})
	if errors.Is(err, warptrace.ErrFull) {
		works, err = recorded(ctx, name, text, file, read, &warptrace.Recorder{Wants: warptrace.Spread(launchedSamples)})
	}
	return works, err
}

func recorded(ctx context.Context, name, text string, file *launchfile.File, read func(string) ([]byte, error), rec *warptrace.Recorder) (works []predict.Work, err error) {
	defer device.CatchBug(&err)
	module, err := parse.Parse(name, text)
	if err != nil {
		return nil, fmt.Errorf("%s is not valid PTX: attest ptx check %[1]s lists what is wrong", name)
	}
	target, err := emu.TargetFor(module.Target)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rec.Full = func() { cancel(warptrace.ErrFull) }
	dev, err := emu.New(target, emu.Options{Observer: rec, Only: rec.Wants})
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	counted := &counting{Device: dev}
	load := func(name string) (device.Module, error) {
		other, err := read(name)
		if err != nil {
			return nil, err
		}
		return dev.Load(name, string(other))
	}
	m, err := dev.Load(name, text)
	if err != nil {
		return nil, err
	}
	r := launchfile.Runner{Device: counted, Module: m, Load: load, Read: read}
	var fault error
	err = r.Run(ctx, file, func(res *launchfile.Result) {
		if res.Fault != nil && fault == nil {
			fault = fmt.Errorf("%s: %w", res.Entry, res.Fault)
		}
	})
	if context.Cause(ctx) == warptrace.ErrFull {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), warptrace.ErrFull)
	}
	if err != nil {
		return nil, err
	}
	if fault != nil {
		return nil, fault
	}
	launches := rec.Launches()
	for _, l := range launches {
		works = append(works, predict.Work{Trace: l, Bytes: counted.bytes / int64(len(launches))})
	}
	return works, nil
}

// counting is a device that adds up the memory that is allocated.
type counting struct {
	device.Device
	bytes int64
}

// Alloc allocates memory.
func (d *counting) Alloc(size int64) (device.Buffer, error) {
	d.bytes += size
	return d.Device.Alloc(size)
}

// OfLaunches predicts the time of launches that a launch file describes on a chip. name is the name
// of the PTX file.
func OfLaunches(name string, works []predict.Work, chip chips.Chip, o Options) *Report {
	r := &Report{Kernel: filepath.Base(name), NCUNote: "ncu is not used for launch files"}
	r.predict(works, chip, o, nil)
	return r
}
