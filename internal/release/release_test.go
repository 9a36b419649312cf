package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func maker(t *testing.T) *Maker {
	dir := t.TempDir()
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text of "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &Maker{Source: dir, Version: "v1.2.3", Out: t.TempDir(), Extra: map[string][]byte{"man/man1/attest.1": []byte("page")}, Say: t.Logf}
}

func TestArchive(t *testing.T) {
	m := maker(t)
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	first, err := m.archive([]byte("binary"), when)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := m.archive([]byte("binary"), when); err != nil || !bytes.Equal(first, again) {
		t.Errorf("the second archive differs: %v", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if !h.ModTime.Equal(when) || strings.HasSuffix(h.Name, "/attest") != (h.Mode == 0o755) {
			t.Errorf("%s: time %v, mode %o", h.Name, h.ModTime, h.Mode)
		}
	}
	if got, want := strings.Join(names, " "), "attest_v1.2.3/CHANGELOG.md attest_v1.2.3/LICENSE attest_v1.2.3/README.md attest_v1.2.3/attest attest_v1.2.3/man/man1/attest.1"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBillOfMaterials describes the binary of this test.
func TestBillOfMaterials(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := billOfMaterials(self, "v1.2.3", time.Unix(0, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		Format     string `json:"bomFormat"`
		Components []component
	}
	if err := json.Unmarshal(text, &bom); err != nil || bom.Format != "CycloneDX" || len(bom.Components) == 0 || bom.Components[0].Name != "std" {
		t.Errorf("%+v, %v", bom, err)
	}
}

func TestMakeRefuses(t *testing.T) {
	m := maker(t)
	if _, err := m.Make(t.Context()); err == nil || !strings.Contains(err.Error(), "a release is built in a clone") {
		t.Errorf("outside of a clone: %v", err)
	}
	m.Version = "1.2"
	if _, err := m.Make(t.Context()); err == nil || !strings.Contains(err.Error(), "use v1.2.3") {
		t.Error(err)
	}
}
