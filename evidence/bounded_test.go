package evidence

import (
	"archive/tar"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// TestUnpackBomb refuses an archive of a few bytes that unpacks to more than a disk holds.
func TestUnpackBomb(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		z := gzip.NewWriter(w)
		a := tar.NewWriter(z)
		zeros := make([]byte, 1<<20)
		for i := range 1 << 20 {
			name := "evidence/log/" + strings.Repeat("0", 7) + "1.json"
			if i > 0 {
				name = "evidence/other" // does not belong to a store, and is unpacked all the same
			}
			if a.WriteHeader(&tar.Header{Name: name, Size: int64(len(zeros)), Mode: 0o600}) != nil {
				return
			}
			if _, err := a.Write(zeros); err != nil {
				return
			}
		}
	}()
	if err := unpack(r, t.TempDir(), 8<<20); err == nil || !strings.Contains(err.Error(), "it unpacks to more bytes than any store has") {
		t.Error(err)
	}
}
