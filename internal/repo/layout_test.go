package repo

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/GOATnote-Inc/attest"

// layers lists the packages so that a package imports only packages above it. A reader who
// goes down the list therefore knows every package that the next one uses. Insert a new
// package below all packages that it imports and above all that import it.
var layers = []string{
	"internal/english",
	"internal/fasttest",
	"internal/term",
	"internal/atomicfile",
	"internal/limited",
	"internal/ordered",
	"internal/sorted",
	"expr",
	"internal/jsonpos",
	"ptx",
	"finding",
	"ptx/isa",
	"internal/isatest",
	"ptx/parse",
	"ptx/verify",
	"ptx/normal",
	"internal/mutate",
	"internal/occupancy",
	"internal/buildgen",
	"build",
	"build/marks",
	"build/tile",
	"numeric/scalar",
	"numeric/simd",
	"numeric/sfu",
	"numeric/sfu/solve",
	"numeric/tensor",
	"numeric/tensor/layout",
	"internal/layouts",
	"fp8",
	"problem",
	"kernel",
	"ref",
	"device",
	"device/launchfile",
	"device/emu/observe",
	"internal/devicetest",
	"internal/difffuzz",
	"device/emu/internal/memory",
	"device/emu/internal/machine",
	"device/emu/internal/operand",
	"device/emu/internal/ops",
	"device/emu/internal/decode",
	"device/emu",
	"device/emu/check",
	"device/emu/cover",
	"device/emu/count",
	"device/cuda",
	"device/nvml",
	"internal/kerneltest",
	"examples",
	"kernels/attn",
	"kernel/abi",
	"examples/flash",
	"kernels/attn/part",
	"kernels/attn/stages",
	"kernels/attn/ada",
	"kernels/attn/hopper",
	"kernels/attn/decode",
	"kernels/attn/merge",
	"kernels/attn/cache",
	"kernels",
	"attention",
	"stats",
	"internal/resources",
	"timing",
	"internal/chips",
	"internal/predict/warptrace",
	"internal/predict/machine",
	"internal/predict/timeline",
	"internal/predict",
	"internal/explain",
	"internal/rival",
	"record",
	"internal/recordtest",
	"lab/gate",
	"lab",
	"lab/mutation",
	"evidence",
	"internal/targets",
	"internal/report",
	"internal/findingtext",
	"internal/listing",
	"internal/errmap",
	"internal/ptxstat",
	"internal/runfuzz",
	"internal/version",
	"internal/repro",
	"internal/doctor",
	"internal/gpus",
	"internal/cli",
	"internal/calibrate",
	"internal/shapes",
	"internal/machine",
	"internal/replicate",
	"internal/ncu",
	"internal/profile",
	"internal/gokernel",
	"internal/campaign",
	"internal/tune",
	"internal/catalogue",
	"internal/capture",
	"internal/rivalrun",
	"internal/fuzzrun",
	"internal/archive",
	"internal/execrun",
	"internal/kerneldiff",
	"internal/remote",
	"internal/export",
	"internal/watch",
	"internal/release",
	"internal/mcpserver",
	"cmd/attest",
	"internal/frozen",
	"internal/repo",
}

// never lists imports that the order of layers allows but the design forbids. Every package may
// import internal/english, which forms plurals in messages.
var never = []struct{ from, to, why string }{
	{"kernels", "device", "a kernel is text and must not depend on a device"},
	{"internal/report", "lab", "a report shows verdicts and must not judge"},
	{"ptx", "internal", "the library must not depend on internal packages"},
	{"build", "internal", "the library must not depend on internal packages"},
}

// outside lists the packages that may import each third-party module. Tests may import all
// of them.
var outside = map[string]string{
	"github.com/spf13/cobra":                 "cmd/attest",
	"github.com/ebitengine/purego":           "device/cuda device/nvml",
	"github.com/modelcontextprotocol/go-sdk": "internal/mcpserver",
	"github.com/rogpeppe/go-internal":        "", // tests only
	"golang.org/x/tools/txtar":               "internal/devicetest",
}

// pkg holds the fields of a package that go list prints.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	Doc        string
	GoFiles    []string
	Imports    []string
}

func (p *pkg) rel() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

func TestImportsGoOneWay(t *testing.T) {
	for _, v := range violations(list(t)) {
		t.Error(v)
	}
}

// violations returns one message per import that breaks the rules above.
func violations(pkgs []pkg) (found []string) {
	for i := range pkgs {
		from := pkgs[i].rel()
		place := slices.Index(layers, from)
		if place < 0 {
			found = append(found, fmt.Sprintf("%s is not in layers: add it to the list in layout_test.go", from))
			continue
		}
		for _, imp := range pkgs[i].Imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours {
				found = append(found, arrow(from, to, place)...)
			} else if strings.Contains(strings.Split(imp, "/")[0], ".") {
				found = append(found, thirdParty(from, imp)...)
			}
		}
	}
	return found
}

// arrow checks an import of one package by another. place is the index of from in layers.
func arrow(from, to string, place int) (found []string) {
	if at := slices.Index(layers, to); at >= place {
		found = append(found, fmt.Sprintf("%s imports %s, which is below it in layers", from, to))
	}
	for _, n := range never {
		if under(from, n.from) && under(to, n.to) && to != "internal/english" {
			found = append(found, fmt.Sprintf("%s imports %s: %s", from, to, n.why))
		}
	}
	return found
}

// thirdParty checks an import of a package that is not part of this module.
func thirdParty(from, imp string) []string {
	for path, owners := range outside {
		if under(imp, path) && slices.Contains(strings.Fields(owners), from) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s imports %s, but outside does not allow it", from, imp)}
}

// under reports whether path is the folder or lies inside it.
func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// TestViolations checks that violations reports each kind of forbidden import.
func TestViolations(t *testing.T) {
	for _, c := range []struct{ from, imp, want string }{
		{"ptx", module + "/ptx/isa", "is below it"},
		{"ptx/verify", module + "/ptx/verify", "is below it"},
		{"kernels/attn/stages", module + "/device/emu", "must not depend on a device"},
		{"internal/report", module + "/lab", "must not judge"},
		{"ptx", module + "/internal/term", "must not depend on internal"},
		{"device/emu", "github.com/ebitengine/purego", "does not allow it"},
		{"internal/report", "github.com/spf13/cobra", "does not allow it"},
		{"cmd/attest", "github.com/rogpeppe/go-internal/testscript", "does not allow it"},
		{"ptx/nowhere", "fmt", "is not in layers"},
		{"ptx/isa", module + "/ptx", ""},
		{"ptx/verify", module + "/internal/english", ""},
		{"device/cuda", "github.com/ebitengine/purego", ""},
		{"cmd/attest", "github.com/spf13/cobra/doc", ""},
		{"ptx", "encoding/json", ""},
	} {
		got := strings.Join(violations([]pkg{{ImportPath: module + "/" + c.from, Imports: []string{c.imp}}}), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s importing %s: %q, want %q", c.from, c.imp, got, c.want)
		}
	}
}

// list returns the packages of the module, as go list prints them.
func list(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,Doc,GoFiles,Imports", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages", len(pkgs))
	}
	return pkgs
}

// root returns the root folder of the repository.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
