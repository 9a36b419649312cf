package evidence_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/record"
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

	hash, err := store.AddRecord(recordtest.New("stage1")) // yours is measured
	if err != nil {
		log.Fatal(err)
	}
	verdict := recordtest.Judge(hash, recordtest.Start, record.Correct, "", "correct, not timed: no GPU")
	if _, err := store.AddVerdict(verdict); err != nil {
		log.Fatal(err)
	}

	for _, item := range store.Load().Items {
		fmt.Println(item.Kernel.Name, item.Verdict().Outcome)
	}
	check := store.Verify()
	fmt.Println(check.Entries, "entries,", len(check.Problems), "problems")
	// Output:
	// stage1 CORRECT
	// 2 entries, 0 problems
}
