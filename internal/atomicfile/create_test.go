package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestCreateAll wants all files or none, and files that exist to stay.
func TestCreateAll(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := CreateAll(File{at("a"), []byte("1")}, File{at("b"), []byte("2")}); err != nil {
		t.Fatal(err)
	}
	err := CreateAll(File{at("c"), []byte("3")}, File{at("b"), []byte("4")})
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want %v", err, fs.ErrExist)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 || read(t, at("a")) != "1" || read(t, at("b")) != "2" {
		t.Errorf("%v, %v", files, err)
	}
}
