package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/record"
)

// keeper keeps what commands measure.
type keeper struct {
	evidence string // the folder; nothing is kept when it is empty
	store    *evidence.Store
}

// evidenceFlag adds the flag.
func (k *keeper) evidenceFlag(c *cobra.Command, value, what string) {
	c.Flags().StringVar(&k.evidence, "evidence", value, "the folder that "+what+" kept in; nothing is kept when empty")
}

// openStore finds out before anything is measured whether it can be kept.
func (k *keeper) openStore() (err error) {
	if k.evidence == "" {
		return nil
	}
	if k.store, err = evidence.Open(k.evidence); err != nil {
		return fmt.Errorf("--evidence: %w", err)
	}
	if err = os.MkdirAll(k.evidence, 0o755); err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(k.evidence, ".writable-*.tmp"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("--evidence: nothing can be kept there: %w; name another folder, or --evidence \"\" keeps nothing", err)
	}
	return nil
}

// keep adds a record, and the verdict on it if there is one. The hashes are "" where
// nothing is kept.
func (k *keeper) keep(r *record.Record, v *record.Verdict) (hash, verdict string, err error) {
	if k.store == nil {
		return "", "", nil
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
