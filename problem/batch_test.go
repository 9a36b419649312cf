package problem

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
)

// ragged returns a problem with packed queries and paged keys.
func ragged() Attention {
	return Attention{
		Shape: Shape{B: 3, Hq: 4, Hkv: 2, Sq: 5, Skv: 40, D: 64}, Causal: true, Queries: Packed, Keys: Paged,
		Batch: Batch{LengthsQ: "5,1,0", LengthsKV: "17,40,0", PageSize: 8, Pages: 11, TableWidth: 7},
	}.Filled()
}

func TestBatch(t *testing.T) {
	p := ragged()
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if p.Rows() != 4*6 || strings.Join(p.Uses(), " ") != "grouped-heads cross-lengths causal ragged paged" {
		t.Errorf("%d rows, uses %v", p.Rows(), p.Uses())
	}
	names := p.Names()
	for name, want := range map[string]int64{
		"total_q": 6, "total_kv": 57, "min_q": 0, "min_kv": 0, "page_size": 8, "pages": 11, "kv_pages": 8, "max_pages": 7,
	} {
		if names[name] != expr.Int(want) {
			t.Errorf("%s is %v, want %d", name, names[name], want)
		}
	}
	for _, c := range []struct{ batch, query, first, last int }{{0, 0, 0, 13}, {0, 4, 0, 17}, {1, 0, 0, 40}, {2, 0, 0, 0}} {
		if first, last := p.Sees(c.batch, c.query); first != c.first || last != c.last {
			t.Errorf("query %d of sequence %d sees [%d, %d), want [%d, %d)", c.query, c.batch, first, last, c.first, c.last)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again Attention
	if err := json.Unmarshal(text, &again); err != nil || again != p {
		t.Errorf("%s comes back as %+v, %v", text, again, err)
	}
	full := Attention{Shape: p.Shape, Queries: Packed, Keys: Paged}.Filled()
	if full.Rows() != 60 || full.Names()["kv_pages"] != expr.Int(9) || full.Names()["max_pages"] != expr.Int(3) {
		t.Errorf("full sequences: %d rows, %v", full.Rows(), full.Names())
	}
}

func TestBatchRefuses(t *testing.T) {
	for want, change := range map[string]func(*Attention){
		`placement "x" of queries`:           func(p *Attention) { p.Queries = "x" },
		`placement "paged" of queries`:       func(p *Attention) { p.Queries = Paged },
		`placement "x" of keys`:              func(p *Attention) { p.Keys = "x" },
		"all sequences of Q are full":        func(p *Attention) { p.Queries = Uniform },
		"2 lengths of Q for a batch of 3":    func(p *Attention) { p.LengthsQ = "5,1" },
		"length 41 of K and V":               func(p *Attention) { p.LengthsKV = "17,41,0" },
		"length -1 of Q":                     func(p *Attention) { p.LengthsQ = "1,x,2" },
		"7 pages, but the sequences need 8":  func(p *Attention) { p.Pages = 7 },
		"a page table of 4 columns":          func(p *Attention) { p.TableWidth = 4 },
		"none may be negative":               func(p *Attention) { p.PageSize = -1 },
		"let the one in memory hide":         func(p *Attention) { p.Masked = true },
		"but scaling is per-head":            func(p *Attention) { p.ScaleBlockKV = 64 },
		"a block has at least one":           func(p *Attention) { p.Scaling = PerBlock },
		"but the keys are not paged":         func(p *Attention) { p.Scaling, p.Keys = PerPage, Packed },
		"f16 queries with keys in bf16":      func(p *Attention) { p.FormatQ, p.Format = F16, BF16 },
		"e5m2 queries with keys in e4m3":     func(p *Attention) { p.FormatQ = E5M2 },
		"packed or paged sequences, whose b": func(p *Attention) { p.Scaling, p.ScaleBlockQ, p.ScaleBlockKV = PerBlock, 64, 64 },
	} {
		p := ragged()
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestAppends refuses new rows that do not fit, and wants the fact and the feature to survive.
func TestAppends(t *testing.T) {
	at := func(sq, skv int, keys Placement, q, kv Lengths) Attention {
		return Attention{Shape: Shape{B: 2, Hq: 2, Hkv: 2, Sq: sq, Skv: skv, D: 16}, Queries: Padded, Keys: keys, Appends: true, Batch: Batch{LengthsQ: q, LengthsKV: kv}}
	}
	for _, c := range []struct {
		a   Attention
		why string
	}{
		{at(3, 3, Padded, "", ""), ""},
		{at(4, 3, Padded, "", ""), "4 new keys in sequences of 3 keys"},
		{at(3, 5, Paged, "3,1", "3,1"), ""},
		{at(3, 5, Paged, "3,2", "3,1"), "2 new keys in a sequence with 1"},
		{at(3, 5, Packed, "", ""), "packed memory has no room"},
		{Attention{Shape: Square(1, 1, 4, 16), Appends: true, Rope: RotateHalves}, "rope and new keys"},
	} {
		if err := c.a.Check(); c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%v: %v, want %q", c.a, err, c.why)
		}
	}
	a := at(3, 5, Paged, "", "")
	if b, err := FromFacts(a.Facts()); err != nil || !b.Appends || !slices.Contains(b.Uses(), AppendedKeys) || !strings.HasSuffix(b.String(), "appends") {
		t.Errorf("%v: %v", b, err)
	}
	text, err := json.Marshal(a)
	var again Attention
	if err = errors.Join(err, json.Unmarshal(text, &again)); err != nil || !again.Appends {
		t.Errorf("%s: %v", text, err)
	}
}
