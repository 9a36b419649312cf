package check_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/launchfile"
)

// TestAsyncAdvice: if the start of a copy is ordered before the access, the advice is to wait for
// the copy. Otherwise it is also possible that the access must come before the start.
func TestAsyncAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("kernels that race on purpose")
	}
	late := readSample(t, "testdata/ptx/cp_async_no_wait.txtar")
	launches, err := launchfile.Parse("launch.json", late.files["launch.json"])
	if err != nil {
		t.Fatal(err)
	}
	fixes(t, watch(t, without(late.text, "[twin]"), launches, late.read, 0), "cp.async.wait_group")

	launches, err = launchfile.Parse("loops.json", readNvcc(t, "loops.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range launches.Launches {
		if l.Entry == "gemm_free" {
			one := &launchfile.File{Launches: launches.Launches[i : i+1]}
			fixes(t, watch(t, string(readNvcc(t, "loops.bug.ptx")), one, nvccFile, 0), "if the access must come first")
		}
	}
}

func fixes(t *testing.T, w watched, with string) {
	t.Helper()
	if len(w.defects) == 0 || !strings.HasPrefix(w.defects[0].Fix, with) {
		t.Errorf("want advice %q: %+v", with, w.defects)
	}
}
