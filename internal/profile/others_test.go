package profile

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/ordered"
	"github.com/GOATnote-Inc/attest/internal/predict"
)

// other is a kernel that Triton or nvcc compiled from the sources in testdata/others, with its time on
// an H200. measure.py wrote it.
type other struct {
	Name   string  `json:"name"`
	Source string  `json:"source"`
	PTX    string  `json:"ptx"`
	Launch string  `json:"launch"`
	Micros float64 `json:"us"`
	Low    float64 `json:"p10"`
	High   float64 `json:"p90"`
}

// others returns the pairs and the files that they name.
func others(t *testing.T) (list []other, files map[string]string) {
	t.Helper()
	f, err := os.Open("testdata/others/pairs.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(h.Name, "others/")] = string(text)
	}
	var index struct {
		Device string  `json:"device"`
		Pairs  []other `json:"pairs"`
	}
	if err := json.Unmarshal([]byte(files["index.json"]), &index); err != nil {
		t.Fatal(err)
	}
	if index.Device != "NVIDIA H200" {
		t.Fatalf("measured on %q", index.Device)
	}
	return index.Pairs, files
}

// quickOthers are the pairs that are predicted without -full.
var quickOthers = []string{"transpose_conflicts", "hgemm_wmma", "triton attn-ptr f16 h8", "triton matmul e4m3 m1024"}

// TestOthers compares predictions with times of kernels that Triton and nvcc compiled.
func TestOthers(t *testing.T) {
	chip, err := chips.Find("H200")
	if err != nil {
		t.Fatal(err)
	}
	list, files := others(t)
	if !*full {
		list = slices.DeleteFunc(list, func(x other) bool {
			return !slices.ContainsFunc(quickOthers, func(q string) bool { return strings.HasPrefix(x.Name, q) })
		})
	}
	table := newTable(t)
	sum, signed, worst, n := 0.0, 0.0, 0.0, float64(len(list))
	var pairs []pair
	var classified []string
	type outcome struct {
		profile *predict.Profile
		class   predict.Class
		err     error
	}
	err = ordered.Map(t.Context(), len(list), func(i int) (o outcome) {
		o.profile, o.class, o.err = list[i].predict(t.Context(), files, chip)
		return o
	}, func(i int, o outcome) {
		x := &list[i]
		if o.err != nil {
			t.Errorf("%s: %v", x.Name, o.err)
			return
		}
		one := pair{kernel: x.Name, measured: x.Micros, predicted: o.profile.Micros, low: o.profile.Low, high: o.profile.High}
		pairs = append(pairs, one)
		table.add(&one, o.profile)
		classified = append(classified, string(o.class)+" "+x.Name)
		off := one.off()
		t.Logf("%-66s %-7s measured %8.2f  predicted %8.2f  %+6.1f %%", x.Name, o.class, x.Micros, o.profile.Micros, 100*off)
		sum, signed, worst = sum+math.Abs(off), signed+off, max(worst, math.Abs(off))
	})
	if err != nil || t.Failed() {
		t.Fatal("some kernels were not predicted", err)
	}
	checkBands(t, pairs)
	for name, want := range map[string]predict.Class{"hgemm_wmma": predict.WarpProducts, "triton attn-ptr f16 h8": predict.GroupProducts16, "triton matmul e4m3 m1024": predict.GroupProducts8, "transpose_conflicts": predict.NoProducts} {
		if !slices.ContainsFunc(classified, func(c string) bool { return strings.HasPrefix(c, string(want)+" "+name) }) {
			t.Errorf("%s is not of the class %s", name, want)
		}
	}
	t.Logf("%.0f pairs: mean absolute error %.1f %%, signed %+.1f %%, largest %.1f %%", n, 100*sum/n, 100*signed/n, 100*worst)
	if !(sum/n <= 0.15 && worst <= 0.40) {
		t.Error("the predictions are worse than allowed: a mean absolute error of 15 %, a largest error of 40 %")
	}
}

// predict predicts the time of the kernel on a chip, and returns its class.
func (x *other) predict(ctx context.Context, files map[string]string, chip chips.Chip) (*predict.Profile, predict.Class, error) {
	file, err := launchfile.Parse(x.Launch, []byte(files[x.Launch]))
	if err != nil {
		return nil, "", err
	}
	works, err := launchedWorks(ctx, x.PTX, files[x.PTX], file, nil)
	if err != nil {
		return nil, "", err
	}
	return predict.Of(works[0], chip), predict.ClassOf(works[0].Trace), nil
}
