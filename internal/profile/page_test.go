package profile

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/predict"
	"github.com/GOATnote-Inc/attest/internal/predict/machine"
	"github.com/GOATnote-Inc/attest/internal/predict/timeline"
)

// fourTracks is a timeline of one block of 4 µs: two warps with roles, copies and products.
var fourTracks = []timeline.Track{
	{Warp: timeline.Products, Spans: []timeline.Span{{From: 2, To: 3}}},
	{Warp: timeline.Copies, Spans: []timeline.Span{{From: 0.5, To: 1}, {From: 0.75, To: 1.5}}},
	{Warp: 0, Role: "loads", Spans: []timeline.Span{{From: 0, To: 1, Why: machine.Issue}}},
	{Warp: 1, Role: "computes", Spans: []timeline.Span{{From: 0, To: 1.5, Why: machine.MemoryWait}, {From: 1.5, To: 2, Why: machine.Issue}, {From: 2, To: 3, Why: machine.Products}, {From: 3, To: 4, Why: machine.Issue}}},
	{Block: 1, Warp: 0, Spans: []timeline.Span{{From: 1, To: 2, Why: machine.Special}}},
	{Block: 2, Warp: 0, Spans: []timeline.Span{{From: 0, To: 9, Why: machine.Special}}}, // beyond the blocks that are drawn
}

// TestPictures checks where the strips have which colour.
func TestPictures(t *testing.T) {
	list := pictures(fourTracks)
	if len(list) != 2 {
		t.Fatalf("%d pictures, want the whole and a part", len(list))
	}
	whole := list[0]
	if len(whole.Rows) != 5 || whole.Rows[3].Name != "1 computes" || whole.Rows[3].Busy != "38 %" || !whole.Rows[4].First || whole.Rows[3].First {
		t.Fatalf("rows %+v", whole.Rows)
	}
	want := map[string]string{"r-issue": "M180 0h60v1h-60zM360 0h120v1h-120z", "r-memory": "M0 0h180v1h-180z", "r-tensor-cores": "M240 0h120v1h-120z"}
	for _, m := range whole.Rows[3].Marks {
		if want[m.Class] != m.Path {
			t.Errorf("%s is %q, want %q", m.Class, m.Path, want[m.Class])
		}
		delete(want, m.Class)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	if m := whole.Rows[1].Marks; m[0].Class != "flight" || m[0].Path != "M60 0h120v1h-120z" {
		t.Errorf("two copies that overlap are %+v", m)
	}
	part := list[1]
	if m := part.Rows[3].Marks; len(m) != 2 || m[0].Class != "r-issue" || m[0].Path != "M0 0h240v1h-240z" {
		t.Errorf("the time from 1.8 to 2.2 µs is %+v", m)
	}
	if n := len(whole.Ticks); n < 4 || n > 11 || whole.Ticks[1].Name != "0.5" || whole.Ticks[1].At != "left:12.50%" {
		t.Errorf("ticks %+v", whole.Ticks)
	}
	if pictures(nil) != nil || len(pictures(fourTracks[4:5])) != 1 {
		t.Error("an empty timeline has a picture, or a short one has a part")
	}
}

// TestPage compares the page with a file and checks that it is well formed, fetches nothing and runs
// nothing, also when names contain markup.
func TestPage(t *testing.T) {
	r := &Report{Kernel: "<b>kernel</b>", Predicted: &predict.Profile{
		Chip: "H200 (132 SMs at 1980 MHz)", Micros: 5, Low: 4.5, High: 6, Floor: 2, Limit: predict.Exp,
		Reasons: []predict.Spent{{Reason: "launch", Micros: 1}, {Reason: "issue", Micros: 3.99}, {Reason: "barrier", Micros: 0.01}},
		Phases:  []predict.Part{{Name: "<i>a.go</i>", Micros: 4, Share: 0.8, Reasons: []predict.Spent{{Reason: "issue", Micros: 3}}}},
		Lines:   []predict.Part{{Name: "fma.rn.f32", Source: "x/a.go:3:1", Line: 12, Micros: 4, Share: 0.8}},
	}}
	p := &page{Report: r, Title: "1 launch", Pictures: pictures(fourTracks), Dropped: 3, Phases: r.Predicted.Phases, Lines: r.Predicted.Lines}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, bad := range []string{"<script", "http://", "https://", "url(", "<b>", "<i>", "ZgotmplZ"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	wellFormed(t, text)
	const golden = "testdata/page.html"
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(want, out.Bytes()) {
		if *update {
			if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("the page differs from %s: look at the change, then run the test with -update", golden)
	}
}

// wellFormed checks that all tags of a page are closed.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!DOCTYPE html>")))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWriteHTML draws the timeline of a kernel whose warps have roles.
func TestWriteHTML(t *testing.T) {
	x := &timeline.Timeline{}
	r := profiled(t, "hopper-pair", Options{Timeline: x})
	var out bytes.Buffer
	if err := r.WriteHTML(&out, x); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, out.String())
	for _, want := range []string{">0 loads<", ">1 moves<", ">4 computes<", ">products<", ">copies<", `class="r-special-functions"`, `class="r-memory"`, "PREDICTED"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q on the page", want)
		}
	}
}
