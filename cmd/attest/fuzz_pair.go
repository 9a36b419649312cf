package main

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

// choose settles which devices are compared and what they are called.
func (z *fuzzing) choose() error {
	if z.device == "" {
		z.device = "emu"
		if dev, err := device.Open("cuda:0"); err == nil {
			z.device = "cuda:0"
			dev.Close()
		}
	}
	pair, names, err := z.pair()
	if err != nil {
		return err
	}
	z.againstName, z.deviceName = names[0], names[1]
	return pair.Close()
}

// open opens both devices for one worker; many do at once.
func (z *fuzzing) open() (*difffuzz.Pair, error) {
	pair, _, err := z.pair()
	return pair, err
}

// pair opens both devices and says what they are called, the reference first.
func (z *fuzzing) pair() (*difffuzz.Pair, [2]string, error) {
	var names [2]string
	target := z.options.Target // emulators are of it, or of the GPU that they are compared with
	runners := make([]difffuzz.Runner, 2)
	for i, name := range []string{z.against, z.device} {
		if isEmulator(name) {
			continue
		}
		child := &difffuzz.Child{Command: func() *exec.Cmd { return worker(name) }}
		info, err := child.Info()
		if err != nil {
			return nil, names, fmt.Errorf("--device %s: %w", name, err)
		}
		if !info.Target.Runs(z.options.Target) {
			child.Close()
			return nil, names, fmt.Errorf("%s does not run code for %s: choose another --target", info.Name, z.options.Target)
		}
		runners[i], names[i] = child, info.Name
		if slices.Contains(emu.Targets(), info.Target) {
			target = info.Target
		}
	}
	for i, name := range []string{z.against, z.device} {
		if runners[i] != nil {
			continue
		}
		var err error
		if runners[i], names[i], err = z.emulator(i, name, target); err != nil {
			return nil, names, fmt.Errorf("--device %s: %w", name, err)
		}
	}
	return &difffuzz.Pair{Reference: runners[0], Other: runners[1]}, names, nil
}

func isEmulator(name string) bool { return name == "emu" || strings.HasPrefix(name, "emu:") }

// fuzzSteps is how many instructions a warp of a kernel may take; none comes close.
const fuzzSteps = 1 << 22

// emulator is one of the devices and what it is called. Compared with another emulator, the second runs its
// warps in another order and has a block more.
func (z *fuzzing) emulator(i int, name string, target ptx.Target) (difffuzz.Runner, string, error) {
	if _, arg, named := strings.Cut(name, ":"); named {
		var err error
		if target, err = ptx.ParseTarget(arg); err != nil {
			return nil, "", err
		}
	}
	opts := emu.Options{Output: io.Discard, MaxInstructions: fuzzSteps}
	l := &difffuzz.Local{}
	other := i == 1 && isEmulator(z.against)
	if other {
		opts.Schedule, l.Extra = 1+z.seed, 1
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

// worker is this program as the process that runs kernels on a device.
func worker(device string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	cmd := exec.Command(self, "fuzz", "--worker", "--device", device)
	// No kernel comes twice, so compiled code is not worth keeping.
	cmd.Env = append(os.Environ(), "ATTEST_CACHE=off", "CUDA_CACHE_DISABLE=1")
	cmd.Stderr = os.Stderr
	return cmd
}
