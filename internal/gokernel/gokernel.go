package gokernel

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/limited"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernel/abi"
	"github.com/GOATnote-Inc/attest/problem"
)

// name matches a package and an exported identifier of it. A package has a slash, so that names
// of kernels of attest and of files in the current folder do not match.
var name = regexp.MustCompile(`^(\.{1,2}|[A-Za-z0-9_.~-]*)(/[A-Za-z0-9_.~-]+)*/?\.([A-Z][A-Za-z0-9_]*)$`)

// Split divides a name such as ./mypkg.Kernel into the package and the identifier.
func Split(text string) (pkg, identifier string, ok bool) {
	m := name.FindStringSubmatch(text)
	if m == nil || !strings.Contains(text, "/") {
		return "", "", false
	}
	identifier = m[len(m)-1]
	return strings.TrimSuffix(text, "."+identifier), identifier, true
}

// program calls the package. The words in capitals are replaced.
//
//go:embed program.go.txt
var program string

// most limits the time that a kernel may take to be compiled and built.
const most = 5 * time.Minute

// request is what the program reads.
type request struct {
	Problem problem.Attention `json:"problem"`
	Chip    kernel.Chip       `json:"chip"`
}

// answer is what the program writes.
type answer struct {
	Error string          `json:"error"`
	PTX   string          `json:"ptx"`
	Call  json.RawMessage `json:"call"`
}

// Build returns the kernel that a name stands for. A function with parameters gets the problem and
// the chip.
func Build(ctx context.Context, text string, p problem.Attention, c kernel.Chip) (*kernel.Kernel, error) {
	pkg, identifier, ok := Split(text)
	if !ok {
		return nil, fmt.Errorf("%q does not name a kernel of a Go package: write it like ./mypkg.Kernel", text)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	dir, err := os.MkdirTemp("", "attest-go-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	binary, err := compile(ctx, dir, pkg, identifier)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	a, err := call(ctx, dir, binary, request{p, c})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	k, err := abi.Parse(text, a.Call)
	if err != nil {
		return nil, err
	}
	k.Name, k.PTX = text, a.PTX
	return k, nil
}

type listed struct {
	Dir, ImportPath, Name string
}

// find asks the toolchain for a package: in its folder if pkg is one, so that the package may belong
// to another module than the current folder.
func find(ctx context.Context, pkg string) (p listed, err error) {
	dir := ""
	if strings.HasPrefix(pkg, ".") || filepath.IsAbs(pkg) {
		if _, err := os.Stat(pkg); err != nil {
			return p, err
		}
		dir, pkg = pkg, "."
	}
	out, err := run(ctx, dir, "list", "-json=Dir,ImportPath,Name", "--", pkg)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(out, &p)
}

// compile builds the program in dir. An overlay puts it beside the package, so that it may import
// internal packages of the user.
func compile(ctx context.Context, dir, pkg, identifier string) (binary string, err error) {
	p, err := find(ctx, pkg)
	if err != nil {
		return "", err
	}
	if p.Name == "main" {
		return "", errors.New("a package main cannot be imported: move the kernel to a package of its own")
	}
	source := strings.NewReplacer("PACKAGE", p.ImportPath, "IDENTIFIER", identifier).Replace(program)
	file := filepath.Join(dir, "main.go")
	const folder = "attest_kernel_program"
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(p.Dir, folder, "main.go"): file}})
	if err != nil {
		return "", err
	}
	list, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program")
	if err := errors.Join(os.WriteFile(file, []byte(source), 0o600), os.WriteFile(list, overlay, 0o600)); err != nil {
		return "", err
	}
	_, err = run(ctx, p.Dir, "build", "-overlay", list, "-buildvcs=false", "-o", binary, p.ImportPath+"/"+folder)
	if err != nil && strings.Contains(err.Error(), "undefined: target."+identifier) {
		return "", fmt.Errorf("package %s has no %s", p.ImportPath, identifier)
	}
	return binary, err
}

// run runs the go command in a folder. Its error has what the command says.
func run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("the go command is not on PATH: a kernel of a Go package needs it")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("go %s did not end: %w", args[0], ctx.Err())
	case err != nil:
		said := strings.TrimSpace(errs.String())
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, said[:min(len(said), 4000)])
	}
	return out.Bytes(), nil
}

// call runs the program.
func call(ctx context.Context, dir, binary string, r request) (a answer, err error) {
	in, err := json.Marshal(r)
	if err != nil {
		return a, err
	}
	file := filepath.Join(dir, "kernel.json")
	cmd := exec.CommandContext(ctx, binary, file)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), os.Stderr, &said
	if err := cmd.Run(); err != nil {
		text := strings.TrimSpace(said.String())
		return a, fmt.Errorf("the program that builds the kernel failed: %w\n%s", err, text[:min(len(text), 4000)])
	}
	data, err := limited.ReadFile(file, limited.Small)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, err
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}
