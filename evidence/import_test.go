package evidence_test

import (
	"errors"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
)

func TestImport(t *testing.T) {
	box, hashes := filled(t)
	laptop := open(t, t.TempDir())
	add(t, laptop, "stage0") // the same record as in the other store
	add(t, laptop, "mine")
	n, err := laptop.Import(box)
	if err != nil || n.Records != 2 || n.Verdicts != 2 || n.Known != 1 {
		t.Fatalf("%+v, %v", n, err)
	}
	sound(t, laptop, 6)
	for _, h := range hashes {
		if _, err := laptop.Find(h); err != nil {
			t.Errorf("%s did not come over: %v", h, err)
		}
	}
	if n, err := laptop.Import(box); err != nil || n.Known != 5 || n.Records+n.Verdicts != 0 {
		t.Errorf("a second time: %+v, %v", n, err)
	}
}

// TestImportHeals wants an import to restore a damaged object.
func TestImportHeals(t *testing.T) {
	box, hashes := filled(t)
	laptop := open(t, t.TempDir())
	if _, err := laptop.Import(box); err != nil {
		t.Fatal(err)
	}
	put(t, object(laptop.Path(), hashes[2]), "{}")
	if laptop.Verify().OK() {
		t.Fatal("damage is not found")
	}
	if n, err := laptop.Import(box); err != nil || n.Known != 4 {
		t.Errorf("%+v, %v", n, err)
	}
	sound(t, laptop, 5)
}

func TestImportRefusesDamage(t *testing.T) {
	box, hashes := filled(t)
	put(t, object(box.Path(), hashes[0]), "{}")
	laptop := open(t, t.TempDir())
	var damage *evidence.Damage
	if _, err := laptop.Import(box); !errors.As(err, &damage) || len(damage.Problems) == 0 {
		t.Errorf("error %v", err)
	}
	sound(t, laptop, 0)
}
