package capture

import (
	"bytes"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	_ "github.com/GOATnote-Inc/attest/device/cuda"
	"github.com/GOATnote-Inc/attest/internal/rival"
)

// TestCardReplay records Triton and PyTorch programs on a GPU and replays every launch on the
// emulator, which must write the same bits.
func TestCardReplay(t *testing.T) {
	dev, err := device.Open("cuda:0")
	if err != nil {
		t.Skip(err)
	}
	dev.Close()
	python, err := rival.Python()
	if err != nil {
		t.Skip(err)
	}
	o := options(t)
	o.Bytes, o.Limit = 1<<28, 100
	var out bytes.Buffer
	o.Stdout, o.Stderr = &out, &out
	launches, err := Run(t.Context(), o, python, "testdata/card.py")
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	kernels := map[string]bool{}
	for _, l := range launches {
		if l.Skipped != "" {
			t.Errorf("%s is not recorded: %s", l.Kernel, l.Skipped)
			continue
		}
		kernels[l.Kernel] = true
		replay(t, o.Out, l)
	}
	for _, want := range []string{"softmax", "product", "described", "histogram"} {
		if !kernels[want] {
			t.Errorf("%s is not recorded; recorded are %v", want, kernels)
		}
	}
	if len(kernels) < 5 {
		t.Error("nothing of torch.compile is recorded")
	}
}
