package difffuzz

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/ptx/parse"

	_ "github.com/GOATnote-Inc/attest/device/cuda"
)

// bugs is the folder of earlier finds, in the form that Find.Write writes.
const bugs = "../../testdata/bug"

// TestBugs replays earlier finds: each case must give the expected values on the emulator of
// its target and, if there is one, on a GPU. A case with a file named deviation belongs to an
// entry of DEVIATIONS.md: a GPU may give other values, and the test logs them. If the file
// says that the case hangs or faults on a GPU, it runs only on the emulator.
func TestBugs(t *testing.T) {
	cases, err := filepath.Glob(filepath.Join(bugs, "*", "launch.json"))
	if err != nil {
		t.Fatal(err)
	}
	gpu, err := device.Open("cuda:0")
	if err != nil {
		t.Logf("on the emulator only: %v", err)
	} else {
		defer gpu.Close()
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "kernel.ptx"))
			if err != nil {
				t.Fatal(err)
			}
			m, err := parse.Parse("kernel.ptx", string(text))
			if err != nil {
				t.Fatal(err)
			}
			dev, err := emu.New(m.Target, emu.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := runFolder(t.Context(), dir, dev); err != nil {
				t.Errorf("on the emulator: %v", err)
			}
			if gpu == nil || !gpu.Info().Target.Runs(m.Target) {
				return
			}
			deviation, err := os.ReadFile(filepath.Join(dir, "deviation"))
			if len(strings.Fields(string(deviation))) > 1 {
				return // the case would hang or fault and destroy the CUDA context
			}
			switch got := runFolder(t.Context(), dir, gpu); {
			case err == nil:
				t.Logf("%s on %s: %v", strings.TrimSpace(string(deviation)), gpu.Info().Name, got)
			case got != nil:
				t.Errorf("on %s: %v", gpu.Info().Name, got)
			}
		})
	}
}

// runFolder runs a case and returns an error if a value is not as expected.
func runFolder(ctx context.Context, dir string, dev device.Device) error {
	text, err := os.ReadFile(filepath.Join(dir, "kernel.ptx"))
	if err != nil {
		return err
	}
	launch, err := os.ReadFile(filepath.Join(dir, "launch.json"))
	if err != nil {
		return err
	}
	f, err := launchfile.Parse("launch.json", launch)
	if err != nil {
		return err
	}
	mod, err := dev.Load("kernel.ptx", string(text))
	if err != nil {
		return err
	}
	defer mod.Close()
	r := launchfile.Runner{Device: dev, Module: mod, Timeout: time.Minute, Read: func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, name))
	}}
	var wrong []error
	compared := int64(0)
	err = r.Run(ctx, f, func(res *launchfile.Result) {
		wrong = append(wrong, res.Fault)
		for _, c := range res.Comparisons {
			compared += c.Compared
			if c.Mismatches > 0 {
				wrong = append(wrong, fmt.Errorf("%v: element %d is %s, want %s", c, c.First[0].Index, c.First[0].Got, c.First[0].Want))
			}
		}
	})
	if compared == 0 && err == nil {
		err = errors.New("nothing is compared")
	}
	return errors.Join(append(wrong, err)...)
}

func contextWithStop(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
