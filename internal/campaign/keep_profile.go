package campaign

import (
	"context"
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/machine"
	"github.com/GOATnote-Inc/attest/internal/resources"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/record"
)

// OpenStore opens the store, and checks that it can be written.
func (k *Keeper) OpenStore() error { return k.openStore() }

// KeepProfile keeps a profile as a record of its own, together with the kernel and what it
// uses on the machine. It returns the hash of the record, or "" if nothing is kept.
func (k *Keeper) KeepProfile(ctx context.Context, s *lab.Subject, m *machine.Machine, p *record.Profile) (hash string, err error) {
	if k.store == nil {
		return "", nil
	}
	r := lab.NewRecord(s, m.Device, build(ctx))
	r.Profile = p
	ask := resources.OnPath()
	ask.Device = m.Device
	if r.Resources, err = lab.ResourcesOf(ctx, s, p.Shape, []ptx.Target{m.Device.Info().Target}, ask); err != nil {
		return "", fmt.Errorf("resources: %w", err)
	}
	if len(r.Resources.Ptxas) > 0 {
		r.Build.Ptxas = resources.Version(ctx, ask.Ptxas)
	}
	hash, _, err = k.keep(r, nil, s)
	return hash, err
}
