package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
)

// TestPolicy wants the policy of the page to allow its one script, and nothing else.
func TestPolicy(t *testing.T) {
	s, err := evidence.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := New(s.Load()).WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)"/>`).FindStringSubmatch(b.String())
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(b.String(), -1)
	if policy == nil || len(scripts) != 1 {
		t.Fatalf("policy %q, %d scripts", policy, len(scripts))
	}
	sum := sha256.Sum256([]byte(scripts[0][1]))
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.HasPrefix(policy[1], "default-src 'none'; ") || !strings.HasSuffix(policy[1], want) {
		t.Errorf("the policy is %s, want %s", policy[1], want)
	}
}
