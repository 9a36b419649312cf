package capture

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/rival"
	"github.com/GOATnote-Inc/attest/ptx"
)

// record runs the program of testdata with packages that stand for Triton and PyTorch.
func record(t *testing.T, o Options, args ...string) ([]Launch, error) {
	t.Helper()
	python, err := rival.Python()
	if err != nil {
		t.Skip(err)
	}
	fake, err := filepath.Abs("testdata/fake")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", fake)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	var out bytes.Buffer
	o.Stdout, o.Stderr = &out, &out
	launches, err := Run(t.Context(), o, python, append([]string{"testdata/program.py"}, args...)...)
	if err != nil {
		t.Log(out.String())
	} else if out.String() != "done\n" {
		t.Errorf("the program printed %q", out.String())
	}
	return launches, err
}

func options(t *testing.T) Options {
	return Options{Out: filepath.Join(t.TempDir(), "out"), Limit: 10, PerKernel: 2, Bytes: 1 << 20}
}

// TestReplay records launches and runs them on the emulator, which must write the same bytes.
func TestReplay(t *testing.T) {
	o := options(t)
	launches, err := record(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(launches) != 2 {
		t.Fatalf("%d launches are recorded, want 2 of 3: %+v", len(launches), launches)
	}
	if launches[0].Launch == launches[1].Launch || launches[0].PTX != launches[1].PTX {
		t.Errorf("two launches of one kernel: %+v", launches)
	}
	for _, l := range launches {
		if l.Bytes != 512 {
			t.Errorf("%s has %d bytes, want one storage of 512", l.Launch, l.Bytes)
		}
		replay(t, o.Out, l)
	}
}

func replay(t *testing.T, folder string, l Launch) {
	t.Helper()
	read := func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(folder, name)) }
	text, err := read(l.PTX)
	if err != nil {
		t.Fatal(err)
	}
	data, err := read(l.Launch)
	if err != nil {
		t.Fatal(err)
	}
	file, err := launchfile.Parse(l.Launch, data)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	mod, err := dev.Load(l.PTX, string(text))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	err = (&launchfile.Runner{Device: dev, Module: mod, Read: read}).Run(t.Context(), file, func(r *launchfile.Result) {
		ran++
		if compared, wrong := r.Count(); !r.OK() || compared == 0 {
			t.Errorf("%s: %v, %d of %d bytes differ", l.Launch, r.Fault, wrong, compared)
		}
	})
	if err != nil || ran != 1 {
		t.Errorf("%d launches ran: %v", ran, err)
	}
}

// TestSkipped: launches that cannot be recorded run, and the reasons are listed.
func TestSkipped(t *testing.T) {
	launches, err := record(t, options(t), "raw")
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, l := range launches {
		if l.Skipped != "" {
			why[l.Kernel] = l.Skipped
		}
	}
	if !strings.Contains(why["raw"], "raw address") || !strings.Contains(why["graph"], "CUDA graph") || len(why) != 2 {
		t.Errorf("not recorded: %v", why)
	}
}

// TestLimits: the limits hold, and what exceeds them is said.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
		count  int
	}{
		{func(o *Options) { o.Bytes = 100 }, "the limit of --bytes", 0},
		{func(o *Options) { o.Limit = 1 }, "the limit of --limit", 1},
		{func(o *Options) { o.Kernel = "^other" }, "", 0},
	} {
		o := options(t)
		c.change(&o)
		launches, err := record(t, o)
		if err != nil {
			t.Fatal(err)
		}
		count, said := 0, ""
		for _, l := range launches {
			if said += l.Skipped; l.Skipped == "" {
				count++
			}
		}
		if count != c.count || !strings.Contains(said, c.want) || c.want == "" && said != "" {
			t.Errorf("%d launches, and %q is said", count, said)
		}
	}
}

// TestFailures: a program that fails, and options that cannot be used.
func TestFailures(t *testing.T) {
	o := options(t)
	launches, err := record(t, o, "fail")
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ended.ExitCode() != 7 || len(launches) != 2 {
		t.Errorf("a program that exits with 7: %v, %d launches", err, len(launches))
	}
	if _, err := Run(t.Context(), o, "true"); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a folder that is not empty: %v", err)
	}
	o = options(t)
	o.Kernel = "("
	if _, err := Run(t.Context(), o, "true"); err == nil || !strings.Contains(err.Error(), "--kernel") {
		t.Errorf("a broken expression: %v", err)
	}
	if _, err := Run(t.Context(), options(t), "/no/such/program"); err == nil {
		t.Error("a program that does not exist ran")
	}
}
