package build_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// printed runs a kernel without parameters in one block on the emulator and returns the
// lines that it prints, sorted.
func printed(t *testing.T, k *build.Kernel, threads int) []string {
	t.Helper()
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d, err := emu.New(k.Target(), emu.Options{Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load("k.ptx", text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	entry, err := m.Kernel(k.Name())
	if err != nil {
		t.Fatal(err)
	}
	if err := entry.Launch(t.Context(), device.Launch{Grid: device.D(1), Block: device.D(threads)}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

func TestPrintf(t *testing.T) {
	k := build.New("k", ptx.SM80)
	x := k.TidX()
	k.Printf("%u: %d %x %5.2f|%g %c 100%%\n", x, build.Cast[build.S32](x.Sub(1)), x.CvtU64().Shl(40), x.CvtRnF32(),
		x.CvtRnF32().CvtRnF16(), x.Add('a'))
	k.If(x.SetpEq(1), func() {
		b := x.CvtRnF32().CvtRnBF16()
		k.Printf("%d %g\n", x.SetpEq(1), b)
		k.Printf("%d %g\n", x.SetpEq(1), b)
		k.Printf("no values\n")
	})
	want := []string{"0: -1 0  0.00|0 a 100%", "1 1", "1 1", "1: 0 10000000000  1.00|1 b 100%", "no values"}
	if got := printed(t, k, 2); !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}

func TestPrintfMisuse(t *testing.T) {
	for _, c := range []struct {
		format string
		args   func(*build.Kernel) []build.Value
		want   string
	}{
		{"%d", func(k *build.Kernel) []build.Value { return []build.Value{k.F32(1)} }, "use %f, %e or %g"},
		{"%g", func(k *build.Kernel) []build.Value { return []build.Value{k.U32(1)} }, "use %d, %u or %x"},
		{"%s", func(k *build.Kernel) []build.Value { return []build.Value{k.U32(1)} }, "%s is not a conversion"},
		{"%d %d", func(k *build.Kernel) []build.Value { return []build.Value{k.U32(1)} }, "%d has no value"},
		{"", func(k *build.Kernel) []build.Value { return []build.Value{k.U32(1)} }, "fewer conversions (0) than the call has values (1)"},
		{"a%-", func(k *build.Kernel) []build.Value { return nil }, "ends inside a conversion"},
	} {
		k := build.New("k", ptx.SM80)
		k.Printf(c.format, c.args(k)...)
		if _, err := k.PTX(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Printf(%q): %v, want %q", c.format, err, c.want)
		}
	}
}
