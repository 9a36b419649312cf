package flash

import (
	"testing"

	"github.com/GOATnote-Inc/attest/internal/kerneltest"
)

// TestPTX keeps the text of the kernel.
func TestPTX(t *testing.T) {
	k, err := Kernel()
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.Golden(t, "flash", k.PTX)
}
