package record

import (
	"encoding/json"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// Kernel describes a kernel. Together with the PTX text, which evidence keeps under
// SHA256, it is everything that is needed to run the kernel again.
type Kernel struct {
	Name  string `json:"name"`  // preset, or file and entry
	Entry string `json:"entry"` // the first that is launched
	// Identity is [kernel.Kernel.Identity]: the hash of the normal form of the text and of
	// the call. It is "" where an old record does not have it.
	Identity string            `json:"identity,omitempty"`
	SHA256   string            `json:"sha256"`           // of the PTX text, in hex
	Config   map[string]string `json:"config,omitempty"` // how the kernel was built
	Target   string            `json:"target"`           // .target of the PTX
	Format   string            `json:"format"`           // of Q, K and V: "u8", "e4m3", …
	Output   string            `json:"output"`           // of O: "f16", "bf16"
	Problem  Problem           `json:"problem"`          // what it computes
	// Call is how the kernel is called, and what it claims: the type that it rounds the
	// weights of the softmax to, for one. It has no name, text and configuration: they are
	// above. It is nil in old records.
	Call *kernel.Kernel `json:"call,omitempty"`
}

// Contract returns the kernel with its PTX text. It returns nil for an old record, which
// does not say how the kernel is called.
func (k *Kernel) Contract(text string) *kernel.Kernel {
	if k.Call == nil {
		return nil
	}
	whole := *k.Call
	whole.Name, whole.PTX, whole.Config = k.Name, text, k.Config
	return &whole
}

// Same reports whether two descriptions are of the same kernel: by identity, so that a
// comment or a source line that moved makes no difference, or by the text where one of
// them has no identity.
func (k *Kernel) Same(other *Kernel) bool {
	if k.Identity != "" && other.Identity != "" {
		return k.Identity == other.Identity
	}
	return k.SHA256 == other.SHA256
}

// Problem is what a kernel computes, but for the sizes: of its shape only D is set, where
// the kernel has a fixed one. Its JSON is the problem's facts.
type Problem struct{ problem.Attention }

// MarshalJSON writes the facts of the problem.
func (p Problem) MarshalJSON() ([]byte, error) { return json.Marshal(p.Facts()) }

// UnmarshalJSON reads the facts of a problem.
func (p *Problem) UnmarshalJSON(text []byte) error {
	var facts map[string]string
	if err := json.Unmarshal(text, &facts); err != nil {
		return err
	}
	a, err := problem.FromFacts(facts)
	p.Attention = a
	return err
}

// MarshalText is MarshalJSON; that of the shape inside is not the problem's.
func (p Problem) MarshalText() ([]byte, error) { return p.MarshalJSON() }

// UnmarshalText is UnmarshalJSON.
func (p *Problem) UnmarshalText(text []byte) error { return p.UnmarshalJSON(text) }
