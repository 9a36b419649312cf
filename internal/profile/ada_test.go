package profile

import (
	"compress/gzip"
	"io"
	"os"
	"testing"

	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
)

// TestTritonOnL4 predicts the FP8 attention kernel that Triton 3.6 compiled for sm_89 (testdata/ada/compile.py)
// on mission. docs/ada.md states the time.
func TestTritonOnL4(t *testing.T) {
	f, err := os.Open("testdata/ada/triton.ptx.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	launch, err := os.ReadFile("testdata/ada/triton.json")
	if err != nil {
		t.Fatal(err)
	}
	file, err := launchfile.Parse("triton.json", launch)
	if err != nil {
		t.Fatal(err)
	}
	works, err := launchedWorks(t.Context(), "triton.ptx", string(text), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	chip, err := chips.Find("L4")
	if err != nil {
		t.Fatal(err)
	}
	if p := predict.Of(works[0], chip); !(p.Micros > 12.9 && p.Micros < 14.3) {
		t.Errorf("predicted %.1f µs, docs/ada.md says 13.6", p.Micros)
	}
}
