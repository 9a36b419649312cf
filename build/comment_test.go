package build

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/ptx"
)

// TestCommentIsASCII checks that comments contain only ASCII, because ptxas 13 refuses other
// characters even in comments.
func TestCommentIsASCII(t *testing.T) {
	k := New("k", ptx.SM80)
	k.Comment("S = Q·Kᵀ, α ≤ 2^x → ΣP\nü")
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	if want := "// S = Q*K^T, alpha <= 2^x -> sum P ?\n"; !strings.Contains(text, want) {
		t.Errorf("%s\ndoes not contain %q", text, want)
	}
	for _, r := range text {
		if r > '~' {
			t.Errorf("%q is in the text", r)
		}
	}
}
