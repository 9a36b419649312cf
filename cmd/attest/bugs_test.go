package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/record"
)

// bugs is the folder of three kernels with a bug each. Every kernel has a twin without it.
const bugs = "../../examples/bugs/"

// TestThreeBugs wants each bug to be named, in the PTX of the repository and in what the clang
// of this machine makes of the sources, and nothing to be found in the twins.
func TestThreeBugs(t *testing.T) {
	compiled := compileBugs(t)
	for _, b := range []struct {
		name  string
		check func(*testing.T, *ran)
	}{
		{"stage3b", checkOwners},
		{"stage4", checkWait},
		{"quantise", checkQuantiser},
	} {
		for _, dir := range compiled {
			t.Run(b.name+" "+filepath.Base(dir), func(t *testing.T) {
				b.check(t, runBug(t, cli.Red, dir, b.name))
				twin := runBug(t, cli.OK, dir, b.name+"_fixed")
				if len(twin.Wrong) > 0 || len(twin.Defects.Found) > 0 || twin.Case.Cause != "" {
					t.Errorf("the twin: %q, %+v, cause %q", twin.Wrong, twin.Defects.Found, twin.Case.Cause)
				}
			})
		}
	}
}

// ran is what the test needs of the JSON of attest run.
type ran struct {
	Case    record.Case    `json:"case"`
	Wrong   []string       `json:"wrong"`
	Defects record.Defects `json:"defects"`
}

// TestTwinPasses wants the gate to accept the twin that uses tensor cores, the fastest to run.
func TestTwinPasses(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	out := attestOutput(t, cli.OK, "gate", bugs+"stage3b_fixed.ptx", "--device", "emu", "--plan", "smoke", "--evidence", "")
	if !strings.Contains(out, "1 CORRECT") {
		t.Error(out)
	}
}

// runBug runs a kernel under the checkers.
func runBug(t *testing.T, code int, dir, kernel string) *ran {
	t.Helper()
	out := attestOutput(t, code, "run", "--ptx", filepath.Join(dir, kernel+".ptx"), "--abi", bugs+kernel+".json",
		"--shape", "1,1,70,64", "--device", "emu", "--check", "all", "--json")
	var r ran
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %.200s", err, out)
	}
	return &r
}

// checkOwners wants races of the two warps that share 16 rows, on m, l and U of those rows.
func checkOwners(t *testing.T, r *ran) {
	for _, v := range []struct {
		name    string
		columns int    // elements per row
		line    string // what the source line has
	}{{"m_smem", 1, "m_smem[at]"}, {"l_smem", 1, "l_smem[at]"}, {"U_smem", 64, "*x = *x"}} {
		f := find(&r.Defects, "shared-race", v.name)
		if f == nil {
			t.Errorf("no race on %s", v.name)
			continue
		}
		if len(f.Pairs) == 0 || f.Pairs[0].Warp/2 != f.Pairs[0].Other/2 || f.Pairs[0].Warp/2 == f.Warp/2 {
			t.Errorf("%s: the other pairs of warps are %+v", v.name, f.Pairs)
		}
		if f.Warp == f.Other.Warp || f.Warp/2 != f.Other.Warp/2 {
			t.Errorf("%s: warps %d and %d do not share rows", v.name, f.Warp, f.Other.Warp)
		}
		// Source lines are merged, so the span may have half of the columns or rows.
		first, last := int(f.Span.First)/4/v.columns, int(f.Span.Last)/4/v.columns
		rows := 16 * (f.Warp / 2)
		if first != rows || last != rows+15 && last != rows+7 {
			t.Errorf("%s: rows %d to %d, want rows from %d on", v.name, first, last, rows)
		}
		if !strings.Contains(f.Elements(), fmt.Sprintf("elements %d to ", rows*v.columns)) {
			t.Errorf("%s: %q", v.name, f.Elements())
		}
		for _, source := range []string{f.Source, f.Other.Source} {
			if line := sourceLine(t, source); !strings.Contains(line, v.line) {
				t.Errorf("%s: at %s, %q", v.name, source, line)
			}
		}
		if !strings.Contains(f.Fix, "let one warp own them") {
			t.Errorf("%s: the advice is %q", v.name, f.Fix)
		}
	}
	if !r.Defects.Depends {
		t.Error("the output does not depend on the schedule")
	}
}

// checkWait wants the read, the copy and the wait with the wrong count.
func checkWait(t *testing.T, r *ran) {
	for _, ring := range []string{"k_ring", "v_ring"} {
		f := find(&r.Defects, "async-race", ring)
		if f == nil || f.Wait == nil {
			t.Errorf("no race with a copy to %s that names a wait: %+v", ring, f)
			continue
		}
		for source, want := range map[string]string{
			f.Source: "value(" + ring, f.Other.Source: "__pipeline_memcpy_async(&" + ring, f.Wait.Source: "__pipeline_wait_prior(1);",
		} {
			if line := sourceLine(t, source); !strings.Contains(line, want) {
				t.Errorf("%s: %s is %q, want %q", ring, source, line, want)
			}
		}
		if !strings.Contains(f.Wait.Note, "leaves the newest group in flight, and the copy is in that group") {
			t.Errorf("%s: %q", ring, f.Wait.Note)
		}
		if !strings.Contains(f.Fix, "where no group is newer than this copy, wait with a count of at most 0") {
			t.Errorf("%s: the advice is %q", ring, f.Fix)
		}
	}
}

func checkQuantiser(t *testing.T, r *ran) {
	want := "V is decoded as (u-128)/127.5, but encoded as (u-128)/127: its values are 127/127.5 = 0.9961 times the right ones"
	if r.Case.Cause != want || len(r.Defects.Found) > 0 {
		t.Errorf("cause %q and %d defects, want cause %q", r.Case.Cause, len(r.Defects.Found), want)
	}
}

// find returns the first error of a kind in a variable, or nil.
func find(d *record.Defects, kind finding.Kind, variable string) *finding.Finding {
	i := slices.IndexFunc(d.Found, func(f record.Found) bool {
		return f.Kind == kind && f.Var == variable && f.Severity == finding.Error
	})
	if i < 0 {
		return nil
	}
	return &d.Found[i].Finding
}

// sourceLine returns the line that a place such as "/tmp/stage4.cu:39:9" names.
func sourceLine(t *testing.T, at string) string {
	t.Helper()
	parts := strings.Split(filepath.Base(at), ":")
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		t.Fatalf("%q names no line", at)
	}
	return strings.Split(read(t, bugs+parts[0]), "\n")[n-1]
}

// compileBugs returns the folders with the PTX of the kernels: the one in the repository and,
// if clang is installed, one that it fills by the clang line of the README.
func compileBugs(t *testing.T) []string {
	t.Helper()
	clang, ok := lookClang()
	if !ok || testing.Short() {
		return []string{bugs}
	}
	dir := filepath.Join(t.TempDir(), "compiled")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "attest_cuda.h"), []byte(cudaHeader), 0o644); err != nil {
		t.Fatal(err)
	}
	copyTo(t, filepath.Join(dir, "mma.cuh"), bugs+"mma.cuh")
	line := clang + strings.TrimPrefix(clangLine(t), "clang")
	for _, name := range []string{"stage3b", "stage4", "quantise"} {
		copyTo(t, filepath.Join(dir, name+".cu"), bugs+name+".cu")
		right := strings.ReplaceAll(line, "kernel.", name+".")
		fixed := strings.Replace(right, " -o "+name, " -DFIXED -o "+name+"_fixed", 1)
		cmd := exec.Command("sh", "-c", right+" && "+fixed)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s.cu: %v\n%s", name, err, out)
		}
	}
	return []string{bugs, dir}
}
