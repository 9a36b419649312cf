package record_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// TestReadEvidence reads every published object, of all schemas.
func TestReadEvidence(t *testing.T) {
	files, err := filepath.Glob("../evidence/objects/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d objects: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var old struct {
			Kernel *struct {
				Format string
				Config map[string]string
			}
		}
		if err := json.Unmarshal(text, &old); err != nil {
			t.Fatal(err)
		}
		if old.Kernel == nil {
			v, err := record.ReadVerdict(text)
			n, noteErr := record.ReadNote(text)
			if err != nil || noteErr != nil || v.Outcome == "" && len(n.Parts()) == 0 {
				t.Errorf("%s: neither a verdict nor a note: %v, %v", file, err, noteErr)
			}
			continue
		}
		r, err := record.Read(text)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		p := &r.Kernel.Problem
		if r.Schema != record.Schema || string(p.Format) != old.Kernel.Format || p.Causal != (old.Kernel.Config["causal"] == "true") || !slices.Contains([]int{64, 128, 256}, p.D) {
			t.Errorf("%s: schema %d, %v", file, r.Schema, p)
		}
	}
}

const first = `{"schema":1,
"kernel":{"name":"k","entry":"k","sha256":"ab","config":{"head_dim":"128","causal":"true","lse":"true"},"target":"sm_90a","format":"u8","output":"bf16"},
"defects":{"schedules":[0,1],"shapes":["1,1,32,64"],"refused":["1,1,33,64: k needs S % 64 == 0: whole tiles"],"errors":2,"found":[
 {"kind":"shared-race","severity":"error","message":"m","ptx_line":7,"who":"block (0,0,0), warp 1, lane 2","other_line":1,"shape":"1,1,32,64","count":3},
 {"kind":"shared-race","severity":"error","message":"m","ptx_line":7,"warp":1,"lanes":[2],"who":"x","other":{"ptx_line":5,"warp":0},"count":3},
 {"kind":"async-leak","severity":"error","message":"m","ptx_line":8,"warp":0,"count":1}]},
"baseline":{"name":"b","format":"u8","output":"f16","config":{"head_dim":"64"}},
"correctness":{"tolerance":{},"cases":[{"shape":"1,8,512,0","failure":"no room"}],"refused":["1,1,1,64: too short"]},
"performance":{"shapes":[{"shape":"1,8/2,512,64","runs":[{},{}]}]}}`

// TestUpgrade wants a record of today to hold everything of a record of schema 1.
func TestUpgrade(t *testing.T) {
	r, err := record.Read([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	want := problem.Attention{Format: problem.U8, Output: problem.BF16, Causal: true, LSE: true}.Filled()
	want.D = 128
	if got := r.Kernel.Problem.Attention; got != want {
		t.Errorf("problem %+v, want %+v", got, want)
	}
	if got, want := r.Defects.Refused, []record.Refusal{{Shape: problem.Square(1, 1, 33, 64), Why: "k needs S % 64 == 0: whole tiles"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("refused %v, want %v", got, want)
	}
	a, b := &r.Defects.Found[0], &r.Defects.Found[1]
	if a.Warp != finding.NoWarp || a.Note != "block (0,0,0), warp 1, lane 2" || a.Other == nil || a.Other.Line != 1 || a.Line != 7 || a.Count != 3 || a.Shape != problem.Square(1, 1, 32, 64) {
		t.Errorf("a finding with texts: %+v", a)
	}
	if b.Warp != 1 || b.Lanes != 1<<2 || b.Note != "" || b.Other.Line != 5 {
		t.Errorf("a whole finding: %+v", b)
	}
	if f := r.Defects.Found[2]; f.Other != nil {
		t.Errorf("a finding with one access has another, %+v", f.Other)
	}
	if p := r.Baseline.Problem; p.D != 64 || p.Format != problem.U8 || p.Output != problem.F16 {
		t.Errorf("the baseline computes %+v", p)
	}
	if c := r.Correctness; c.Cases[0].Failure != "no room" || c.Cases[0].Shape.Sq != 512 || len(c.Refused) != 1 {
		t.Errorf("correctness %+v", c)
	}
	if p := r.Performance; p.Processes != 2 || p.Shapes[0].Shape != (problem.Shape{B: 1, Hq: 8, Hkv: 2, Sq: 512, Skv: 512, D: 64}) {
		t.Errorf("performance %+v", p)
	}
}

// TestReadRefuses wants a reason for each file that this version cannot read.
func TestReadRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema":3}`: "has schema 3, this version reads up to 2: use a newer attest",
		`{"schema":0}`: "no schema 0",
		`[]`:           "not a file of attest",
		`{"schema":1,"correctness":{"cases":[{"shape":"1,8,512,0"}]}}`: "case 0",
		`{"schema":2,"kernel":{"problem":{"format":"e3m4"}}}`:          "e3m4",
	} {
		if _, err := record.Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if v, err := record.ReadVerdict([]byte(`{"schema":1,"outcome":"MERGE"}`)); err != nil || v.Schema != record.Schema || v.Outcome != record.Merge {
		t.Errorf("a verdict of schema 1: %+v, %v", v, err)
	}
	if _, err := record.ReadVerdict([]byte(`{"schema":3}`)); err == nil || !strings.Contains(err.Error(), "schema 3") {
		t.Errorf("a verdict of schema 3: %v", err)
	}
}

// TestRoundTrip wants a record to be read as it was written.
func TestRoundTrip(t *testing.T) {
	r := recordtest.New("stage1")
	recordtest.Racy(r)
	recordtest.Wrong(r, problem.Square(2, 2, 40, 64))
	r.Defects.Refused = []record.Refusal{{Shape: problem.Square(1, 1, 33, 64), Why: "no"}}
	r.Kernel.Problem.D = 64
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := record.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(back)
	if err != nil || string(again) != string(text) {
		t.Errorf("%v\n%s\nis read as\n%s", err, text, again)
	}
	if back.Kernel.Problem != r.Kernel.Problem {
		t.Errorf("%v is read as %v", r.Kernel.Problem, back.Kernel.Problem)
	}
}
