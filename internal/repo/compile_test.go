package repo

import (
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var compile = flag.Bool("compile", false, "measure the CPU time that the packages of this module take to compile")

// compileLimit is the CPU time that all packages of this module may take to compile, on an
// idle cloud machine with two cores.
const compileLimit = 40 * time.Second

// TestCompileTime lists the CPU time that each package of this module takes to compile,
// and fails above the limit. Other work on the machine makes the times longer, so the test
// runs only with -compile.
func TestCompileTime(t *testing.T) {
	if !*compile {
		t.Skip("compiles everything: run it with -compile -v on an idle machine")
	}
	var total time.Duration
	for _, p := range compileAll(t) {
		total += p.cpu()
		if p.cpu() >= time.Second/2 {
			t.Logf("%6.2f s %s", p.cpu().Seconds(), p.Package)
		}
	}
	t.Logf("%6.2f s in total", total.Seconds())
	if total > compileLimit {
		t.Errorf("the packages took %.1f s of CPU time to compile; the limit is %.0f s", total.Seconds(), compileLimit.Seconds())
	}
}

// compiled is a package with the CPU time of its compiler and assembler.
type compiled struct {
	Mode, Package   string
	CmdUser, CmdSys time.Duration
}

func (c compiled) cpu() time.Duration { return c.CmdUser + c.CmdSys }

// compileAll compiles all packages with an empty build cache, one at a time, and returns
// those of this module, the slowest first.
func compileAll(t *testing.T) []compiled {
	actions := filepath.Join(t.TempDir(), "actions.json")
	build := exec.Command("go", "build", "-p=1", "-debug-actiongraph="+actions, "./...")
	build.Dir = root(t)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOCACHE="+t.TempDir())
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	data, err := os.ReadFile(actions)
	if err != nil {
		t.Fatal(err)
	}
	var list []compiled
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	list = slices.DeleteFunc(list, func(c compiled) bool {
		return c.Mode != "build" || !strings.HasPrefix(c.Package+"/", module+"/")
	})
	slices.SortFunc(list, func(a, b compiled) int { return cmp.Compare(b.cpu(), a.cpu()) })
	return list
}
