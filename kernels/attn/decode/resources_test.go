package decode

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/ptx"
)

// usage matches what ptxas -v says about spilled bytes and registers.
var usage = regexp.MustCompile(`(\d+) bytes spill stores(?s:.*)Used (\d+) registers`)

// TestResources compiles kernels with ptxas. They spill no registers where the limit
// is that of the gate.
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
				in := filepath.Join(t.TempDir(), "kernel.ptx")
				if err := os.WriteFile(in, []byte(k.PTX), 0o644); err != nil {
					t.Fatal(err)
				}
				out, err := exec.Command("ptxas", "-v", "-arch", on.target.String(), "-o", os.DevNull, in).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: ptxas: %v\n%s", on.config, err, out)
				}
				found := usage.FindSubmatch(out)
				if limit := on.config.maxRegisters(d, on.target); found == nil || string(found[1]) != "0" && limit < 255 {
					t.Errorf("d%d, %v, %v: %s", d, on.config, on.target, out)
					continue
				}
				t.Logf("d%d, %v, %v: %s registers, %s bytes spilled", d, on.config, on.target, found[2], found[1])
			}
		}
	}
}
