package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/rival"
)

// Tool is a program that makes attest see more.
type Tool struct {
	Name    string `json:"name"`
	Path    string `json:"path"`    // "" when it is not on PATH
	Version string `json:"version"` // "" when it does not tell
	Note    string `json:"note"`    // what is odd about it, or ""
}

// tool is one to look for.
type tool struct{ name, cost string }

var tools = []tool{
	{"ptxas", "registers and spills of other targets are not known; the driver's or an estimate stand in"},
	{"nvdisasm", "control flow of machine code cannot be shown"},
	{"cuobjdump", "machine code cannot be read"},
	{"ncu", "no hardware counters: where the time goes is an estimate"},
	{"compute-sanitizer", "no second opinion on bounds and races from the vendor's checker"},
	{"nvcc", "CUDA C++ cannot be compiled to PTX here"},
}

var versionPattern = regexp.MustCompile(`(?:\bV|[Vv]ersion )(\d+(?:\.\d+)+)`)

// probe looks for the tool and asks for its version.
func (t tool) probe(ctx context.Context) Tool {
	found := Tool{Name: t.name}
	path, err := exec.LookPath(t.name)
	if err != nil {
		return found
	}
	found.Path = path
	out, err := output(ctx, toolTime, path, "--version")
	if m := versionPattern.FindStringSubmatch(out); m != nil {
		found.Version = m[1]
	} else if err != nil {
		found.Note = err.Error()
	} else {
		found.Note = "it does not tell its version"
	}
	return found
}

// output runs a program for at most a time.
func output(ctx context.Context, most time.Duration, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = 100 * time.Millisecond // its children may hold the pipe
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		err = fmt.Errorf("no answer within %v", most)
	case err != nil:
		first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		err = fmt.Errorf("%w: %s", err, first)
	}
	return string(out), err
}

// Python is an interpreter with the libraries that can be rivals.
type Python struct {
	Path    string   `json:"path"`
	Version string   `json:"version"`
	Modules []Module `json:"modules"`
	Note    string   `json:"note"`
}

// Module is a library.
type Module struct {
	Name    string `json:"name"`
	Version string `json:"version"` // "" when it is not installed
}

func (m Module) library() string {
	switch m.Name {
	case "torch":
		return "PyTorch"
	case "fa3":
		return "FlashAttention-3"
	case "triton":
		return "Triton"
	case "jax":
		return "JAX"
	}
	return m.Name
}

// moduleProbe reads what is installed without importing it: importing torch takes
// seconds.
const moduleProbe = `
import json, platform, sys
from importlib import metadata, util
def version(name):
    package, module = {"fa3": ("flash_attn_3", "flash_attn_interface")}.get(name, (name, name))
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "of unknown version" if util.find_spec(module) else ""
print(json.dumps({"version": platform.python_version(), "modules": [{"name": n, "version": version(n)} for n in sys.argv[1:]]}))
`

// probePython asks the interpreter that rivals would run on.
func probePython(ctx context.Context) Python {
	p := Python{Modules: []Module{}}
	path, err := rival.Python()
	if err != nil {
		p.Note = err.Error()
		return p
	}
	p.Path = path
	for _, name := range rival.Libraries {
		p.Modules = append(p.Modules, Module{Name: name})
	}
	out, err := output(ctx, pythonTime, path, append([]string{"-c", moduleProbe}, rival.Libraries...)...)
	if err == nil {
		err = json.Unmarshal([]byte(out), &p)
	}
	if err != nil {
		p.Note = fmt.Sprintf("it does not tell what is installed: %v", err)
	}
	return p
}
