package report_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := evidence.Open(filepath.Join(dir, evidence.Dir))
	if err != nil {
		log.Fatal(err)
	}
	if err := recordtest.Laptop(store); err != nil { // yours is measured
		log.Fatal(err)
	}

	v := report.New(store.Load())
	for _, k := range v.Kernels {
		fmt.Println(k.Label, k.Outcome())
	}
	fmt.Print(v.Results())
	// Output:
	// stage0 CORRECT
	// stage1 CORRECT
	// stage3b CORRECT
	// No measurements yet.
}
