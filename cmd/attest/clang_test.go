package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// TestClang compiles kernels with the clang line of the README and the header of attest ptx
// cuda-header, which needs no CUDA, and expects PTX that verifies and a race at its line.
func TestClang(t *testing.T) {
	clang := findClang(t)
	dir := t.TempDir()
	copyTo(t, filepath.Join(dir, "race_x.f32.txt"), "testdata/race_x.f32.txt")
	copyTo(t, filepath.Join(dir, "race_out.f32.txt"), "testdata/race_out.f32.txt")
	header := attestOutput(t, cli.OK, "ptx", "cuda-header")
	if err := os.WriteFile(filepath.Join(dir, "attest_cuda.h"), []byte(header), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"clang", "race"} {
		copyTo(t, filepath.Join(dir, "kernel.cu"), "testdata/"+name+".cu")
		cmd := exec.Command("sh", "-c", clang+strings.TrimPrefix(clangLine(t), "clang"))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s.cu: %v\n%s", name, err, out)
		}
		attestOutput(t, cli.OK, "ptx", "check", "--werror", filepath.Join(dir, "kernel.ptx"))
	}
	launch := strings.Replace(read(t, "testdata/race.json"), `"scale"`, `"_Z5scalePf"`, 1)
	if err := os.WriteFile(filepath.Join(dir, "launch.json"), []byte(launch), 0o644); err != nil {
		t.Fatal(err)
	}
	found := attestOutput(t, cli.Red, "exec", filepath.Join(dir, "kernel.ptx"), "--launch", filepath.Join(dir, "launch.json"), "--check", "all")
	for _, want := range []string{"[shared-race]", "kernel.cu:7:"} {
		if !strings.Contains(found, want) {
			t.Errorf("no %q in\n%s", want, found)
		}
	}
}

// findClang returns the name of an installed clang, or skips the test.
func findClang(t *testing.T) string {
	t.Helper()
	name, ok := lookClang()
	if !ok {
		t.Skip("clang is not installed")
	}
	return name
}

// lookClang returns the name of an installed clang.
func lookClang() (string, bool) {
	for _, name := range []string{"clang", "clang-20", "clang-19", "clang-18", "clang-17", "clang-16", "clang-15", "clang-14"} {
		if _, err := exec.LookPath(name); err == nil {
			return name, true
		}
	}
	return "", false
}

// clangLine returns the command of the README that calls clang.
func clangLine(t *testing.T) string {
	t.Helper()
	for line := range strings.Lines(read(t, "../../README.md")) {
		if strings.HasPrefix(line, "clang -x cuda ") {
			return strings.TrimSpace(line)
		}
	}
	t.Fatal("the README has no line that starts with clang -x cuda")
	return ""
}

// attestOutput runs a command line of attest and returns what it writes to both streams.
func attestOutput(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	env := &cli.Env{In: strings.NewReader(""), Out: &out, Err: &out, Color: term.Never}
	root := rootCommand(env)
	root.SetArgs(args)
	if got := cli.Code(env.Finish(root.ExecuteContext(t.Context())), &out); got != code {
		t.Fatalf("attest %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, &out)
	}
	return out.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func copyTo(t *testing.T, to, from string) {
	t.Helper()
	if err := os.WriteFile(to, []byte(read(t, from)), 0o644); err != nil {
		t.Fatal(err)
	}
}
