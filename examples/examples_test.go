package examples

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the PTX under testdata")

// TestPTX compares the PTX of each example with a golden file in testdata, which is also for
// readers. An example has no warnings.
func TestPTX(t *testing.T) {
	for _, k := range All() {
		t.Run(k.Name(), func(t *testing.T) {
			got, err := k.PTX()
			if err != nil {
				t.Fatal(err)
			}
			if w := k.Warnings(); len(w) > 0 {
				t.Error(w)
			}
			golden := filepath.Join("testdata", k.Name()+".ptx")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s has changed; if this is intended, run go test ./examples -update", golden)
			}
		})
	}
}
