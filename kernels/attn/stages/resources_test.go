package stages

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

const maxShared = 64 << 10

var full = flag.Bool("full", false, "the whole matrix of problems and configurations, which takes minutes")

// resources are the numbers that ptxas -v prints for a kernel.
type resources struct{ registers, spills, stack int }

var (
	registersLine = regexp.MustCompile(`Used (\d+) registers`)
	spillsLine    = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
)

// assemble has ptxas compile a kernel for a target.
func assemble(t *testing.T, p problem.Attention, c Config, target ptx.Target) resources {
	t.Helper()
	k, err := New(p, c, target)
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(t.TempDir(), "kernel.ptx")
	if err := os.WriteFile(in, []byte(k.PTX), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ptxas", "-v", "-arch", target.String(), "-o", os.DevNull, in).CombinedOutput()
	if err != nil {
		t.Fatalf("ptxas: %v\n%s", err, out)
	}
	regs, spills := registersLine.FindSubmatch(out), spillsLine.FindSubmatch(out)
	if regs == nil || spills == nil {
		t.Fatalf("ptxas says neither registers nor spills:\n%s", out)
	}
	number := func(b []byte) int {
		n, err := strconv.Atoi(string(b))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return resources{number(regs[1]), number(spills[2]) + number(spills[3]), number(spills[1])}
}

// TestResources holds every preset to 128 registers, 64 KiB of shared memory and no
// spills, on Ada and on Hopper.
func TestResources(t *testing.T) {
	if _, err := exec.LookPath("ptxas"); err != nil {
		t.Skip("no ptxas on PATH")
	}
	problems := []problem.Attention{{Format: problem.U8, LSE: true}}
	if *full {
		for _, f := range []problem.Format{problem.U8, problem.E4M3, problem.E5M2} {
			problems = append(problems, problem.Attention{Format: f}, problem.Attention{Format: f, Output: problem.BF16, LSE: true})
		}
	}
	for _, d := range []int{64, 128} {
		for _, preset := range Presets(d) {
			if n := preset.Config.plan(d).total; n > maxShared {
				t.Errorf("%s, D=%d: %d bytes of shared memory", preset.Name, d, n)
			}
			for _, target := range []ptx.Target{ptx.SM89, ptx.SM90} {
				for _, p := range problems {
					p.Shape = problem.Square(1, 1, 1, d)
					t.Run(fmt.Sprintf("%s/d%d/%s/%s/%s", preset.Name, d, target, p.Format, p.Output), func(t *testing.T) {
						r := assemble(t, p, preset.Config, target)
						t.Logf("%d registers, %d bytes of shared memory", r.registers, preset.Config.plan(d).total)
						if r.registers > maxRegisters || r.spills != 0 || r.stack != 0 {
							t.Errorf("%d registers, %d bytes spilled, %d bytes of stack", r.registers, r.spills, r.stack)
						}
					})
				}
			}
		}
	}
}
