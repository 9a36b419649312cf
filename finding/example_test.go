package finding_test

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

func ExampleList() {
	at := finding.At(ptx.Pos{Line: 12, Col: 2})
	at.Warp, at.Lanes = 1, finding.Lane(0)
	f := finding.Finding{Kind: "uninit-shared", Severity: finding.Error, Message: "read of s, which nobody has written", Place: at}
	var l finding.List
	l.Add(f)
	f.Lanes, f.Schedule = finding.Lane(1), 7 // another schedule shows the same
	l.Add(f)
	for _, f := range l.All() {
		fmt.Println(f.Format("k.ptx"))
		fmt.Printf("%s, seen %d times\n", f.Who(), f.Count)
	}
	// Output:
	// k.ptx:12:2: error: read of s, which nobody has written
	// block (0,0,0), warp 1, lanes 0-1, seen 2 times
}
