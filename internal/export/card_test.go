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
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/kerneltest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
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
			t.Errorf("%v, causal %d: PyTorch and Go have other bits (%s)", s, causal, op.Explain())
		}
		op.Close()
	}
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
