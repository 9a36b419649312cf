package findingtext

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

// required are the properties that the schema of SARIF 2.1.0 demands of an object,
// by the name of the property that holds it.
var required = map[string][]string{
	"":                 {"version", "runs"},
	"runs":             {"tool"},
	"tool":             {"driver"},
	"driver":           {"name"},
	"rules":            {"id"},
	"invocations":      {"executionSuccessful"},
	"results":          {"message"},
	"message":          {"text"},
	"shortDescription": {"text"},
	"fullDescription":  {"text"},
	"help":             {"text"},
}

// demand checks an object and all below it.
func demand(t *testing.T, at, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range required[name] {
			if _, ok := v[key]; !ok {
				t.Errorf("%s has no %q", at, key)
			}
		}
		for key, child := range v {
			if key != "properties" {
				demand(t, at+"/"+key, key, child)
			}
		}
	case []any:
		for _, child := range v {
			demand(t, at, name, child)
		}
	}
}

func sarif(t *testing.T, l *Log) *sarifLog {
	t.Helper()
	b, err := SARIF(l)
	if err != nil {
		t.Fatal(err)
	}
	var plain any
	if err := json.Unmarshal(b, &plain); err != nil {
		t.Fatal(err)
	}
	demand(t, "", "", plain)
	var log sarifLog
	if err := json.Unmarshal(b, &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("version %q, %d runs", log.Version, len(log.Runs))
	}
	return &log
}

func TestSARIF(t *testing.T) {
	rules := append([]finding.Rule{{Kind: "shared-race"}}, finding.Rules...)
	dir := t.TempDir()
	cu := filepath.Join(dir, "k.cu")
	if err := os.WriteFile(cu, []byte("// µ\nµµ s[i] = x;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := race()
	f.Source = "k.cu:2:6" // in bytes: the s
	f.Waiters = []finding.Waiter{{Place: finding.Place{Pos: ptx.Pos{Line: 7, Col: 2}}, For: "barrier 0"}}
	log := sarif(t, &Log{File: filepath.Join(dir, "k.ptx"), Text: text, ExitCode: 1, Rules: rules, Findings: []finding.Finding{f}})
	run := &log.Runs[0]
	if len(run.Tool.Driver.Rules) != len(rules) {
		t.Errorf("%d rules", len(run.Tool.Driver.Rules))
	}
	r := &run.Results[0]
	if r.RuleID != "shared-race" || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.Level != "error" || r.Count != 32 {
		t.Errorf("result %s of rule %d, level %s, count %d", r.RuleID, r.RuleIndex, r.Level, r.Count)
	}
	for _, want := range []string{"races with", "\nwhy: the two", "\nfix: bar.sync"} {
		if !strings.Contains(r.Message.Text, want) {
			t.Errorf("no %q in %q", want, r.Message.Text)
		}
	}
	at := r.Locations[0]
	if p := at.Physical; !strings.HasPrefix(p.Artifact.URI, "file:///") || p.Region.Line != 6 || p.Region.Column != 2 || p.Region.Snippet.Text != "\tst.shared.u32 [%r2], %r1;" {
		t.Errorf("location is %+v", p)
	}
	if len(at.Logical) != 1 || at.Logical[0].Name != "k" {
		t.Errorf("logical location is %+v", at.Logical)
	}
	var related []string
	for i, loc := range r.Related {
		if loc.ID != i+1 {
			t.Errorf("related location %d has id %d", i, loc.ID)
		}
		related = append(related, loc.Message.Text)
	}
	want := "the source; which is called here; the other access: read of 1 byte at s (shared) by block (1,0,0), warp 0, lane 7; " +
		"the source of that; block (0,0,0), warp 0 waits for barrier 0"
	if got := strings.Join(related, "; "); got != want {
		t.Errorf("related locations\n%s\nwant\n%s", got, want)
	}
	if p := r.Related[0].Physical; !strings.HasSuffix(p.Artifact.URI, "/k.cu") || p.Region.Column != 4 {
		t.Errorf("the source is %+v at column %d, want column 4 in characters", p.Artifact, p.Region.Column)
	}
	if p := r.Related[3].Physical; p.Artifact.URI != "gone.cu" || p.Region.Line != 9 || p.Region.Snippet != nil {
		t.Errorf("the source that is not here is %+v", p)
	}
}

func TestSARIFWithoutFindings(t *testing.T) {
	log := sarif(t, &Log{File: "a b.ptx", Text: text})
	if run := &log.Runs[0]; len(run.Results) != 0 || run.Results == nil || run.Artifacts[0].Location.URI != "a%20b.ptx" {
		t.Errorf("run is %+v", run)
	}
}

// TestSARIFNeedsRules: a kind that nobody explained is not written.
func TestSARIFNeedsRules(t *testing.T) {
	if _, err := SARIF(&Log{Rules: finding.Rules, Findings: []finding.Finding{{Kind: "odd"}}}); err == nil {
		t.Error("no error")
	}
}
