package archive

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/limited"
	"github.com/GOATnote-Inc/attest/internal/version"
)

// Known is what a user knows of a store: the flags of attest evidence verify.
type Known struct {
	Heads   []string // hashes
	File    string   // lines of attest evidence heads
	Signers []string // public keys
}

// trust checks the flags.
func (k Known) trust() (t evidence.Trust, err error) {
	t.Version = version.This().Version
	for _, h := range k.Heads {
		if !evidence.IsHash(h) {
			return t, fmt.Errorf("--head %s: give the 64 letters of a hash that attest evidence verify has shown", h)
		}
		t.Heads = append(t.Heads, evidence.Head{Hash: h})
	}
	for _, s := range k.Signers {
		if !evidence.IsHash(s) {
			return t, fmt.Errorf("--signer %s: give the 64 letters of a public key that attest evidence keygen has shown", s)
		}
		t.Signers = append(t.Signers, s)
	}
	if k.File == "" {
		return t, nil
	}
	text, err := limited.ReadFile(k.File, limited.Small)
	if err != nil {
		return t, fmt.Errorf("--heads: %w", err)
	}
	heads, err := evidence.ParseHeads(string(text))
	if err != nil {
		return t, fmt.Errorf("--heads %s: %w", k.File, err)
	}
	t.Heads = append(t.Heads, heads...)
	return t, nil
}

// Heads writes the heads that the store has had, one line each, for a file in git.
func (a *Archive) Heads() error {
	s, err := a.open()
	if err != nil {
		return err
	}
	heads, problems := s.Heads()
	for _, h := range heads {
		if a.Env.JSON {
			a.Env.Encode(h)
		} else {
			fmt.Fprintf(a.Env, "%d %s\n", h.Seq, h.Hash)
		}
	}
	return a.damaged(problems)
}

// Keygen makes a key with which entries are signed. An empty file name is the file that all
// commands look for.
func (a *Archive) Keygen(file string) error {
	if file == "" {
		var err error
		if file, err = evidence.KeyFile(); err != nil {
			return err
		}
	}
	public, err := evidence.NewKey(file, a.Dir)
	if err != nil {
		return err
	}
	if a.Env.JSON {
		a.Env.Encode(struct {
			Key    string `json:"key"`
			Public string `json:"public"`
		}{file, public})
		return nil
	}
	fmt.Fprintf(a.Env, "the private key is in %s: keep it to yourself\npublic key %s\n", file, public)
	return nil
}
