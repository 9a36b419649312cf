package main

import (
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
)

// syntheticEvidence makes a store of figures that nobody measured: synthetic DIR
// campaign, or synthetic DIR laptop for a machine without a GPU.
func syntheticEvidence(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: synthetic DIR campaign|laptop")
	}
	s, err := evidence.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	switch args[1] {
	case "campaign":
		ts.Check(recordtest.Campaign(s, 0, 1))
	case "laptop":
		ts.Check(recordtest.Laptop(s))
	default:
		ts.Fatalf("no evidence %q", args[1])
	}
}

// evidenceHashes sets RECORD1, VERDICT1, … to the hashes in the log of a store, and
// FILE1, … to the files of the records: hashes DIR
func evidenceHashes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hashes DIR")
	}
	s, err := evidence.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	entries, _ := s.Entries()
	seen := map[evidence.Kind]int{}
	for i := range entries {
		e := &entries[i]
		seen[e.Kind]++
		n := strconv.Itoa(seen[e.Kind])
		ts.Setenv(strings.ToUpper(string(e.Kind))+n, e.Object[:12])
		if e.Kind == evidence.Record {
			ts.Setenv("FILE"+n, filepath.Join(args[0], "objects", e.Object[:2], e.Object+".json"))
		}
	}
}
