package problem

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestAttentionDefaults(t *testing.T) {
	p := Attention{Shape: Shape{B: 1, Hq: 8, Sq: 512, D: 64}}.Filled()
	want := Attention{Shape: Square(1, 8, 512, 64), Format: E4M3, Output: F16, Scaling: PerHead, Layout: BHSD}
	if p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	if h := (Attention{Shape: Square(1, 1, 1, 64), Format: F16}).Filled(); h.Scaling != NoScale {
		t.Errorf("halves have scales: %+v", h)
	}
	if len(p.Uses()) != 0 || p.LogitScale() != 0.125 || p.String() != "1,8,512,64" {
		t.Errorf("%v uses %v with scale %v", p, p.Uses(), p.LogitScale())
	}
}

// TestAttentionJSON: the embedded shape must not make a text of the whole problem.
func TestAttentionJSON(t *testing.T) {
	p := Attention{Shape: Shape{B: 2, Hq: 8, Hkv: 2, Sq: 1, Skv: 77, D: 128}, Format: E5M2, Output: BF16, Causal: true, LSE: true, Scale: 0.5, Softcap: 2, Sinks: true, Bias: F16, Rope: RotateHalves}.Filled()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), `"shape":"2,8/2,1/77,128"`) || !strings.Contains(string(text), `"causal":true`) {
		t.Errorf("%s", text)
	}
	var again Attention
	if err := json.Unmarshal(text, &again); err != nil || again != p {
		t.Errorf("%+v, %v", again, err)
	}
	if err := json.Unmarshal([]byte(`{"shape":"1,8,512,64","format":"fp4"}`), &again); err == nil {
		t.Error("a format that does not exist is read")
	}
}

func TestFacts(t *testing.T) {
	for _, p := range []Attention{
		{Shape: Square(1, 1, 1, 64)}, {Shape: Square(1, 1, 1, 128), Format: U8, Output: BF16, LSE: true},
		{Shape: Square(1, 1, 1, 96), Format: BF16, Output: F32, Layout: BSHD, Causal: true}, {Shape: Square(1, 1, 1, 64), Scaling: PerTensor},
		{Shape: Square(1, 1, 1, 64), Scaling: PerToken, Queries: Packed, Keys: Paged}, {Shape: Square(1, 1, 1, 64), Scaling: PerBlock, ScaleBlockQ: 128, ScaleBlockKV: 64},
		{Shape: Square(1, 1, 1, 64), Masked: true, Queries: Padded, Keys: Packed, Sinks: true},
		{Shape: Square(1, 1, 1, 64), Masked: true, MaskBits: true}, {Shape: Square(1, 1, 1, 64), FormatQ: F16, Scaling: PerPage, Keys: Paged}, {Shape: Square(1, 1, 1, 64), FormatQ: BF16, Format: E5M2},
		{Shape: Square(1, 1, 1, 64), Scaling: PerBatch, Bias: BF16, Rope: RotatePairs},
		{Shape: Square(1, 1, 1, 64), Keys: Padded, Appends: true}, {Shape: Shape{B: 1, Hq: 1, Hkv: 1, Sq: 1, Skv: 1, D: 192, DV: 128}},
	} {
		p = p.Filled()
		back, err := FromFacts(p.Facts())
		if err != nil {
			t.Fatal(err)
		}
		if back.HeadDim() != p.HeadDim() {
			t.Errorf("%v comes back with head dimension %v", p, back.HeadDim())
		}
		back.Shape, back.Batch = p.Shape, p.Batch
		if back != p {
			t.Errorf("%+v comes back as %+v", p, back)
		}
	}
	// Every field that is not a size is a fact, a feature or a name in expressions.
	known := []string{"Shape", "Format", "FormatQ", "Output", "Scaling", "Layout", "Causal", "LSE", "Scale", "Window", "Softcap", "Sinks",
		"Masked", "MaskBits", "Bias", "Rope", "Queries", "Keys", "Appends", "ScaleBlockQ", "ScaleBlockKV", "Batch", "Gaps"}
	for i := range reflect.TypeFor[Attention]().NumField() {
		if f := reflect.TypeFor[Attention]().Field(i).Name; !slices.Contains(known, f) {
			t.Errorf("is %s a fact, a feature or a name? Facts, Uses, Names and json.go must know it", f)
		}
	}
}

func TestUses(t *testing.T) {
	p := Attention{Shape: Shape{B: 1, Hq: 4, Hkv: 2, Sq: 3, Skv: 5, D: 64}, Causal: true, LSE: true, Scale: 1}
	if got := strings.Join(p.Uses(), " "); got != "grouped-heads cross-lengths causal lse scale" {
		t.Error(got)
	}
	p = Attention{Shape: Square(1, 4, 3, 64), FormatQ: BF16, Window: NewWindow(4, 0), Softcap: 30, Sinks: true}
	if got := strings.Join(p.Uses(), " "); got != "window softcap sinks mixed" {
		t.Error(got)
	}
	for _, dv := range []int{0, 64, 128} {
		p = Attention{Shape: Shape{B: 1, Hq: 4, Sq: 3, D: 64, DV: dv}}
		if got := slices.Contains(p.Uses(), ValueHeadDim); got != (dv == 128) {
			t.Errorf("DV = %d uses %v", dv, p.Uses())
		}
		if got, want := p.Names()["DV"].Int64(), max(dv, 64); got != int64(want) {
			t.Errorf("DV = %d is %d in expressions", dv, got)
		}
	}
}

// TestSees tries the edges of windows: wider than the sequence, of one key, and of queries that
// see nothing.
func TestSees(t *testing.T) {
	for _, c := range []struct {
		a           Attention
		query       int
		first, last int
	}{
		{Attention{Shape: Shape{Sq: 4, Skv: 10}}, 0, 0, 10},
		{Attention{Shape: Shape{Sq: 4, Skv: 10}, Causal: true}, 0, 0, 7},
		{Attention{Shape: Shape{Sq: 4, Skv: 10}, Window: NewWindow(-1, 0)}, 0, 0, 7},
		{Attention{Shape: Shape{Sq: 4, Skv: 10}, Window: NewWindow(2, 1)}, 3, 7, 10},
		{Attention{Shape: Shape{Sq: 4, Skv: 10}, Window: NewWindow(2, 1)}, 0, 4, 8},
		{Attention{Shape: Shape{Sq: 4, Skv: 10}, Window: NewWindow(0, 0)}, 1, 7, 8},
		{Attention{Shape: Shape{Sq: 4, Skv: 10}, Window: NewWindow(100, 100)}, 1, 0, 10},
		{Attention{Shape: Shape{Sq: 4, Skv: 10}, Window: NewWindow(0, math.MaxInt)}, 1, 7, 10},
		{Attention{Shape: Shape{Sq: 10, Skv: 4}, Window: NewWindow(math.MaxInt, 0)}, 0, 0, 0},
		{Attention{Shape: Shape{Sq: 10, Skv: 4}, Window: NewWindow(math.MaxInt, 0)}, 8, 0, 3},
		{Attention{Shape: Shape{Sq: 10, Skv: 4}, Causal: true}, 2, 0, 0},
		{Attention{Shape: Shape{Sq: 10, Skv: 4}, Window: NewWindow(1, 1)}, 4, 0, 0},
		{Attention{Shape: Shape{Sq: 10, Skv: 4}, Window: NewWindow(1, 1)}, 5, 0, 1},
	} {
		if first, last := c.a.Sees(0, c.query); first != c.first || last != c.last {
			t.Errorf("%+v, query %d sees [%d, %d), want [%d, %d)", c.a, c.query, first, last, c.first, c.last)
		}
	}
}

func TestWindowText(t *testing.T) {
	for _, w := range []Window{{}, NewWindow(0, 0), NewWindow(-1, 7), NewWindow(128, -5)} {
		var got Window
		if err := got.UnmarshalText([]byte(w.String())); err != nil || got != w {
			t.Errorf("%v: %v, %v", w, got, err)
		}
	}
	for _, bad := range []string{"", "1", "1,2,3", "a,b", "1, 2x"} {
		if err := new(Window).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q is a window", bad)
		}
	}
}

func TestAttentionRefuses(t *testing.T) {
	for want, change := range map[string]func(*Attention){
		`format "fp4" is not known`:  func(p *Attention) { p.Format = "fp4" },
		`output "e4m3" is not known`: func(p *Attention) { p.Output = E4M3 },
		`scaling "x" is not known`:   func(p *Attention) { p.Scaling = "x" },
		"f16 inputs have no scales":  func(p *Attention) { p.Format, p.Scaling = F16, PerHead },
		`layout "SBHD" is not known`: func(p *Attention) { p.Layout = "SBHD" },
		"scale NaN is not a finite":  func(p *Attention) { p.Scale = math.NaN() },
		"scale -1 is not a finite":   func(p *Attention) { p.Scale = -1 },
		"softcap -1 is not a finite": func(p *Attention) { p.Softcap = -1 },
		"scale 1e-50 is not":         func(p *Attention) { p.Scale = 1e-50 },
		"scale 1e+39 is not":         func(p *Attention) { p.Scale = 1e39 },
		"softcap 1e-46 is not":       func(p *Attention) { p.Softcap = 1e-46 },
		"softcap 1e+300 is not":      func(p *Attention) { p.Softcap = 1e300 },
		"use the window 3,0":         func(p *Attention) { p.Causal, p.Window = true, NewWindow(3, 1) },
		"cannot share":               func(p *Attention) { p.Hq, p.Hkv = 3, 2 },
		"at least 1":                 func(p *Attention) { p.B = 0 },
		"[1,2,3,-1]":                 func(p *Attention) { p.DV = -1 },
	} {
		p := Attention{Shape: Square(1, 2, 3, 64)}
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
