package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/GOATnote-Inc/attest/record"
)

// identitiesFile gives the kernels of schema-1 records their identities. Those records know
// a kernel by the hash of its text alone, which changes with every source line.
const identitiesFile = "identities.json"

// Identity is one entry of the table: a text that a record of schema 1 names, and the
// identity of its kernel.
type Identity struct {
	Kernel   string `json:"kernel"`   // its name today
	SHA256   string `json:"sha256"`   // the SHA-256 of the text
	Identity string `json:"identity"` // see [record.Kernel]
}

// Identities returns the table of the store. Only a store with records of schema 1 has one.
func (s *Store) Identities() ([]Identity, error) {
	data, err := s.readPath(identitiesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Problem{identitiesFile, reason(err)}
	}
	var list []Identity
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, Problem{identitiesFile, "is damaged: " + err.Error()}
	}
	seen := map[string]bool{}
	for _, i := range list {
		if !isHash(i.SHA256) || !isHash(i.Identity) || i.Kernel == "" || seen[i.SHA256] {
			return nil, Problem{identitiesFile, fmt.Sprintf("is damaged at %q", i.SHA256)}
		}
		seen[i.SHA256] = true
	}
	return list, nil
}

// identify fills in the identities that the kernels of an old record lack.
func (s *Store) identify(r *record.Record) {
	s.once.Do(func() {
		list, _ := s.Identities() // Verify reports damage; a record is usable without identities
		s.identities = map[string]string{}
		for _, i := range list {
			s.identities[i.SHA256] = i.Identity
		}
	})
	for _, k := range []*record.Kernel{&r.Kernel, r.Baseline} {
		if k != nil && k.Identity == "" {
			k.Identity = s.identities[k.SHA256]
		}
	}
}
