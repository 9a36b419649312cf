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

// Tool is an optional program that attest uses.
type Tool struct {
	Name    string `json:"name"`
	Path    string `json:"path"`    // "" when it is not on PATH
	Version string `json:"version"` // "" when it is not known
	Note    string `json:"note"`    // why the version is not known, or ""
}

// tool is a program to look for, and what a user loses without it.
type tool struct{ name, cost string }

var tools = []tool{
	{"ptxas", "registers and spills come from the driver, or are estimated"},
	{"nvdisasm", "the control flow of machine code cannot be shown"},
	{"cuobjdump", "machine code cannot be read"},
	{"ncu", "no hardware counters: attest profile only predicts"},
	{"compute-sanitizer", "no second opinion on bounds and races from NVIDIA's checker"},
	{"nvcc", "clang must compile CUDA C++ to PTX; see attest ptx cuda-header"},
}

var versionPattern = regexp.MustCompile(`(?:\bV|[Vv]ersion )(\d+(?:\.\d+)+)`)

// probe looks for the tool on PATH and asks it for its version.
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
		found.Note = "it does not print its version"
	}
	return found
}

// output returns what a program prints. The program is killed after the time most.
func output(ctx context.Context, most time.Duration, path string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = 100 * time.Millisecond // a child process may keep the pipe open
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

// Python is the interpreter that runs rivals, with their libraries.
type Python struct {
	Path    string   `json:"path"`
	Version string   `json:"version"`
	Modules []Module `json:"modules"`
	Note    string   `json:"note"`
}

// Module is a Python library.
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

// moduleProbe prints the installed versions without importing the libraries, since importing
// torch takes seconds.
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

// probePython asks the interpreter of the rivals for its libraries.
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
		p.Note = fmt.Sprintf("it does not list its libraries: %v", err)
	}
	return p
}
