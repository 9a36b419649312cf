package campaign

import (
	"errors"
	"fmt"
	"os"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// Keeper keeps what is measured as evidence.
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

// openStore finds out before anything is measured whether it can be kept.
func (k *Keeper) openStore() (err error) {
	if k.Dir == "" {
		return nil
	}
	if k.store, err = evidence.Open(k.Dir); err != nil {
		return fmt.Errorf("--evidence: %w", err)
	}
	if err = evidence.MakeDir(k.Dir); err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(k.Dir, ".writable-*.tmp"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("--evidence: nothing can be kept there: %w; name another folder, or use --evidence \"\" to keep nothing", err)
	}
	return nil
}

// keep adds a record with the PTX of the kernels that it names and, if there is one, the
// verdict on it. The hashes are "" where nothing is kept.
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
