package difffuzz

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestPtxas compiles some hundred kernels with ptxas, which must not refuse any. A crash is
// a defect of ptxas: the test only logs it.
func TestPtxas(t *testing.T) {
	a, err := isatest.Find()
	if err != nil {
		t.Skip(err)
	}
	n := 60
	if testing.Short() {
		n = 8
	}
	version := latest.Version
	if a.Version.Less(version) {
		version = a.Version
	}
	for _, target := range targets {
		if !slices.Contains(a.Targets, target) {
			continue
		}
		t.Run(target.String(), func(t *testing.T) {
			o := Options{Target: target, Version: version}
			const batch = 10
			for first := 0; first < n; first += batch {
				var ks []*Kernel
				for i := range batch {
					ks = append(ks, Generate(uint64(first+i), o))
				}
				assembleAll(t, a.Path, target, ks)
			}
		})
	}
}

// assembleAll assembles kernels as one module, and one by one when that fails.
func assembleAll(t *testing.T, path string, target ptx.Target, ks []*Kernel) {
	t.Helper()
	text := NewBatch(ks).Text
	out, err := assemble(t, path, target, text)
	if err == nil {
		return
	}
	if len(ks) > 1 {
		for _, k := range ks {
			assembleAll(t, path, target, []*Kernel{k})
		}
		return
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 {
		t.Logf("seed %d for %s: ptxas crashes: %v", ks[0].Seed, target, err)
		return
	}
	t.Errorf("seed %d for %s: %s", ks[0].Seed, target, withLine(text, out))
}

func assemble(t *testing.T, path string, target ptx.Target, text string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(path, "-arch", target.String(), "-O0", "-o", os.DevNull, file).CombinedOutput()
	return string(out), err
}

// withLine adds to the output of ptxas the line of the text that it names.
func withLine(text, out string) string {
	out, _, _ = strings.Cut(out, "\n")
	_, after, _ := strings.Cut(out, "line ")
	var line int
	fmt.Sscanf(after, "%d", &line)
	if line > 0 {
		out += ": " + strings.Split(text, "\n")[line-1]
	}
	return out
}
