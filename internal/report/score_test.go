package report

import (
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

// score returns a score with one killed mutant, one wrong survivor and one equivalent mutant.
func score(name string, killed int) *record.Score {
	s := &record.Score{Schema: record.Schema, Kernel: record.Kernel{Name: name, Format: "e4m3", Target: "sm_90a", SHA256: "abcdef0123456789"}, Plan: "quick", Build: record.Build{Time: time.Unix(0, 0)}}
	for range killed {
		s.Add(record.Mutant{Operator: "compare", Region: "main loop", Fate: record.Killed, By: "defects"})
	}
	s.Add(record.Mutant{Operator: "opcode", Region: "epilogue", Fate: record.Survived, Line: 7, Source: "k.cu:3", Before: "add;", After: "sub;", Why: "larger errors", At: "1,2,3,64"})
	s.Add(record.Mutant{Operator: "sync-remove", Region: "prologue", Fate: record.Equivalent, Line: 2, Before: "bar.sync 0;"})
	return s
}

// TestScores wants the newest score of each kernel on the page, in Markdown and on the terminal.
func TestScores(t *testing.T) {
	c := &evidence.Contents{Check: &evidence.Check{}}
	r := &record.Record{Kernel: record.Kernel{Name: "k"}, Build: record.Build{Time: time.Unix(0, 0)}}
	c.Items = append(c.Items, &evidence.Item{Hash: "k", Record: r})
	for _, killed := range []int{1, 3} {
		c.Scores = append(c.Scores, evidence.ScoreOfKernel{Score: score("k", killed)})
	}
	c.Scores = append(c.Scores, evidence.ScoreOfKernel{Score: score("other", 9)})
	v := New(c)
	var page, text strings.Builder
	if err := v.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	v.WriteText(&text, term.Style{})
	for name, got := range map[string]string{"page": page.String(), "text": text.String(), "Markdown": v.Compare()} {
		for _, want := range []string{"75.0 %", "90.0 %"} {
			if !strings.Contains(got, want) {
				t.Errorf("the %s lacks %s", name, want)
			}
		}
		if strings.Contains(got, "50.0 %") {
			t.Errorf("the %s has an older score", name)
		}
	}
	if !strings.Contains(page.String(), "<h2>Mutation scores</h2>") {
		t.Error("the page has no section")
	}
}

// TestSample wants a score of limited time to state how large the sample was.
func TestSample(t *testing.T) {
	s := score("k", 3)
	for _, c := range []struct {
		planned    int
		cell, line string
	}{
		{0, "5", ""}, // an older score
		{5, "5", ""},
		{6, "5 of 6", "  limited time: the first 5 of the 6 mutants of the sample were tried\n"},
	} {
		s.Planned = c.planned
		v := New(&evidence.Contents{Check: &evidence.Check{}, Scores: []evidence.ScoreOfKernel{{Score: s}}})
		if got := v.ScoreTable().Rows[0][8].Text; got != c.cell {
			t.Errorf("%d planned: %q, want %q", c.planned, got, c.cell)
		}
		var b strings.Builder
		WriteScore(&b, s, func(record.Mutant) string { return "" }, term.Style{})
		if has := strings.Contains(b.String(), "limited time"); has != (c.line != "") || !strings.Contains(b.String(), c.line) {
			t.Errorf("%d planned: no %q in\n%s", c.planned, c.line, b.String())
		}
	}
}

// TestWriteScore wants the table, the survivors and the score in words.
func TestWriteScore(t *testing.T) {
	var b strings.Builder
	s := score("k", 3)
	WriteScore(&b, s, func(record.Mutant) string { return "mutants/k-7.ptx" }, term.Style{})
	for _, want := range []string{
		"operator     prologue  main loop  epilogue  killed  wrong  equivalent  accurate\n",
		"compare           0/0        3/3       0/0       3      0           0         0\n",
		"all               0/0        3/3       0/1       3      1           1         0\n",
		"killed by: defects 3\n",
		"wrong survivor: opcode, epilogue, line 7 (k.cu:3)\n    add; becomes sub;\n    1,2,3,64: larger errors\n    mutants/k-7.ptx\n",
		"equivalent, in the synchronisation:\n    line 2: bar.sync 0; is removed\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	title, why, _ := ScoreLines(s)
	if title != "score 75.0 %" || why != "3 of 4 wrong mutants killed (95 % interval 30.1 to 95.4 %); 1 equivalent (not proven wrong)" {
		t.Errorf("%s: %s", title, why)
	}
}
