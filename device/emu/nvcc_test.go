package emu_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

var updateNvcc = flag.Bool("update-nvcc", false, "write what the references compute to testdata/nvcc")

const nvccDir = "testdata/nvcc"

// TestNvcc runs the launch files of kernels that nvcc compiled, under the natural schedule
// and another one. Both must give the expected results, and the same results.
func TestNvcc(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(nvccDir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no launch files in %s: %v", nvccDir, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			first := runNvcc(t, name, 0)
			for i, r := range runNvcc(t, name, 3) {
				for _, c := range r.Differs(first[i]) {
					t.Errorf("%s: schedule 3: %v", r.Entry, c)
				}
			}
		})
	}
}

// runNvcc runs all launches of a file on the target that it was compiled for.
func runNvcc(t *testing.T, name string, schedule uint64) (results []*launchfile.Result) {
	t.Helper()
	text := readNvcc(t, name+".ptx")
	mod, err := parse.Parse(name+".ptx", string(text))
	if err != nil {
		t.Fatal(err)
	}
	launches, err := launchfile.Parse(name+".json", readNvcc(t, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.New(mod.Target, emu.Options{Output: io.Discard, Schedule: schedule})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := dev.Load(name+".ptx", string(text))
	if err != nil {
		t.Fatal(err)
	}
	r := launchfile.Runner{Device: dev, Module: loaded, Timeout: time.Minute, Keep: true}
	r.Read = func(name string) ([]byte, error) { return os.ReadFile(filepath.Join(nvccDir, name)) }
	err = r.Run(context.Background(), launches, func(res *launchfile.Result) {
		results = append(results, res)
		if res.Fault != nil {
			t.Errorf("%s: %v", res.Entry, res.Fault)
		}
		for _, c := range res.Comparisons {
			if c.Mismatches > 0 {
				t.Errorf("%s: %v; the first are %v", res.Entry, c, c.First)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(launches.Launches) {
		t.Fatalf("%d of %d launches ran", len(results), len(launches.Launches))
	}
	return results
}

func readNvcc(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(nvccDir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestNvccReferences compares the expected files with references in Go on the same inputs.
func TestNvccReferences(t *testing.T) {
	in := nvccInputs{
		words: u32s(readNvcc(t, "words.bin")), others: u32s(readNvcc(t, "words2.bin")),
		a: u32s(readNvcc(t, "sorted_a.bin")), b: u32s(readNvcc(t, "sorted_b.bin")),
		gauss: floats(readNvcc(t, "gauss.bin")), small: wholeHalves(readNvcc(t, "small.bin")),
	}
	for name, reference := range nvccReferences {
		want := reference(in)
		if *updateNvcc {
			if err := os.WriteFile(filepath.Join(nvccDir, name), want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(readNvcc(t, name), want) {
			t.Errorf("%s differs from the reference", name)
		}
	}
}
