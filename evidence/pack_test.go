package evidence_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
)

// TestExport wants the same hashes, order and head after an export and an import.
func TestExport(t *testing.T) {
	from, _ := filled(t)
	var file, again bytes.Buffer
	n, err := from.Export(&file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := from.Export(&again); err != nil || !bytes.Equal(file.Bytes(), again.Bytes()) {
		t.Errorf("the same evidence gave other bytes: %v", err)
	}
	v := from.Verify()
	if n.Records != v.Records || n.Verdicts != v.Verdicts || n.Head != v.Head || n.Bytes != int64(file.Len()) {
		t.Errorf("%+v of %+v, %d bytes", n, v, file.Len())
	}
	dir := t.TempDir()
	if err := evidence.Unpack(bytes.NewReader(file.Bytes()), dir); err != nil {
		t.Fatal(err)
	}
	there := open(t, dir)
	if got := there.Verify(); !got.OK() || got.Head != v.Head || got.Records != v.Records {
		t.Errorf("unpacked: %+v", got)
	}
	home := open(t, filepath.Join(t.TempDir(), "home"))
	if got, err := home.Import(there); err != nil || got.Records != n.Records || got.Verdicts != n.Verdicts || !home.Verify().OK() {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestUnpackErrors: a file that is not a whole export is refused.
func TestUnpackErrors(t *testing.T) {
	var file bytes.Buffer
	s, _ := filled(t)
	if _, err := s.Export(&file); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"nothing": nil, "text": []byte("not a tar"), "gzip": {0x1f, 0x8b, 0}, "half": file.Bytes()[:file.Len()/2], "but the end": file.Bytes()[:file.Len()-4],
	} {
		if err := evidence.Unpack(bytes.NewReader(data), t.TempDir()); err == nil || !strings.Contains(err.Error(), "not an export") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnpackElsewhere wants an archive to write only into the given folder.
func TestUnpackElsewhere(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	var file bytes.Buffer
	w := tar.NewWriter(&file)
	for _, name := range []string{
		"../../log/00000001.json", "/objects/ab/" + hash + ".json", "objects/../../../x.json", "evidence/objects/cd/" + hash + ".json", "../head.json.sh", "evidence/report.html",
	} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	if err := evidence.Unpack(&file, dir); err != nil {
		t.Fatal(err)
	}
	var files []string
	err := filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files = append(files, filepath.ToSlash(name))
		}
		return err
	})
	if want := "log/00000001.json objects/ab/" + hash + ".json"; err != nil || strings.Join(files, " ") != want {
		t.Errorf("%q, %v", files, err)
	}
}

// TestUnpackTwice wants an archive of two stores to be refused by name.
func TestUnpackTwice(t *testing.T) {
	var file bytes.Buffer
	w := tar.NewWriter(&file)
	for _, name := range []string{"monday/log/00000001.json", "tuesday/log/00000001.json"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := evidence.Unpack(&file, t.TempDir()); err == nil || err.Error() != "log/00000001.json is there twice: an export holds one store" {
		t.Error(err)
	}
}

// TestExportDamaged wants a damaged store to be refused.
func TestExportDamaged(t *testing.T) {
	s, _ := filled(t)
	if err := os.Remove(entry(s.Path(), 1)); err != nil {
		t.Fatal(err)
	}
	var d *evidence.Damage
	if _, err := s.Export(&bytes.Buffer{}); !errors.As(err, &d) {
		t.Errorf("%v", err)
	}
}
