package fuzzrun

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/difffuzz"
	"github.com/GOATnote-Inc/attest/ptx"
)

// choose opens both devices once, to find out what they are called and whether they work.
func (x *Runner) choose() error {
	if x.Device == "" {
		x.Device = "emu"
		if dev, err := device.Open("cuda:0"); err == nil {
			x.Device = "cuda:0"
			dev.Close()
		}
	}
	pair, names, err := x.pair()
	if err != nil {
		return err
	}
	x.againstName, x.deviceName = names[0], names[1]
	return pair.Close()
}

// open opens both devices for one worker. Several workers call it at once.
func (x *Runner) open() (*difffuzz.Pair, error) {
	pair, _, err := x.pair()
	return pair, err
}

// pair opens both devices and returns their names, the reference first.
func (x *Runner) pair() (*difffuzz.Pair, [2]string, error) {
	var names [2]string
	// target is the target of emulators. A GPU is compared with the emulator of the same
	// target, if there is one.
	target := x.options.Target
	runners := make([]difffuzz.Runner, 2)
	for i, name := range []string{x.Against, x.Device} {
		if isEmulator(name) {
			continue
		}
		child := &difffuzz.Child{Command: func() *exec.Cmd { return worker(name) }}
		info, err := child.Info()
		if err != nil {
			return nil, names, fmt.Errorf("--device %s: %w", name, err)
		}
		if !info.Target.Runs(x.options.Target) {
			child.Close()
			return nil, names, fmt.Errorf("%s does not run code for %s: choose another --target", info.Name, x.options.Target)
		}
		runners[i], names[i] = child, info.Name
		if slices.Contains(emu.Targets(), info.Target) {
			target = info.Target
		}
	}
	for i, name := range []string{x.Against, x.Device} {
		if runners[i] != nil {
			continue
		}
		var err error
		if runners[i], names[i], err = x.emulator(i, name, target); err != nil {
			return nil, names, fmt.Errorf("--device %s: %w", name, err)
		}
	}
	return &difffuzz.Pair{Reference: runners[0], Other: runners[1]}, names, nil
}

func isEmulator(name string) bool { return name == "emu" || strings.HasPrefix(name, "emu:") }

// fuzzSteps is the number of instructions that a warp may run. Generated kernels run far
// fewer.
const fuzzSteps = 1 << 22

// emulator opens emulator i of the pair and returns its name. If both devices are
// emulators, the second runs its warps in another order and launches one more block.
func (x *Runner) emulator(i int, name string, target ptx.Target) (difffuzz.Runner, string, error) {
	if _, arg, named := strings.Cut(name, ":"); named {
		var err error
		if target, err = ptx.ParseTarget(arg); err != nil {
			return nil, "", err
		}
	}
	opts := emu.Options{Output: io.Discard, MaxInstructions: fuzzSteps}
	l := &difffuzz.Local{}
	other := i == 1 && isEmulator(x.Against)
	if other {
		opts.Schedule, l.ExtraBlocks = 1+x.Seed, 1
	}
	dev, err := emu.New(target, opts)
	if err != nil {
		return nil, "", err
	}
	l.Device = dev
	title := dev.Info().Name
	if other {
		title += " under another schedule"
	}
	return l, title, nil
}

// worker returns this program as the process that runs kernels on a device.
func worker(device string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, "fuzz", "--worker", "--device", device)
	// No kernel runs twice, so a cache of compiled code would only cost time.
	cmd.Env = append(os.Environ(), "ATTEST_CACHE=off", "CUDA_CACHE_DISABLE=1")
	cmd.Stderr = os.Stderr
	return cmd
}
