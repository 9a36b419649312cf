package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// TestMissingEntry wants the first entries of a large module in the error, and their number.
func TestMissingEntry(t *testing.T) {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_90\n.address_size 64\n")
	for i := range 60 {
		fmt.Fprintf(&b, ".entry k%d() { ret; }\n", i)
	}
	m, err := parse.Parse("k.ptx", b.String())
	if err != nil {
		t.Fatal(err)
	}
	if got := kernel.MissingEntry(m, "x").Error(); !strings.Contains(got, "it has k0, k1,") || !strings.HasSuffix(got, ", k49, 10 more") {
		t.Error(got)
	}
}
