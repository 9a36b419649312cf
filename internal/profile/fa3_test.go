package profile

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/predict"
)

var fa3Dir = flag.String("fa3", "", "folder that testdata/others/fa3_launches.py wrote: predict FlashAttention-3's launches again, and with -update keep the times")

// fa3Pair is a launch of FlashAttention-3 with its time on an H200 and the predicted one. The PTX is not a part of
// attest, so the file keeps figures only.
type fa3Pair struct {
	Problem   [4]int  `json:"problem"` // batches, heads, tokens, head dimension
	PTX       string  `json:"ptx"`     // the first digits of the hash of its text
	Launch    string  `json:"launch,omitempty"`
	Micros    float64 `json:"us"`
	Low       float64 `json:"p10"`
	High      float64 `json:"p90"`
	Predicted float64 `json:"predicted"`
	BandLow   float64 `json:"low_us"`
	BandHigh  float64 `json:"high_us"`
	Registers int     `json:"registers"`
}

// fa3Pairs are the contents of testdata/fa3.json.
type fa3Pairs struct {
	Device  string    `json:"device"`
	Version string    `json:"version"` // of FlashAttention-3, and its compiler
	Pairs   []fa3Pair `json:"pairs"`
}

const fa3File = "testdata/fa3.json"

// TestFA3 judges predictions for FlashAttention-3. With -fa3 it makes them again.
func TestFA3(t *testing.T) {
	file := fa3File
	if *fa3Dir != "" {
		file = filepath.Join(*fa3Dir, "index.json")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all fa3Pairs
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if all.Device != "NVIDIA H200" || len(all.Pairs) < 8 {
		t.Fatalf("%d pairs were measured on %q", len(all.Pairs), all.Device)
	}
	if *fa3Dir != "" {
		predictFA3(t, &all)
	}
	sum, signed, worst, n := 0.0, 0.0, 0.0, float64(len(all.Pairs))
	for _, x := range all.Pairs {
		off := x.Predicted/x.Micros - 1
		t.Logf("%-18s measured %8.2f  predicted %8.2f  %+6.1f %%", fmt.Sprint(x.Problem), x.Micros, x.Predicted, 100*off)
		sum, signed, worst = sum+math.Abs(off), signed+off, max(worst, math.Abs(off))
	}
	t.Logf("%.0f pairs: mean absolute error %.1f %%, signed %+.1f %%, largest %.1f %%", n, 100*sum/n, 100*signed/n, 100*worst)
	if !(sum/n <= 0.15 && worst <= 0.40) {
		t.Error("the predictions are worse than allowed: a mean absolute error of 15 %, a largest error of 40 %")
	}
}

// predictFA3 predicts the launches, and keeps the figures with -update.
func predictFA3(t *testing.T, all *fa3Pairs) {
	t.Helper()
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	for i := range all.Pairs {
		x := &all.Pairs[i]
		works, err := LaunchedWorks(t.Context(), filepath.Join(*fa3Dir, x.PTX), filepath.Join(*fa3Dir, x.Launch))
		if err != nil {
			t.Fatal(err)
		}
		works[0].Registers = x.Registers
		p := predict.Of(works[0], chip)
		x.Predicted, x.BandLow, x.BandHigh, x.Launch = p.Micros, p.Low, p.High, ""
	}
	if !*update {
		return
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fa3File, append(text, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
}
