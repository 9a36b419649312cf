package campaign

import (
	"errors"
	"fmt"
	"os"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// Keeper keeps records and verdicts as evidence.
type Keeper struct {
	Dir   string // the value of --evidence; "" keeps nothing
	store *evidence.Store
	kept  *evidence.Contents // what before has read
}

// before returns the records that the store had when it was first asked, oldest first.
func (k *Keeper) before() []*evidence.Item {
	if k.store == nil {
		return nil
	}
	if k.kept == nil {
		k.kept = k.store.Load()
	}
	return k.kept.Items
}

// openStore opens the store, and checks before anything is measured that it can be written.
func (k *Keeper) openStore() (err error) {
	if k.Dir == "" {
		return nil
	}
	if k.store, err = evidence.OpenSigned(k.Dir); err != nil {
		return fmt.Errorf("--evidence: %w", err)
	}
	if err = evidence.MakeDir(k.Dir); err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(k.Dir, ".writable-*.tmp"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("--evidence: the folder cannot be written: %w; name another folder, or use --evidence \"\" to keep nothing", err)
	}
	return nil
}

// keep adds a record, the PTX of its kernels and, if v is not nil, the verdict. The hashes are
// "" if nothing is kept.
func (k *Keeper) keep(r *record.Record, v *record.Verdict, kernels ...*lab.Subject) (hash, verdict string, err error) {
	if k.store == nil {
		return "", "", nil
	}
	for _, s := range kernels {
		if s == nil {
			continue
		}
		if _, err := k.store.AddText(s.PTX); err != nil {
			return "", "", fmt.Errorf("--evidence: %w", err)
		}
	}
	if hash, err = k.store.AddRecord(r); err != nil {
		return "", "", fmt.Errorf("--evidence: %w", err)
	}
	if v == nil {
		return hash, "", nil
	}
	v.Record = hash
	if verdict, err = k.store.AddVerdict(v); err != nil {
		return hash, "", fmt.Errorf("--evidence: %w", err)
	}
	return hash, verdict, nil
}

// keepScore adds a mutation score and the PTX of its kernel. The hash is "" if nothing is kept.
func (k *Keeper) keepScore(score *record.Score, s *lab.Subject) (hash string, err error) {
	if k.store == nil {
		return "", nil
	}
	if _, err := k.store.AddText(s.PTX); err != nil {
		return "", fmt.Errorf("--evidence: %w", err)
	}
	if hash, err = k.store.AddScore(score); err != nil {
		return "", fmt.Errorf("--evidence: %w", err)
	}
	return hash, nil
}
