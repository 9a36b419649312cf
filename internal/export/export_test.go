package export

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// collected returns a bundle for Hopper: D = 64, both masks, f16.
var collected = sync.OnceValues(func() (*Bundle, error) {
	chip, err := chips.Find("H100")
	if err != nil {
		return nil, err
	}
	p := problem.Attention{Shape: problem.Shape{D: 64}}
	causal := p
	causal.Causal = true
	return Collect(context.Background(), Request{Chip: chip, Problems: []problem.Attention{p, causal}, Say: func(string, ...any) {}})
})

// bundle returns a bundle of a kind.
func bundle(t *testing.T, kind string) *Bundle {
	t.Helper()
	b, err := collected()
	if err != nil {
		t.Fatal(err)
	}
	c := *b
	c.Kind = kind
	return &c
}

// problems are sizes of many kinds.
var problems = []problem.Attention{
	{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 8, Sq: 512, Skv: 512, D: 64}},
	{Shape: problem.Shape{B: 2, Hq: 12, Hkv: 4, Sq: 777, Skv: 1301, D: 64}},
	{Shape: problem.Shape{B: 3, Hq: 5, Hkv: 5, Sq: 1, Skv: 9000, D: 64}, Scale: 0.25},
	{Shape: problem.Shape{B: 4, Hq: 32, Hkv: 32, Sq: 4096, Skv: 4096, D: 64}, Causal: true},
	{Shape: problem.Shape{B: 1, Hq: 8, Hkv: 2, Sq: 33, Skv: 4096, D: 64}, Causal: true, Scale: 1},
}

// cached are problems with lengths in memory.
var cached = func() (list []problem.Attention) {
	p := problem.Attention{Shape: problem.Shape{B: 3, Hq: 8, Hkv: 2, Sq: 2, Skv: 4096, D: 64}, Layout: problem.BSHD, LSE: true}
	padded, paged, packed := p, p, p
	padded.Keys, padded.Causal = problem.Padded, true
	paged.Keys, paged.Window, paged.Batch = problem.Paged, problem.NewWindow(100, 0), problem.Batch{PageSize: 64, Pages: 300, TableWidth: 64}
	packed.Queries, packed.Keys, packed.Softcap, packed.Sinks = problem.Packed, problem.Packed, 30, true
	return []problem.Attention{padded, paged, packed}
}()

// arguments returns a problem as the loader in Python takes it.
func arguments(p problem.Attention) map[string]any {
	a := map[string]any{
		"B": p.B, "H": p.Hq, "Hkv": p.Hkv, "Sq": p.Sq, "Skv": p.Skv, "D": p.D, "output": "f16", "causal": p.Causal, "lse": p.LSE, "softcap": p.Softcap,
		"sinks": p.Sinks, "queries": string(p.Queries), "keys": string(p.Keys), "window": []int{p.Window.Left(), p.Window.Right()},
		"page_size": p.PageSize, "pages": p.Pages, "max_pages": p.TableWidth,
	}
	if p.Layout != "" {
		a["layout"] = string(p.Layout)
	}
	if p.Scale != 0 {
		a["scale"] = p.Scale
	}
	return a
}

// planned is a plan as the Python and the C test print it.
type planned struct {
	Kernel int      `json:"kernel"`
	Steps  []string `json:"steps"`
}

// text returns a step of a plan as one line.
func text(s *kernel.Step, p *kernel.Plan) string {
	line := fmt.Sprintf("%s %v %v %d", s.Entry, s.Grid, s.Block, s.Shared)
	for _, a := range s.Args {
		switch {
		case a.Map != nil:
			line += fmt.Sprintf(" %s %v %v %v %d", p.Memory[a.Memory].Name, a.Map.Dims, a.Map.Strides, a.Map.Box, a.Map.Swizzle)
		case a.Memory >= 0:
			line += " " + p.Memory[a.Memory].Name
		default:
			line += " " + hex.EncodeToString(a.Value)
		}
	}
	return line
}

// pythonPlans prints the plans of the problems and queues them on a driver that does nothing.
const pythonPlans = `
import sys

class Driver:
    launches = []
    def cuDeviceGetAttribute(self, value, which, device):
        value._obj.value = {16: 132, 75: 9, 76: 0}[which]
    def cuModuleGetFunction(self, function, module, name):
        function._obj.value = 1
    def cuOccupancyMaxActiveBlocksPerMultiprocessor(self, value, function, threads, shared):
        value._obj.value = 1
    def cuLaunchKernelEx(self, config, function, args, extra):
        self.launches.append(list(config._obj.grid))
    def __getattr__(self, name):
        return lambda *args: 0

_lib = Driver()
for p in json.load(sys.stdin):
    problem = Problem(**p)
    plan = Plan(0, problem)
    plan.run([4096 * (i + 1) for i in range(len(plan.names))], 0)
    i = _BUNDLE["kernels"].index(plan.kernel)
    bytes_of = {0: 0, 1: 32, 2: 64, 3: 128}
    steps = []
    for s in bind(plan.kernel, dict(problem.env, SMs=132))["steps"]:
        line = "%s [%s] [%s] %d" % (s["entry"], " ".join(map(str, s["grid"])), " ".join(map(str, s["block"])), s["shared"])
        for a in s["args"]:
            if "map" in a:
                line += " %s [%s] [%s] [%s] %d" % (a["map"], " ".join(map(str, a["dims"])), " ".join(map(str, a["strides"])), " ".join(map(str, a["box"])), bytes_of[a["swizzle"]])
            else:
                line += " " + (a["pointer"] if "pointer" in a else a["value"].hex())
        steps.append(line)
        if _lib.launches.pop(0) != list(s["grid"]):
            raise SystemExit("another grid was launched")
    print(json.dumps({"kernel": i, "steps": steps}))
`

// unsized returns problems without sizes except D.
func unsized(list []problem.Attention) (all []problem.Attention) {
	for _, p := range list {
		p.Shape, p.Batch = problem.Shape{D: p.D}, problem.Batch{}
		all = append(all, p)
	}
	return all
}

// TestPython lets the loader plan launches, without PyTorch and without a GPU, and compares them
// with kernel.Bind.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	b := bundle(t, "torch")
	chip, err := chips.Find("H100")
	if err != nil {
		t.Fatal(err)
	}
	more, err := Collect(context.Background(), Request{Chip: chip, Problems: unsized(cached), Say: func(string, ...any) {}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range more.Choices {
		c.Kernel += len(b.Kernels)
		b.Choices = append(b.Choices[:len(b.Choices):len(b.Choices)], c)
	}
	b.Kernels = append(b.Kernels[:len(b.Kernels):len(b.Kernels)], more.Kernels...)
	file, err := Render(b)
	if err != nil {
		t.Fatal(err)
	}
	core, rest, ok := strings.Cut(string(file), "\nimport torch\n")
	if !ok {
		t.Fatal("the file does not import torch")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"core.py": core + pythonPlans, "rest.py": rest} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(python, "-m", "py_compile", filepath.Join(dir, "rest.py")).CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
	var in []map[string]any
	for _, p := range append(slices.Clone(problems), cached...) {
		in = append(in, arguments(p))
	}
	stdin, _ := json.Marshal(in)
	cmd := exec.Command(python, filepath.Join(dir, "core.py"))
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	d := json.NewDecoder(bytes.NewReader(out))
	for _, p := range append(slices.Clone(problems), cached...) {
		var got planned
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		k := &b.Kernels[got.Kernel]
		if err := k.Serves(p, kernel.Chip{}); err != nil {
			t.Errorf("%v: the chosen kernel: %v", p, err)
		}
		plan, err := k.Bind(p, kernel.Chip{SMs: 132}, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range plan.Steps {
			if want := text(&plan.Steps[i], plan); got.Steps[i] != want {
				t.Errorf("%v:\n%s, want\n%s", p, got.Steps[i], want)
			}
		}
	}
}

// TestHeader compiles the header against a driver that prints launches, and compares them with
// kernel.Bind.
func TestHeader(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	b := bundle(t, "c")
	file, err := Render(b)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var calls strings.Builder
	for _, p := range problems {
		causal := 0
		if p.Causal {
			causal = 1
		}
		fmt.Fprintf(&calls, "\tp = (attest_problem){%d, %d, %d, %d, %d, %d, %d, \"f16\", %g};\n\tprintf(\"kernel %%d\\n\", attest_choose(&a, &p));\n"+
			"\tattest_workspace(&a, &p);\n\tif (attest_run(&a, &p, &t, NULL)) puts(a.error);\n", p.B, p.Hq, p.Hkv, p.Sq, p.Skv, p.D, causal, p.Scale)
	}
	main := "#include \"attention.h\"\nint main(void)\n{\n\tattest_attention a;\n\tattest_problem p;\n\tattest_tensors t = {1, 2, 3, 4, 5, 6, 7, 8, 9};\n" +
		"\tattest_open(&a, 0);\n" + calls.String() + "\tp.D = 65;\n\tif (attest_run(&a, &p, &t, NULL)) puts(a.error);\n\tattest_close(&a);\n\treturn 0;\n}\n"
	for name, text := range map[string]string{"attention.h": string(file), "main.c": main} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "main")
	if out, err := exec.Command(cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-Itestdata", "-o", program, filepath.Join(dir, "main.c"), "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	for _, p := range problems {
		var index int
		if _, err := fmt.Sscanf(lines[0], "kernel %d", &index); err != nil || index < 0 {
			t.Fatalf("%v: %q", p, lines[:2])
		}
		lines = lines[1:]
		plan, err := b.Kernels[index].Bind(p, kernel.Chip{SMs: 132}, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range plan.Steps {
			for ; strings.HasPrefix(lines[0], "map "); lines = lines[1:] {
			}
			want := fmt.Sprintf("launch %s %d,%d,%d %d,%d,%d %d", s.Entry, s.Grid[0], s.Grid[1], s.Grid[2], s.Block[0], s.Block[1], s.Block[2], s.Shared)
			if !strings.HasPrefix(lines[0], want) {
				t.Errorf("%v: %s, want %s", p, lines[0], want)
			}
			lines = lines[1:]
		}
	}
	if !strings.Contains(lines[0], "no kernel of this header has this head dimension") {
		t.Errorf("D = 65: %q", lines[0])
	}
}

// TestVerify changes exported files.
func TestVerify(t *testing.T) {
	s, err := evidence.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range Kinds {
		b := bundle(t, kind)
		b.Kernels, b.Choices = b.Kernels[:1], b.Choices[:1] // hashes take time
		file, err := Render(b)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Verify(file, s)
		if err != nil || r.Code != "same" || len(r.Kernels) != len(b.Kernels) || r.Kernels[0].State != "no record" || r.OK() {
			t.Errorf("%s: %+v, %v", kind, r, err)
		}
		changed := bytes.Replace(file, []byte("Apache-2.0"), []byte("nothing-2.0"), 1)
		if r, err = Verify(changed, s); kind != "ptx" && (err != nil || r.Code != "changed") {
			t.Errorf("%s, changed: %+v, %v", kind, r, err)
		}
		b.Kernels = append([]Kernel{}, b.Kernels...)
		b.Kernels[0].PTX = strings.Replace(b.Kernels[0].PTX, "add", "sub", 1)
		if file, err = Render(b); err != nil {
			t.Fatal(err)
		}
		if r, err := Verify(file, s); err != nil || r.Kernels[0].State != "changed" {
			t.Errorf("%s, another PTX: %+v, %v", kind, r, err)
		}
	}
	proved(t, s)
	if _, err := Verify([]byte("print('hello')\n"), s); err == nil || !strings.Contains(err.Error(), "not an export") {
		t.Error(err)
	}
}

// proved adds records for a kernel of an export, which then vouch for it.
func proved(t *testing.T, s *evidence.Store) {
	b := bundle(t, "ptx")
	k := &b.Kernels[0]
	b.Kernels, b.Choices = b.Kernels[:1], nil
	r := recordtest.New("hopper")
	r.Kernel.Identity, r.Kernel.SHA256 = k.Identity, k.SHA256
	if _, err := s.AddText(k.PTX); err != nil {
		t.Fatal(err)
	}
	r.Baseline = nil // its text is not in the store
	hash, err := s.AddRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		outcome record.Outcome
		state   string
	}{{record.Correct, "measured"}, {record.Reject, "rejected"}} {
		if _, err := s.AddVerdict(recordtest.Judge(hash, r.Build.Time, c.outcome, "", "a test")); err != nil {
			t.Fatal(err)
		}
		if err := b.prove(s); err != nil || b.Kernels[0].Proofs[0].Record != hash {
			t.Fatalf("%+v, %v", b.Kernels[0].Proofs, err)
		}
		file, err := Render(b)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Verify(file, s)
		if err != nil || got.Kernels[0].State != c.state || got.Kernels[0].Proof.Record != hash || got.OK() != (c.state == "measured") {
			t.Errorf("%s: %+v, %v", c.outcome, got, err)
		}
	}
}
