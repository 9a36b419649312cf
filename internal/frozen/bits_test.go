package frozen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/GOATnote-Inc/attest/attention"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ref"
)

const bitsGolden = "testdata/bits.txt"

// TestBits compares the output bits of presets and designs on the emulator with the golden
// file.
func TestBits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs every preset and design")
	}
	var names []string
	for _, p := range stages.Presets(64) {
		names = append(names, p.Name)
	}
	for _, d := range hopper.Designs()[1:] {
		names = append(names, d.Name)
	}
	var got bytes.Buffer
	for _, name := range names {
		for _, d := range []int{64, 128} {
			for _, f := range []problem.Format{problem.E4M3, problem.E5M2, problem.U8} {
				for _, lse := range []bool{false, true} {
					p := attention.Problem{Shape: attention.Square(1, 2, 97, d), Format: f, LSE: lse}
					fmt.Fprintf(&got, "%s D %d %s%s: %s\n", name, d, f, word(lse, "lse"), bits(t, name, p))
				}
			}
		}
	}
	if *update {
		if err := os.WriteFile(bitsGolden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(bitsGolden)
	if err != nil {
		t.Fatal(err)
	}
	is, was := bytes.Split(got.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	if len(is) != len(was) {
		t.Fatalf("there are %d results, but the golden file has %d", len(is), len(was))
	}
	for i := range is {
		if !bytes.Equal(is[i], was[i]) {
			t.Errorf("got %s, the golden file has %s", is[i], was[i])
		}
	}
}

// bits returns the hash of O and the LSE, or "refused".
func bits(t *testing.T, preset string, p attention.Problem) string {
	t.Helper()
	dev, err := emu.New(ptx.SM90a, emu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	op, err := attention.NewWith(dev, p, attention.Options{Kernel: preset})
	if err != nil {
		return "refused"
	}
	defer op.Close()
	in, err := ref.Generate("normal", 1, problem.Square(p.B, p.Hq, p.Sq, p.D))
	if err != nil {
		t.Fatal(err)
	}
	r, err := op.Run(context.Background(), attention.F32(in.Q.Data), attention.F32(in.K.Data), attention.F32(in.V.Data))
	if err != nil {
		t.Fatalf("%s: %v", preset, err)
	}
	h := sha256.New()
	h.Write(r.O)
	if err := binary.Write(h, binary.LittleEndian, r.LSE); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
