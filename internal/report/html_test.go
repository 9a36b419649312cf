package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
	"github.com/GOATnote-Inc/attest/stats"
	"github.com/GOATnote-Inc/attest/timing"
)

var out = flag.String("out", "", "write the pages into this directory, to look at them")

// store returns a store that fill has filled.
func store(t testing.TB, fill ...func(recordtest.Adder) error) *evidence.Store {
	t.Helper()
	s, err := evidence.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range fill {
		if err := f(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// memory is a store in memory.
type memory struct{ evidence.Contents }

func (m *memory) AddRecord(r *record.Record) (string, error) {
	text, err := json.Marshal(r)
	hash := fmt.Sprintf("%x", sha256.Sum256(text))
	m.Items = append(m.Items, &evidence.Item{Hash: hash, Seq: m.next(), Record: r})
	m.Check.Records++
	return hash, err
}

func (m *memory) AddVerdict(v *record.Verdict) (string, error) {
	for _, item := range m.Items {
		if item.Hash == v.Record {
			item.Verdicts = append(item.Verdicts, evidence.Judgement{Hash: "f" + v.Record[1:], Seq: m.next(), Verdict: v})
		}
	}
	m.Check.Verdicts++
	return "", nil
}

func (m *memory) next() int { m.Check.Entries++; return m.Check.Entries }

func view(t testing.TB, fill ...func(recordtest.Adder) error) *report.View {
	t.Helper()
	m := &memory{evidence.Contents{Check: &evidence.Check{Head: strings.Repeat("0", 64)}}}
	for _, f := range fill {
		if err := f(m); err != nil {
			t.Fatal(err)
		}
	}
	return report.New(&m.Contents)
}

func campaign(days int, speed float64) func(recordtest.Adder) error {
	return func(to recordtest.Adder) error { return recordtest.Campaign(to, days, speed) }
}

// one adds a record, with a verdict if there is an outcome.
func one(r *record.Record, o record.Outcome) func(recordtest.Adder) error {
	return func(to recordtest.Adder) error {
		hash, err := to.AddRecord(r)
		if err != nil || o == "" {
			return err
		}
		red := record.GateName("")
		if o == record.Reject {
			red = record.CorrectnessGate
		}
		_, err = to.AddVerdict(recordtest.Judge(hash, r.Build.Time, o, red, "for a test"))
		return err
	}
}

func html(t testing.TB, v *report.View) string {
	t.Helper()
	var b bytes.Buffer
	if err := v.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestRunIsFirst wants the page of a run to start with the verdicts of that run, and older
// records below, with their machine and date.
func TestRunIsFirst(t *testing.T) {
	v := view(t, campaign(0, 1), recordtest.Laptop)
	var run []string
	for _, item := range v.Items[len(v.Items)-3:] {
		run = append(run, item.Hash)
	}
	var b bytes.Buffer
	if err := v.WriteHTML(&b, run...); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	wellFormed(t, text)
	at := 0
	for _, want := range []string{
		"attest: this run", "This run judged 3 kernels on the emulator, 2026-01-05 09:32 UTC.", `3 <span class="badge correct">CORRECT</span>`,
		"Skipped: no GPU (the emulator does not measure time).", "Earlier records</h2>", "synthetic GPU, 2026-01-05</h3>", `4 <span class="badge merge">MERGE</span>`, "Times: mission",
	} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("no %q after byte %d", want, at)
		}
		at += i
	}
	if strings.Count(text, `<details class="card kernel"`) != 3 {
		t.Error("the details are not those of the run")
	}
}

func TestPages(t *testing.T) {
	damaged := store(t, recordtest.Laptop)
	harm(t, damaged)
	for name, v := range map[string]*report.View{
		"campaign": view(t, campaign(0, 1.4), campaign(9, 1.1), campaign(30, 1)),
		"laptop":   view(t, recordtest.Laptop),
		"empty":    view(t),
		"odd":      view(t, odd()...),
		"damaged":  report.New(damaged.Load()),
	} {
		t.Run(name, func(t *testing.T) {
			text := html(t, v)
			if *out != "" {
				if err := os.WriteFile(filepath.Join(*out, name+".html"), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			wellFormed(t, text)
			if text != html(t, v) {
				t.Error("the same evidence gives another page")
			}
		})
	}
}

// harm damages one object of a store.
func harm(t *testing.T, s *evidence.Store) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.Path(), "objects", "*", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	os.Remove(files[0])
	if err := os.WriteFile(files[0], []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wellFormed checks that tags are closed, that links have targets, that nothing is fetched, and that
// no coordinate is NaN.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Entity = xml.HTMLEntity
	ids, links := map[string]bool{}, map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("at byte %d: %v", d.InputOffset(), err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "id":
				if ids[a.Value] {
					t.Errorf("two elements have the id %q", a.Value)
				}
				ids[a.Value] = true
			case "href":
				target, local := strings.CutPrefix(a.Value, "#")
				if !local {
					t.Errorf("a link leads out of the page: %q", a.Value)
				}
				links[target] = true
			case "src", "srcset", "data", "action":
				t.Errorf("<%s %s=%q> is fetched", start.Name.Local, a.Name.Local, a.Value)
			case "aria-label", "title", "class", "content":
			default:
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("<%s %s=%q>", start.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	for target := range links {
		if !ids[target] {
			t.Errorf("a link to #%s leads nowhere", target)
		}
	}
	for _, word := range []string{"http://", "https://", "@import", "url(", "ZgotmplZ"} {
		if strings.Contains(text, word) {
			t.Errorf("the page has %q", word)
		}
	}
}

// odd returns unusual records that a store may hold.
func odd() (fills []func(recordtest.Adder) error) {
	hostile := recordtest.New(`<script>alert(1)</script> | "a" 'b' #`)
	hostile.Build.Device.Name = `</title><img src=x onerror=alert(1)>`
	hostile.Kernel.Config = map[string]string{"<b>": "\x1b[31m"}
	recordtest.OnGPU(hostile)
	recordtest.Timed(hostile, problem.Square(1, 8, 512, 64), timing.Method{Mode: "graph", Cache: "warm"}, 5, 0, nil)

	bare := recordtest.New("bare")
	recordtest.OnGPU(bare)
	bare.Resources = &record.Resources{}
	bare.Defects = &record.Defects{}
	bare.Correctness = &record.Correctness{Cases: []record.Case{{Shape: problem.Square(1, 1, 1, 1), Failure: "illegal address"}, {Shape: problem.Square(1, 1, 1, 1), Errors: &ref.Errors{Max: math.NaN(), NotFinite: 3}}}}
	bare.Performance = &record.Performance{Shapes: []record.Times{
		{Shape: problem.Square(1, 1, 1, 1)},
		{Shape: problem.Square(1, 1, 32, 64), Summaries: []stats.Summary{{}}, Names: []string{"bare"}, Rivals: []record.Rival{{Name: "nobody"}}},
		{Shape: problem.Square(1, 8, 512, 64), Summaries: []stats.Summary{{P50: 3}}, TFLOPs: []ref.Float{1}, Runs: []timing.Run{{}}},
	}}

	flat := recordtest.New("flat") // all samples are equal
	recordtest.OnGPU(flat)
	recordtest.Timed(flat, problem.Square(1, 1, 32, 64), timing.Method{Mode: "event", Cache: "cold", Clock: "host"}, 2, 0, nil)
	for i := range flat.Performance.Shapes[0].Runs {
		for j := range flat.Performance.Shapes[0].Runs[i].Batches {
			for k := range flat.Performance.Shapes[0].Runs[i].Batches[j].Micros {
				flat.Performance.Shapes[0].Runs[i].Batches[j].Micros[k] = 2
			}
		}
	}
	flat.Performance.Shapes[0].Summaries[0] = stats.Summarise([]float64{2, 2, 2})
	flat.Performance.Ceiling = record.Ceiling{}
	flat.Counters = &record.Counters{Kernel: map[string]float64{"a": 1, "b": 2}, Baseline: map[string]float64{"a": 0}}
	return []func(recordtest.Adder) error{one(hostile, record.Merge), one(bare, record.Reject), one(flat, "")}
}

func TestHostileTextIsHarmless(t *testing.T) {
	v := view(t, odd()...)
	if text := html(t, v); strings.Contains(text, "<script>alert") || strings.Contains(text, "<img") {
		t.Error("a kernel's name became HTML")
	}
	if text := v.Compare(); strings.Contains(text, "<script>") || strings.Contains(text, "\x1b") {
		t.Error("a kernel's name became Markdown's HTML, or an escape sequence")
	}
}

func TestPageShowsWhatItShould(t *testing.T) {
	text := html(t, view(t, campaign(0, 1), campaign(1, 0.9)))
	for what, want := range map[string]string{
		"the last tile of head 7, wrong": `<title>tile 15: 3.30</title>`,
		"its cause":                      "only the last tile of rows is wrong",
		"the roof":                       "800 TFLOP/s, tensor cores",
		"a rival":                        "torch flash f16",
		"the spread of samples":          "300 samples, in order",
		"a short history":                "Kernels with few records",
		"the head of the chain":          "the chain is whole, its head is",
		"the device":                     "on synthetic GPU",
		"the method":                     "graph, cold",
		"the race":                       "[shared-race] at line 530",
		"dark":                           "prefers-color-scheme: dark",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s: %q", what, want)
		}
	}
	if text := html(t, view(t, campaign(0, 1), campaign(1, 0.9), campaign(2, 0.8), campaign(3, 0.8))); !strings.Contains(text, "up to 4 records per kernel") {
		t.Error("the page lacks a chart of the history")
	}
	damaged := store(t, recordtest.Laptop)
	harm(t, damaged)
	if text := html(t, report.New(damaged.Load())); !strings.Contains(text, "Some of the evidence is damaged") {
		t.Error("the page does not tell of damage")
	}
}
