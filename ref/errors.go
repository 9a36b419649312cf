package ref

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/fp8"
)

// Errors describes the differences between numbers and their expected values.
//
// If a number or its expected value is NaN, or one of them is infinite, the element is
// counted in NotFinite and Bad, and Max, Mean and RMSE become [math.MaxFloat64], which is
// above every tolerance.
type Errors struct {
	Elements  int     `json:"elements"`
	Max       float64 `json:"max"`
	Mean      float64 `json:"mean"` // the mean of the magnitudes
	RMSE      float64 `json:"rmse"`
	Bias      float64 `json:"bias"` // mean of the signed errors
	Tol       float64 `json:"tol"`  // the largest error that is allowed
	Bad       int     `json:"bad"`  // number of errors above Tol
	BadShare  float64 `json:"bad_share"`
	NotFinite int     `json:"not_finite"`
	Worst     Element `json:"worst"`

	ByBatch   []Part `json:"by_batch"`
	ByHead    []Part `json:"by_head"`
	ByRowTile []Part `json:"by_row_tile"`
	ByColumn  []Part `json:"by_column"`
}

// Element is one number with its expected value.
type Element struct {
	B    int   `json:"b"`
	H    int   `json:"h"`
	S    int   `json:"s"`
	D    int   `json:"d"`
	Want Float `json:"want"`
	Got  Float `json:"got"`
}

// Part holds the errors of some of the elements.
type Part struct {
	First    int     `json:"first"` // batch, head, row or column that it starts with
	Elements int     `json:"elements"`
	Max      float64 `json:"max"`
	Mean     float64 `json:"mean"`
	Bad      int     `json:"bad"`
}

// CompareOptions are the settings of Compare.
type CompareOptions struct {
	// Tol is the largest error that is allowed.
	Tol float64
	// RowTile is the number of rows per tile in ByRowTile. 0 selects 32.
	RowTile int
}

// Compare measures the errors of an output, in the rows of the result.
func (r *Result) Compare(got Tensor, opt CompareOptions) (*Errors, error) {
	if d := got.Dims(); d != r.Shape.O() {
		return nil, fmt.Errorf("the output is %v, it must be %v", d, r.Shape.O())
	}
	return r.compare(r.O, got, opt)
}

// CompareLSE measures the errors of the log-sum-exp, [B,Hq,Sq].
func (r *Result) CompareLSE(got []float32, opt CompareOptions) (*Errors, error) {
	d := r.Shape.Q()
	d.D = 1
	t, err := F32(d, got)
	if err != nil {
		return nil, fmt.Errorf("lse: %w", err)
	}
	return r.compare(r.LSE, t, opt)
}

func (r *Result) compare(want []float64, got Tensor, opt CompareOptions) (*Errors, error) {
	d := got.Dims()
	if opt.RowTile == 0 {
		opt.RowTile = 32
	}
	if opt.RowTile < 0 || !(opt.Tol >= 0) {
		return nil, fmt.Errorf("a tolerance of %v with tiles of %d rows: neither may be negative", opt.Tol, opt.RowTile)
	}
	c := newCollector(d, opt)
	row := make([]float64, d.D)
	for i, at := range r.Rows {
		got.Row(at.B, at.H, at.S, row)
		for col, g := range row {
			c.add(Element{at.B, at.H, at.S, col, Float(want[i*d.D+col]), Float(g)})
		}
	}
	return c.errors(), nil
}

// sum collects the errors of some elements.
type sum struct {
	elements, bad, notFinite int
	max, abs, squares, bias  float64
}

func (s *sum) add(e float64, bad, finite bool) {
	s.elements++
	if bad {
		s.bad++
	}
	if !finite {
		s.notFinite++
		return
	}
	a := math.Abs(e)
	s.max = max(s.max, a)
	s.abs += a
	s.squares += e * e
	s.bias += e
}

// over returns a mean, or 0 without elements.
func (s *sum) over(total float64) float64 {
	if s.notFinite > 0 {
		return math.MaxFloat64
	}
	return total / float64(max(s.elements, 1))
}

func (s *sum) largest() float64 {
	if s.notFinite > 0 {
		return math.MaxFloat64
	}
	return s.max
}

// collector collects errors: over all elements, and by place.
type collector struct {
	opt                       CompareOptions
	all                       sum
	batch, head, tile, column []sum
	worst                     Element
	worstErr                  float64
}

func newCollector(d fp8.Dims, opt CompareOptions) *collector {
	return &collector{
		opt:   opt,
		batch: make([]sum, d.B), head: make([]sum, d.H), column: make([]sum, d.D),
		tile:     make([]sum, (d.S+opt.RowTile-1)/opt.RowTile),
		worstErr: -1,
	}
}

func (c *collector) add(x Element) {
	e := float64(x.Got - x.Want)
	if x.Got == x.Want {
		e = 0 // also for two equal infinities
	}
	finite := !math.IsNaN(e) && !math.IsInf(e, 0)
	bad := !finite || math.Abs(e) > c.opt.Tol
	for _, s := range []*sum{&c.all, &c.batch[x.B], &c.head[x.H], &c.tile[x.S/c.opt.RowTile], &c.column[x.D]} {
		s.add(e, bad, finite)
	}
	size := math.Inf(1)
	if finite {
		size = math.Abs(e)
	}
	if size > c.worstErr {
		c.worst, c.worstErr = x, size
	}
}

func (c *collector) errors() *Errors {
	a := &c.all
	e := &Errors{
		Elements: a.elements, Max: a.largest(), Mean: a.over(a.abs), RMSE: a.over(a.squares), Bias: a.over(a.bias),
		Tol: c.opt.Tol, Bad: a.bad, BadShare: float64(a.bad) / float64(max(a.elements, 1)), NotFinite: a.notFinite,
		Worst: c.worst, ByBatch: parts(c.batch, 1), ByHead: parts(c.head, 1), ByRowTile: parts(c.tile, c.opt.RowTile), ByColumn: parts(c.column, 1),
	}
	if a.notFinite == 0 {
		e.RMSE = math.Sqrt(e.RMSE)
	}
	return e
}

func parts(sums []sum, step int) (ps []Part) {
	for i := range sums {
		if s := &sums[i]; s.elements > 0 {
			ps = append(ps, Part{First: i * step, Elements: s.elements, Max: s.largest(), Mean: s.over(s.abs), Bad: s.bad})
		}
	}
	return ps
}

// String returns the errors in one line.
func (e *Errors) String() string {
	w := e.Worst
	s := fmt.Sprintf("max %.3g, mean %.3g, rmse %.3g, %d of %d above %.3g", e.Max, e.Mean, e.RMSE, e.Bad, e.Elements, e.Tol)
	if e.NotFinite > 0 {
		s = fmt.Sprintf("%d of %d not finite, %d above %.3g", e.NotFinite, e.Elements, e.Bad, e.Tol)
	}
	return s + fmt.Sprintf("; worst at [%d,%d,%d,%d]: %.6g, want %.6g", w.B, w.H, w.S, w.D, float64(w.Got), float64(w.Want))
}
