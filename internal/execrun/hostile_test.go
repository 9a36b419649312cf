package execrun

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/repro"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
)

// brokenDriver opens devices that fail to load: "panic" panics, "slow" never ends.
type brokenDriver struct{}

func (brokenDriver) Present() bool { return true }

func (brokenDriver) Open(how string) (device.Device, error) {
	dev, err := emu.New(ptx.SM90a, emu.Options{})
	return &brokenDevice{dev, how}, err
}

type brokenDevice struct {
	*emu.Device
	how string
}

func (d *brokenDevice) Load(string, string) (device.Module, error) {
	if d.how == "slow" {
		select {}
	}
	panic("a mistake of the device")
}

func init() { device.Register("broken", brokenDriver{}) }

// execute runs a launch file beside in.bin, which has 128 bytes.
func execute(t *testing.T, x Runner, launch string) (code int, out, told string) {
	t.Helper()
	kernel, launches := writeFiles(t, launch)
	dir := filepath.Dir(launches)
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "in.bin"), make([]byte, 128), 0o600),
		os.WriteFile(filepath.Join(dir, "bomb.u64.txt"), []byte(strings.Repeat("0*16777216 ", 1000)), 0o600),
		os.Symlink("/etc/passwd", filepath.Join(dir, "link.bin")),
		syscall.Mkfifo(filepath.Join(dir, "pipe.bin"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	x.Launch, x.Schedules = launches, 1
	if x.Device == "" {
		x.Device = "emu"
	}
	var o, e bytes.Buffer
	err := x.Run(t.Context(), &cli.Env{Out: &o, Err: &e, Color: term.Never}, kernel)
	code = cli.Code(err, &e)
	return code, o.String(), e.String()
}

// reads returns a launch file whose buffer is a parameter.
func reads(param string) string {
	return `{"entry": "store", "block": [32], "params": [` + param + `]}`
}

// TestInternalError wants an exit code of its own, and the inputs in a folder.
func TestInternalError(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	code, _, told := execute(t, Runner{Device: "broken:panic"}, reads(`{"buffer": "in.bin"}`))
	if code != cli.Internal || !strings.Contains(told, "internal error of attest, not a defect of the kernel: a mistake of the device") {
		t.Errorf("exit code %d, %s", code, told)
	}
	dirs, err := filepath.Glob(filepath.Join(os.TempDir(), "attest-bug-*"))
	if err != nil || len(dirs) != 1 || !strings.Contains(told, dirs[0]) {
		t.Fatalf("%v, %v", dirs, err)
	}
	for name, want := range map[string]string{"kernel.ptx": ".entry store", "launch.json": `"in.bin"`, repro.Report: "hostile_test.go"} {
		if data, err := os.ReadFile(filepath.Join(dirs[0], name)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %s, %v", name, data, err)
		}
	}
}

// TestLoadTimeout wants the limit of time to hold for loading, too.
func TestLoadTimeout(t *testing.T) {
	code, _, told := execute(t, Runner{Device: "broken:slow", Timeout: 10 * time.Millisecond}, reads(`{"zeros": 128}`))
	if code != cli.Misuse || !strings.Contains(told, "k.ptx is not loaded after 10ms, the limit of --timeout") {
		t.Errorf("exit code %d, %s", code, told)
	}
}

// TestHostileFiles wants a launch file to reach only files below its folder, and no more than
// --memory of them.
func TestHostileFiles(t *testing.T) {
	for param, want := range map[string]string{
		`{"buffer": "in.bin", "save": "out.bin"}`:    "",
		`{"buffer": "./in.bin"}`:                     "",
		`{"buffer": "/etc/passwd"}`:                  "/etc/passwd: it is outside of",
		`{"buffer": "../../../../../../etc/passwd"}`: "it is outside of",
		`{"buffer": "link.bin"}`:                     "link.bin: a symbolic link leads out of",
		`{"buffer": "pipe.bin"}`:                     "pipe.bin: it is not a regular file",
		`{"buffer": "/dev/zero"}`:                    "it is outside of",
		`{"zeros": 128, "expect": "../x"}`:           "it is outside of",
		`{"zeros": 128, "save": "../x"}`:             "it is outside of",
		`{"zeros": 128, "save": "/tmp/x"}`:           "it is outside of",
		`{"zeros": 9223372036854775807}`:             "out of memory: 9223372036854775807 bytes requested, 0 of 104857600 bytes in use",
		`{"poison": 104857601}`:                      "out of memory",
		`{"buffer": "bomb.u64.txt"}`:                 "line 1: the text describes more than 104857600 bytes, which is the memory of the device",
		`{"tensormap": {"type": "u64", "buffer": {"zeros": 128}, "dims": [4294967296, 4294967296, 2], "box": [2, 1, 1]}}`: "the tensor is larger than any memory",
	} {
		code, _, told := execute(t, Runner{Memory: 100 << 20}, reads(param))
		if want == "" && code != cli.OK || want != "" && (code != cli.Misuse || !strings.Contains(told, want)) {
			t.Errorf("%s: exit code %d, %s, want %q", param, code, told, want)
		}
	}
}

// TestRoot lets a launch file reach the folder that the user names.
func TestRoot(t *testing.T) {
	kernel, launches := writeFiles(t, reads(`{"buffer": "../data/in.bin", "save": "../data/out.bin"}`))
	top := t.TempDir()
	for _, err := range []error{
		os.Mkdir(filepath.Join(top, "data"), 0o700), os.Mkdir(filepath.Join(top, "launch"), 0o700),
		os.WriteFile(filepath.Join(top, "data", "in.bin"), make([]byte, 128), 0o600),
		os.Rename(launches, filepath.Join(top, "launch", "l.json")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for root, want := range map[string]int{"": cli.Misuse, top: cli.OK, filepath.Join(top, "data"): cli.Misuse, filepath.Join(top, "none"): cli.Misuse} {
		x := &Runner{Launch: filepath.Join(top, "launch", "l.json"), Device: "emu", Schedules: 1, Root: root}
		if code := cli.Code(x.Run(t.Context(), &cli.Env{Out: io.Discard, Err: io.Discard}, kernel), io.Discard); code != want {
			t.Errorf("--root %q: exit code %d, want %d", root, code, want)
		}
	}
	if data, err := os.ReadFile(filepath.Join(top, "data", "out.bin")); err != nil || len(data) != 128 || data[4] != 1 {
		t.Error(err)
	}
}

// TestMemoryLimit ends a run when the process holds too much, here at once.
func TestMemoryLimit(t *testing.T) {
	kernel, launches := writeFiles(t, reads(`{"zeros": 128}`))
	text := strings.Replace(text, "\tret;", "LOOP:\n\tbra LOOP;", 1)
	if err := os.WriteFile(kernel, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &Runner{Launch: launches, Device: "emu", Schedules: 1, Memory: 4096}
	err := x.Run(t.Context(), &cli.Env{Out: io.Discard, Err: io.Discard}, kernel)
	if err == nil || !strings.Contains(err.Error(), "the limit of --memory") {
		t.Error(err)
	}
}
