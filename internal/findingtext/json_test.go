package findingtext

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

func TestRecord(t *testing.T) {
	f := race()
	got, err := json.Marshal(RecordOf(&f))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"kind":"shared-race",`, `"lanes":[0,1,2,3],`, `"waiters":[],`, `"schedule":0,"lane":0}`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

func TestReport(t *testing.T) {
	r := Report{File: "f.ptx"}
	r.Syntax(parse.Errors{{File: "f.ptx", Pos: ptx.Pos{Line: 3, Col: 4}, Msg: "expected `;`"}})
	r.Syntax(errors.New("no list"))
	odd := finding.Finding{Place: finding.At(ptx.Pos{Line: 5, Col: 6}), Severity: finding.Warning, Kind: "odd", Message: "m"}
	odd.Func, odd.Source = "f", "a.go:1:1"
	r.Add(odd)
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"f.ptx","diagnostics":[` +
		"{\"line\":3,\"column\":4,\"severity\":\"error\",\"kind\":\"syntax\",\"message\":\"expected `;`\",\"function\":\"\",\"source\":\"\"}," +
		`{"line":0,"column":0,"severity":"error","kind":"syntax","message":"no list","function":"","source":""},` +
		`{"line":5,"column":6,"severity":"warning","kind":"odd","message":"m","function":"f","source":"a.go:1:1"}]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if errs, warnings := r.Count(); errs != 2 || warnings != 1 {
		t.Errorf("counted %d errors and %d warnings, want 2 and 1", errs, warnings)
	}
}
