package check_test

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device/launchfile"
)

// TestShortWait wants a race with a copy to name the wait that left the copy in flight.
func TestShortWait(t *testing.T) {
	for name, want := range map[string]string{
		"cp_async_last_tile":  "leaves the newest group in flight, and the copy is in that group",
		"cp_async_wait_count": "leaves the newest 3 groups in flight, and the copy is in one of them: 2 groups are newer",
		"cp_async_no_commit":  "the copy was in no committed group yet",
		"cp_async_no_wait":    "",
	} {
		s := readSample(t, "testdata/ptx/"+name+".txtar")
		launches, err := launchfile.Parse("launch.json", s.files["launch.json"])
		if err != nil {
			t.Fatal(err)
		}
		w := watch(t, without(s.text, "[twin]"), launches, s.read, 0)
		if len(w.defects) == 0 {
			t.Errorf("%s: no defects", name)
			continue
		}
		wait := w.defects[0].Wait
		switch {
		case want == "" && wait != nil:
			t.Errorf("%s blames %+v", name, wait)
		case want != "" && (wait == nil || !strings.Contains(wait.Note, want) || !strings.HasPrefix(wait.Inst, "cp.async.wait_group")):
			t.Errorf("%s blames %+v, want %q", name, wait, want)
		}
	}
}
