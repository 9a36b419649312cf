package difffuzz

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// workerVar is the environment variable that makes the test program the process of a Child.
const workerVar = "DIFFFUZZ_WORKER"

func TestMain(m *testing.M) {
	if mode := os.Getenv(workerVar); mode != "" {
		if err := Serve(os.Stdin, os.Stdout, func() (device.Device, error) { return openWorker(mode) }); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func openWorker(mode string) (device.Device, error) {
	dev, err := emu.New(ptx.SM90a, emu.Options{Output: io.Discard})
	switch mode {
	case "dies":
		return &mutant{Device: dev, change: func(string) string { os.Exit(3); return "" }}, err
	case "none":
		return nil, errors.New("there is no such device")
	}
	return dev, err
}

// workerProcess returns this program as the process of a Child.
func workerProcess(mode string) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), workerVar+"="+mode)
		return cmd
	}
}

var latest = Options{Target: ptx.SM90a, Version: ptx.Version{Major: 8, Minor: 7}}

func emulator(t testing.TB, target ptx.Target, schedule uint64) *emu.Device {
	t.Helper()
	dev, err := emu.New(target, emu.Options{Schedule: schedule, Output: io.Discard, MaxInstructions: 1 << 22})
	if err != nil {
		t.Fatal(err)
	}
	return dev
}

// mutant is a device that changes the text before it loads it.
type mutant struct {
	device.Device
	change func(text string) string
}

func (m *mutant) Load(name, text string) (device.Module, error) {
	return m.Device.Load(name, m.change(text))
}
