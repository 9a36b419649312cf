package export

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/attention"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

var sections = flag.String("sections", "", "sections of testdata/torch_test.py to run; dump must be among them")

// TestCardTorch runs an exported file under PyTorch on a GPU, and compares its outputs with those of
// package attention, to the bit.
func TestCardTorch(t *testing.T) {
	dev := kerneltest.Card(t, ptx.SM90a)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	if err := exec.Command(python, "-c", "import torch").Run(); err != nil {
		t.Skip("PyTorch is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "attest_attention.py")
	if err := os.WriteFile(file, torchFile(t), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{"testdata/torch_test.py", file, dir}, strings.Fields(*sections)...)...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	sameBits(t, dev, dir, "PyTorch")
}

// TestCardCuPy runs the file for CuPy on a GPU. Where CuPy is not installed, numpy arrays in managed
// memory stand in for its arrays.
func TestCardCuPy(t *testing.T) {
	dev := kerneltest.Card(t, ptx.SM90a)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	if err := exec.Command(python, "-c", "import numpy").Run(); err != nil {
		t.Skip("numpy is not installed")
	}
	text, err := Render(bundle(t, "cupy"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "attest_attention.py")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "testdata/cupy_test.py", file, dir).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	sameBits(t, dev, dir, "CuPy")
}

// sameBits compares the outputs that a Python program left in a folder, beside their inputs, with those
// of package attention.
func sameBits(t *testing.T, dev device.Device, dir, python string) {
	t.Helper()
	outputs, err := filepath.Glob(filepath.Join(dir, "*.o"))
	if err != nil || len(outputs) == 0 {
		t.Fatalf("%d outputs, %v", len(outputs), err)
	}
	for _, o := range outputs {
		var s problem.Shape
		var causal int
		if _, err := fmt.Sscanf(filepath.Base(o), "%d-%d-%d-%d-%d-%d-%d.o", &s.B, &s.Hq, &s.Hkv, &s.Sq, &s.Skv, &s.D, &causal); err != nil {
			t.Fatal(err)
		}
		op, err := attention.New(dev, attention.Problem{Shape: s, Causal: causal == 1})
		if err != nil {
			t.Fatal(err)
		}
		base := o[:len(o)-1]
		r, err := op.Run(context.Background(), floats(t, base+"q"), floats(t, base+"k"), floats(t, base+"v"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(o)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, r.O) {
			t.Errorf("%v, causal %d: %s and Go have other bits (%s)", s, causal, python, op.Explain())
		}
		op.Close()
	}
}

// TestCardHeader compiles the header with a C compiler, runs it on a GPU, and compares its outputs with
// those of package attention, to the bit.
func TestCardHeader(t *testing.T) {
	dev := kerneltest.Card(t, ptx.SM90a)
	const include = "/usr/local/cuda/include"
	cc, err := exec.LookPath("cc")
	if _, missing := os.Stat(include + "/cuda.h"); err != nil || missing != nil {
		t.Skip("there is no C compiler, or no cuda.h")
	}
	file, err := Render(bundle(t, "c"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "attention.h"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	program, in, result := filepath.Join(dir, "program"), filepath.Join(dir, "in"), filepath.Join(dir, "out")
	args := []string{"-std=c11", "-O1", "-Wall", "-Werror", "-Wno-unused-function", "-I" + dir, "-I" + include, "-o", program, "testdata/header_test.c", "-lm", "-l:libcuda.so.1"}
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, s := range []problem.Shape{problem.Square(1, 8, 512, 64), problem.Square(3, 5, 129, 64), problem.Square(2, 20, 777, 64), problem.Square(1, 6, 3000, 64), {B: 2, Hq: 8, Hkv: 2, Sq: 4, Skv: 4096, D: 64}} {
		for causal := range 2 {
			x, err := ref.Generate("normal", 7, s)
			if err != nil {
				t.Fatal(err)
			}
			op, err := attention.New(dev, attention.Problem{Shape: s, Causal: causal == 1})
			if err != nil {
				t.Fatal(err)
			}
			want, err := op.Run(context.Background(), attention.F32(x.Q.Data), attention.F32(x.K.Data), attention.F32(x.V.Data))
			if err != nil {
				t.Fatal(err)
			}
			op.Close()
			if err := os.WriteFile(in, operands(t, s, x), 0o644); err != nil {
				t.Fatal(err)
			}
			sizes := strings.Fields(fmt.Sprint(s.B, s.Hq, s.Hkv, s.Sq, s.Skv, s.D, causal))
			if out, err := exec.Command(program, append(sizes, in, result)...).CombinedOutput(); err != nil {
				t.Fatalf("%v, causal %d: %v: %s", s, causal, err, out)
			}
			if got, err := os.ReadFile(result); err != nil || !bytes.Equal(got, want.O) {
				t.Errorf("%v, causal %d: C and Go have other bits, %v", s, causal, err)
			}
		}
	}
}

// operands returns the bytes of q, k and v in e4m3 and of their scales.
func operands(t *testing.T, s problem.Shape, x *ref.Inputs) []byte {
	t.Helper()
	var data, scales []byte
	for _, in := range []struct {
		dims fp8.Dims
		x    []float32
	}{{s.Q(), x.Q.Data}, {s.K(), x.K.Data}, {s.V(), x.V.Data}} {
		e, err := fp8.Quantise(fp8.E4M3, fp8.PerHead, in.dims, in.x)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, e.Data...)
		scales = append(scales, kerneltest.Bytes(e.Scales)...)
	}
	return append(data, scales...)
}

// torchFile exports every family that the test uses.
func torchFile(t *testing.T) []byte {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	var list []problem.Attention
	for _, d := range []int{64, 128} {
		p := problem.Attention{Shape: problem.Shape{D: d}}
		padded, paged, packed := p, p, p
		padded.Keys, padded.Layout = problem.Padded, problem.BSHD
		paged.Keys, paged.Layout = problem.Paged, problem.BSHD
		packed.Queries, packed.Keys, packed.Layout = problem.Packed, problem.Packed, problem.BSHD
		for _, p := range []problem.Attention{p, padded, paged, packed} {
			causal, bf16, window, lse := p, p, p, p
			causal.Causal = true
			bf16.Output = problem.BF16
			causal16 := causal
			causal16.Output = problem.BF16
			list = append(list, p, causal)
			if p.Ragged() {
				window.Window = problem.NewWindow(0, 0)
				lse.LSE = true
				list = append(list, window, lse)
			} else {
				list = append(list, bf16, causal16)
			}
		}
	}
	b, err := Collect(context.Background(), Request{Kind: "torch", Chip: chip, Problems: list, Say: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	file, err := Render(b)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// floats reads an input.
func floats(t *testing.T, file string) attention.Input {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]float32, len(data)/4)
	if _, err := binary.Decode(data, binary.LittleEndian, list); err != nil {
		t.Fatal(err)
	}
	return attention.F32(list)
}
