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

// TestResources compiles kernels with ptxas. They spill no registers where the limit is that of
// the gate. It also prints the lines for the file of package resources.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	for _, d := range []int{64, 128, 256} {
		for _, rows := range []int{4, 32, 64} {
			p := attends(1, rows, 1, 1, 8192, d)
			p.LSE = true
			for _, on := range []struct {
				config Config
				target ptx.Target
			}{{Default(p, h200), ptx.SM90a}, {Default(p, kernel.Chip{}), ptx.SM89}} {
				k, err := New(p, on.config, on.target)
				if err != nil {
					t.Fatal(err)
				}
				used, spilled := registers(t, k, on.target)
				t.Logf("d%d, %v, %v: %s registers, %s bytes spilled", d, on.config, on.target, used, spilled)
				if spilled != "0" && on.config.maxRegisters(d, on.target) < 255 {
					t.Errorf("d%d, %v, %v: %s bytes spilled", d, on.config, on.target, spilled)
				}
			}
		}
	}
	for _, d := range []int{64, 128} {
		for _, name := range []string{"decode", "decode-invariant"} {
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
