package decode

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

// usage matches what ptxas -v says about spilled bytes and registers.
var usage = regexp.MustCompile(`(\d+) bytes spill stores(?s:.*)Used (\d+) registers`)

// registers has ptxas compile a kernel. It returns the registers of a thread and the bytes
// that are spilled.
func registers(t *testing.T, k *kernel.Kernel, target ptx.Target) (registers, spilled string) {
	t.Helper()
	in := filepath.Join(t.TempDir(), "kernel.ptx")
	if err := os.WriteFile(in, []byte(k.PTX), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ptxas", "-v", "-arch", target.String(), "-o", os.DevNull, in).CombinedOutput()
	found := usage.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%s: ptxas: %v\n%s", k.Name, err, out)
	}
	return string(found[2]), string(found[1])
}

// wantNoSpills logs the registers of a kernel. Spilled registers are an error.
func wantNoSpills(t *testing.T, p problem.Attention, c Config, target ptx.Target) {
	t.Helper()
	k, err := New(p, c, target)
	if err != nil {
		t.Fatal(err)
	}
	used, spilled := registers(t, k, target)
	t.Logf("%v, %v, %v: %s registers, %s bytes spilled", p, c, target, used, spilled)
	if spilled != "0" {
		t.Errorf("%v, %v, %v: %s bytes spilled", p, c, target, spilled)
	}
}

// TestResources compiles kernels with ptxas. They spill no registers. It also prints the lines for
// the file of package resources.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	all := []problem.HeadDim{{D: 192, DV: 128}, {D: 64, DV: 128}, {D: 128, DV: 256}}
	for _, d := range headDims {
		all = append(all, problem.HeadDim{D: d})
	}
	for _, heads := range all {
		for _, rows := range []int{4, 32, 64} {
			p := attends(1, rows, 1, 1, 8192, 0)
			p.Shape, p.LSE = p.WithHeadDim(heads), true
			wantNoSpills(t, p, Default(p, h200), ptx.SM90a)
			wantNoSpills(t, p, Default(p, kernel.Chip{}), ptx.SM89)
		}
		p := attends(1, 8, 2, 2, 8192, 0)
		p.Shape = p.WithHeadDim(heads)
		p.Keys, p.Layout, p.LSE, p.Window, p.Softcap, p.Sinks = problem.Paged, problem.BSHD, true, problem.NewWindow(100, 0), 20, true
		for i, s := range []problem.Scaling{problem.PerHead, problem.PerToken, problem.PerPage} {
			p := p
			p.Scaling, p.FormatQ = s, []problem.Format{problem.F16, "", problem.BF16}[i]
			p = p.Filled()
			wantNoSpills(t, p, Default(p, h200), ptx.SM90a)
			wantNoSpills(t, p, Prefill(p, h200), ptx.SM90a)
			for _, q := range []problem.Format{"", problem.F16, problem.BF16} { // the limit of registers is lower here
				if p.FormatQ = q; q == "" && s == problem.PerPage {
					continue // pages have no scales of Q
				}
				wantNoSpills(t, p, Default(p, kernel.Chip{}), ptx.SM89)
			}
		}
	}
	for _, page := range []int{4, 64} {
		for _, scaling := range []problem.Scaling{problem.PerHead, problem.PerToken} {
			p := attends(1, 8, 2, 2, 8192, 128)
			p.Keys, p.PageSize, p.LSE, p.Window, p.Scaling = problem.Paged, page, true, problem.NewWindow(100, 0), scaling
			p = p.Filled()
			p.Gaps = p.UsualGaps()
			wantNoSpills(t, p, Default(p, h200), ptx.SM90a)
			wantNoSpills(t, p, Prefill(p, h200), ptx.SM90a)
			wantNoSpills(t, p, Default(p, kernel.Chip{}), ptx.SM89)
		}
	}
	for _, d := range []int{64, 128} {
		for _, name := range []string{"decode", "decode-invariant", "prefill"} {
			p, chip := problem.Attention{Shape: problem.Square(1, 8, 512, d)}.Filled(), kernel.Chip{Target: ptx.SM90a}
			config, err := Family{}.Configure(name, p, chip)
			if err != nil {
				t.Fatal(err)
			}
			k, err := Family{}.Build(p, chip, config)
			if err != nil {
				t.Fatal(err)
			}
			used, _ := registers(t, k, chip.Target)
			t.Logf("%s %d none %v %s", name, d, chip.Target, used)
		}
	}
}
