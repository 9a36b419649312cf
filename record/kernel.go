package record

import (
	"encoding/json"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

// Kernel describes a kernel. Together with the PTX text, which evidence keeps by its SHA256,
// it holds everything that is needed to run the kernel again.
type Kernel struct {
	Name  string `json:"name"`  // the preset, or the file and the entry
	Entry string `json:"entry"` // the entry that is launched first
	// Identity is [kernel.Kernel.Identity]: the hash of the normal form of the text and of
	// the call. It is "" in an old record without one.
	Identity string            `json:"identity,omitempty"`
	SHA256   string            `json:"sha256"`           // the SHA-256 of the PTX text, in hex
	Config   map[string]string `json:"config,omitempty"` // how the kernel was built
	Target   string            `json:"target"`           // .target of the PTX
	Format   string            `json:"format"`           // of Q, K and V: "u8", "e4m3", …
	Output   string            `json:"output"`           // of O: "f16", "bf16"
	Problem  Problem           `json:"problem"`          // what it computes
	// Call is how the kernel is called and what it claims, such as the type that it rounds
	// the weights of the softmax to. Its name, text and configuration are empty, since the
	// fields above hold them. It is nil in old records.
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

// Same reports whether two descriptions are of the same kernel. It compares identities, so
// a changed comment makes no difference, or the texts if one of them has no identity.
func (k *Kernel) Same(other *Kernel) bool {
	if k.Identity != "" && other.Identity != "" {
		return k.Identity == other.Identity
	}
	return k.SHA256 == other.SHA256
}

// Problem is what a kernel computes, without the sizes: only D of the shape is set, if the
// kernel fixes it. Its JSON is the facts of the problem.
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

// MarshalText is MarshalJSON. It hides the method of the embedded shape.
func (p Problem) MarshalText() ([]byte, error) { return p.MarshalJSON() }

// UnmarshalText is UnmarshalJSON.
func (p *Problem) UnmarshalText(text []byte) error { return p.UnmarshalJSON(text) }

// Deterministic reports whether the kernel must give the same bits in each run: it must unless it
// declares the opposite.
func (k *Kernel) Deterministic() bool { return k.Call == nil || k.Call.Deterministic() }

// Computes returns the problem that the kernel computes. Format is the older field and has
// the last word.
func (k *Kernel) Computes() problem.Attention {
	p := k.Problem.Attention
	p.Format = problem.Format(k.Format)
	return p
}
