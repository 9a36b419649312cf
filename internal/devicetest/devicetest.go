package devicetest

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// The cases are embedded, so that a compiled test runs without other files.
//
//go:embed testdata/*.txtar
var cases embed.FS

// Run runs every case as a subtest. open opens a device for a target; the device may also be
// an older or newer one. Run skips the cases that the device cannot run.
func Run(t *testing.T, open func(target ptx.Target) (device.Device, error)) {
	t.Helper()
	entries, err := fs.ReadDir(cases, "testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(strings.TrimSuffix(e.Name(), ".txtar"), func(t *testing.T) {
			text, err := cases.ReadFile(path.Join("testdata", e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			err = run(t.Context(), text, open)
			if errors.Is(err, errTooOld) {
				t.Skip(err)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

var errTooOld = errors.New("the device is too old")

// timeout is the time limit of a launch. Launches normally take milliseconds.
const timeout = time.Minute

// run runs one case and returns all failures.
func run(ctx context.Context, text []byte, open func(ptx.Target) (device.Device, error)) error {
	files := archive(text)
	kernel, err := files.read("kernel.ptx")
	if err != nil {
		return err
	}
	launch, err := files.read("launch.json")
	if err != nil {
		return err
	}
	m, err := parse.Parse("kernel.ptx", string(kernel))
	if err != nil {
		return err
	}
	f, err := launchfile.Parse("launch.json", launch)
	if err != nil {
		return err
	}
	dev, err := open(m.Target)
	if err != nil {
		return err
	}
	defer dev.Close()
	if info := dev.Info(); !info.Target.Runs(m.Target) {
		return fmt.Errorf("%w: %s does not run %s", errTooOld, info.Name, m.Target)
	}
	mod, err := dev.Load("kernel.ptx", string(kernel))
	if err != nil {
		return err
	}
	defer mod.Close()
	return files.check(ctx, &launchfile.Runner{Device: dev, Module: mod, Read: files.read, Timeout: timeout}, f)
}

// content holds the files of an archive and records which of them were used.
type content map[string]*entry

type entry struct {
	data []byte
	used bool
}

func archive(text []byte) content {
	c := content{}
	for _, f := range txtar.Parse(text).Files {
		c[f.Name] = &entry{data: f.Data}
	}
	return c
}

func (c content) read(name string) ([]byte, error) {
	e := c[name]
	if e == nil {
		return nil, fmt.Errorf("%s is not in the archive", name)
	}
	e.used = true
	return e.data, nil
}

// check runs the launches and returns an error if a result is wrong, if the case expects no
// results, or if it does not use all of its files.
func (c content) check(ctx context.Context, r *launchfile.Runner, f *launchfile.File) error {
	var errs []error
	var compared int64
	err := r.Run(ctx, f, func(res *launchfile.Result) {
		if res.Fault != nil {
			errs = append(errs, res.Fault)
		}
		n, _ := res.Count()
		compared += n
		for _, cmp := range res.Comparisons {
			if cmp.Mismatches > 0 {
				errs = append(errs, mismatches(res, cmp))
			}
		}
	})
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if compared == 0 {
		return errors.New("the case has no expected results")
	}
	for name, e := range c {
		if !e.used {
			return fmt.Errorf("the case does not use %s", name)
		}
	}
	return nil
}

func mismatches(res *launchfile.Result, c *launchfile.Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "launch %d, %s: %v", res.Index, res.Entry, c)
	for _, m := range c.First {
		fmt.Fprintf(&b, "\n  element %d: got %s, want %s", m.Index, m.Got, m.Want)
	}
	return errors.New(b.String())
}
