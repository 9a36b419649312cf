package resources

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/examples"
	"github.com/GOATnote-Inc/attest/ptx"
)

// said is what ptxas of CUDA 12.4 says of a kernel that calls a function, and, as
// newer ones do, of barriers and its own time.
const said = `ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma instructions defining accumulator registers of a wgmma between start and end of the pipeline stage in the function 'wgmma'
ptxas info    : 8 bytes gmem, 16 bytes cmem[3]
ptxas info    : Compiling entry function 'wgmma' for 'sm_90a'
ptxas info    : Function properties for wgmma
    48 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 168 registers, used 3 barriers, 48 bytes cumulative stack size, 16392 bytes smem, 376 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 12.034 ms
ptxas info    : Compiling entry function 'plain' for 'sm_90a'
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers
ptxas k.ptx, line 12; warning : Unresolved loop unroll count
ptxas warning : Value of threads per SM for entry plain is out of range. .minnctapersm will be ignored
`

func TestParseVerbose(t *testing.T) {
	v := parseVerbose(said)
	p := func(n int) Figure { return Figure{n, Ptxas} }
	want := Usage{Registers: p(168), SpillStores: p(20), SpillLoads: p(24), Stack: p(48), Shared: p(16392), Constant: p(384), Barriers: p(3)}
	if got := v.kernels["wgmma"]; got == nil || *got != want {
		t.Errorf("wgmma: got  %+v\nwant %+v", got, want)
	}
	want = Usage{Registers: p(10), SpillStores: p(0), SpillLoads: p(0), Stack: p(0), Shared: p(0), Constant: p(0)}
	if got := v.kernels["plain"]; got == nil || *got != want {
		t.Errorf("plain: got  %+v\nwant %+v", got, want)
	}
	if len(v.kernels) != 2 || len(v.advice) != 3 {
		t.Fatalf("%d kernels, advice %+v", len(v.kernels), v.advice)
	}
	a := v.advice[0]
	if a.Code != "C7515" || a.Kernel != "wgmma" || a.Severity != "info" || !strings.HasPrefix(a.Message, "Potential Performance Loss: wgmma") {
		t.Errorf("%+v", a)
	}
	if a := v.advice[1]; a.Line != 12 || a.Severity != "warning" || a.Message != "Unresolved loop unroll count" {
		t.Errorf("%+v", a)
	}
}

func TestFirstComplaint(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"ptxas /tmp/stdin, line 7; error   : Unknown symbol 'x'\nptxas fatal   : Ptx assembly aborted due to errors\n", "line 7: Unknown symbol 'x'"},
		{"ptxas fatal   : Value 'sm_121' is not defined for option 'gpu-name'\n", "Value 'sm_121' is not defined for option 'gpu-name'"},
		{"segfault\n", "segfault"},
		{"", context.Canceled.Error()},
	} {
		if got := firstComplaint(c.out, context.Canceled); got != c.want {
			t.Errorf("%q: %q, want %q", c.out, got, c.want)
		}
	}
}

func wgmma(t *testing.T) string {
	t.Helper()
	text, err := examples.Wgmma().PTX()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPtxas has the assembler itself judge a kernel, and one that was spoilt.
func TestPtxas(t *testing.T) {
	ask := OnPath()
	if ask.Ptxas == "" {
		t.Skip("no ptxas")
	}
	text := wgmma(t)
	r, err := Of(t.Context(), "wgmma.ptx", text, ptx.SM90a, ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Notes) > 0 {
		t.Skip(r.Notes[0]) // CUDA 11 has no sm_90a
	}
	u := r.Usage("wgmma")
	if u == nil || u.Registers.Source != Ptxas || u.Registers.Value < 32 || u.Shared.Value < 16384 || !u.SpillStores.Known() || len(r.Advice) > 0 {
		t.Errorf("%+v, advice %v, notes %v", u, r.Advice, r.Notes)
	}

	// An addition to an accumulator between two products.
	second := strings.Index(text[strings.Index(text, "\twgmma.mma_async")+1:], "\twgmma.mma_async") + strings.Index(text, "\twgmma.mma_async") + 1
	spoilt := text[:second] + "\tadd.f32 %f0, %f0, 0f3f800000;\n" + text[second:]
	r, err = Of(t.Context(), "spoilt.ptx", spoilt, ptx.SM90a, ask)
	if err != nil {
		t.Fatal(err)
	}
	// CUDA 12 serialises the products, CUDA 13 waits for the first.
	if !slices.ContainsFunc(r.Advice, func(a Advice) bool {
		return strings.HasPrefix(a.Code, "C75") && a.Kernel == "wgmma" &&
			(strings.Contains(a.Message, "serialized") || strings.Contains(a.Message, "warpgroup.wait is injected"))
	}) {
		t.Errorf("serialised products go unremarked: %+v", r.Advice)
	}
}

// TestFallBack: without ptxas a card is asked, without a card there is the
// estimate, and the notes say why.
func TestFallBack(t *testing.T) {
	text := wgmma(t)
	dir := t.TempDir()
	old := filepath.Join(dir, "ptxas")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho \"ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'\" >&2\nexit 255\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	hopper := &card{target: ptx.SM90a, info: device.KernelInfo{Registers: 60, Local: 16, Shared: 16392}}
	for _, c := range []struct {
		name                     string
		ask                      Asked
		registers, spills, stack Source
		notes                    []string
	}{
		{"nothing", Asked{}, Estimate, "", "", []string{"no ptxas", "no GPU"}},
		{"a card", Asked{Device: hopper}, JIT, "", JIT, []string{"no ptxas"}},
		{"another card", Asked{Device: &card{target: ptx.SM89}}, Estimate, "", "", []string{"no ptxas", "does not compile for sm_90a"}},
		{"an emulator", Asked{Device: &card{target: ptx.SM90a}}, Estimate, "", "", []string{"no ptxas", "does not report registers"}},
		{"an old ptxas", Asked{Ptxas: old, Device: hopper}, JIT, "", JIT, []string{"'sm_90a' is not defined"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.ask.Ptxas != "" {
				if _, err := exec.LookPath("sh"); err != nil {
					t.Skip("no shell")
				}
			}
			r, err := Of(t.Context(), "wgmma.ptx", text, ptx.SM90a, c.ask)
			if err != nil {
				t.Fatal(err)
			}
			u := r.Usage("wgmma")
			if u.Registers.Source != c.registers || u.Registers.Value < 32 || u.SpillStores.Source != c.spills || u.Stack.Source != c.stack || u.Shared.Value < 16384 {
				t.Errorf("%+v", u)
			}
			for i, want := range c.notes {
				if len(r.Notes) != len(c.notes) || !strings.Contains(r.Notes[i], want) {
					t.Fatalf("notes %q, want %q", r.Notes, c.notes)
				}
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	if _, err := Of(t.Context(), "wgmma.ptx", wgmma(t), ptx.SM89, Asked{}); err == nil || !strings.Contains(err.Error(), "wgmma.ptx is for sm_90a, which sm_89 does not run") {
		t.Errorf("error is %v", err)
	}
	if _, err := Of(t.Context(), "bad.ptx", "nonsense", ptx.SM89, Asked{}); err == nil {
		t.Error("nonsense is accepted")
	}
}

// card is a device that compiles whatever it is given.
type card struct {
	device.Device
	target ptx.Target
	info   device.KernelInfo
}

func (c *card) Info() device.Info                          { return device.Info{Name: "card", Target: c.target} }
func (c *card) Load(string, string) (device.Module, error) { return c, nil }
func (c *card) Close() error                               { return nil }
func (c *card) Global(string) (device.Buffer, error)       { return nil, nil }
func (c *card) Kernel(string) (device.Kernel, error)       { return loaded{c.info}, nil }

type loaded struct{ info device.KernelInfo }

func (k loaded) Info() device.KernelInfo                     { return k.info }
func (k loaded) Launch(context.Context, device.Launch) error { return nil }
