package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/version"
	"github.com/GOATnote-Inc/attest/record"
)

// Report says whether an exported file is what was measured.
type Report struct {
	Kind   string `json:"kind"`
	Attest string `json:"attest"`
	// Code is "same" if this attest writes the same file from the bundle, "changed" if it does
	// not, and "other version" if another version wrote the file.
	Code    string         `json:"code"`
	Kernels []KernelReport `json:"kernels"`
}

// KernelReport says what is known about a kernel of an export.
type KernelReport struct {
	Name     string `json:"name"`
	Config   string `json:"config"`
	Identity string `json:"identity"`
	// State is "measured" (a record in the store has this kernel and a verdict), "rejected" (the
	// verdict is REJECT), "changed" (the text or the call is not what the hashes say) or "no
	// record".
	State string `json:"state"`
	Proof *Proof `json:"record"` // the record in the store; null if there is none
}

// OK reports whether nothing was changed and every kernel was measured.
func (r *Report) OK() bool {
	for _, k := range r.Kernels {
		if k.State != "measured" {
			return false
		}
	}
	return r.Code != "changed" && len(r.Kernels) > 0
}

// Verify compares an exported file with its own hashes and with the records of a store.
func Verify(file []byte, s *evidence.Store) (*Report, error) {
	b, err := Read(file)
	if err != nil {
		return nil, err
	}
	r := &Report{Kind: b.Kind, Attest: b.Attest, Code: "same"}
	again, err := Render(b)
	if err != nil || !bytes.Equal(again, file) {
		r.Code = "changed"
		if v := version.This(); v.Version != b.Attest || v.Revision != b.Revision {
			r.Code = "other version"
		}
	}
	c := s.Load()
	for i := range b.Kernels {
		k := &b.Kernels[i]
		line := KernelReport{Name: k.Name, Config: k.Config["config"], Identity: k.Kernel.Identity(), State: "no record"}
		sum := sha256.Sum256([]byte(k.PTX))
		if line.Identity != k.Identity || hex.EncodeToString(sum[:]) != k.SHA256 {
			line.State = "changed"
		}
		for j := len(c.Items) - 1; j >= 0 && line.State == "no record"; j-- {
			p, ok := proof(c.Items[j], k)
			switch {
			case ok && p.Outcome == string(record.Reject):
				line.State, line.Proof = "rejected", &p
			case ok:
				line.State, line.Proof = "measured", &p
			}
		}
		r.Kernels = append(r.Kernels, line)
	}
	return r, nil
}
