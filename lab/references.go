package lab

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// References keeps the references of cases, so that several kernels share them. It is safe for
// concurrent use. The zero value is empty.
type References struct {
	mu   sync.Mutex
	kept map[string]*reference
}

// reference is the right output of a case, and the impostors that the case catches.
type reference struct {
	original, quantised     *ref.Result
	plain, plainDequantised *ref.Errors
	plainTiles              []ref.Part // the errors of plainDequantised by tile of rows
	plainRows               []float64  // the mean error of each row that is compared
	logits                  float64    // the largest error of a logit
	powers                  []record.Power
}

// find returns a reference, and computes it if it is not kept. A nil References keeps none.
func (r *References) find(ctx context.Context, a *Subject, c Case, in *inputs, rows int) (*reference, error) {
	return r.keep(keyOf(a, c, rows), func() (*reference, error) { return newReference(ctx, a, c, in, rows) })
}

// findBare is find for a case on which no impostor is tried.
func (r *References) findBare(ctx context.Context, a *Subject, c Case, in *inputs, rows int) (*reference, error) {
	return r.keep("bare "+keyOf(a, c, rows), func() (*reference, error) { return bareReference(ctx, a, c, in, rows) })
}

// keyOf returns a text that differs if the references of two cases differ.
func keyOf(a *Subject, c Case, rows int) string {
	return fmt.Sprint(c.Shape, c.Seed, c.Distribution, a.Problem.Format, a.Problem.FormatQ, a.Problem.Scaling, a.P(), a.Accumulator(), a.Problem.Output, a.Problem.Causal, a.Problem.Scale, a.Problem.Window, a.Problem.Softcap, a.Problem.Sinks, a.Problem.Masked, a.Problem.MaskBits, a.Problem.Bias, a.Problem.Rope, a.Problem.ScaleBlockQ, a.Problem.ScaleBlockKV, fmt.Sprintf("%+v", a.Problem.Batch), rows)
}

// keep returns the reference of a key, and makes it if it is not kept.
func (r *References) keep(key string, create func() (*reference, error)) (*reference, error) {
	if r == nil {
		return create()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := r.kept[key]; found != nil {
		return found, nil
	}
	made, err := create()
	if err == nil {
		if r.kept == nil {
			r.kept = map[string]*reference{}
		}
		r.kept[key] = made
	}
	return made, err
}

func newReference(ctx context.Context, a *Subject, c Case, in *inputs, rows int) (*reference, error) {
	r, err := bareReference(ctx, a, c, in, rows)
	if err != nil {
		return nil, err
	}
	return r, r.tryImpostors(ctx, a, c, in)
}

// bareReference returns a reference without impostors.
func bareReference(ctx context.Context, a *Subject, c Case, in *inputs, rows int) (*reference, error) {
	opt := in.options(a)
	if rows > 0 {
		opt.Rows = ref.Rows(a.varied(in.vary).At(c.Shape), rows, c.Seed)
	}
	r := &reference{}
	var err error
	if r.quantised, err = ref.Attention(ctx, in.q, in.k, in.v, opt); err != nil {
		return nil, err
	}
	if r.original = r.quantised; in.original != nil {
		if r.original, err = ref.Attention(ctx, in.original.Q, in.original.K, in.original.V, opt); err != nil {
			return nil, err
		}
	}
	p, err := newPlain(ctx, a, in, r.quantised.Rows)
	if err != nil {
		return nil, err
	}
	if c.Distribution == gate.Biased {
		p.truncate()
	}
	if r.plain, r.plainDequantised, err = r.compare(p); err != nil {
		return nil, err
	}
	r.plainTiles = r.plainDequantised.ByRowTile
	r.plainRows = r.rowErrors(p)
	r.plain, r.plainDequantised, r.logits = whole(r.plain), whole(r.plainDequantised), p.logits
	r.expect(p.spread)
	return r, nil
}

// expect raises the errors of the plain computation to at least the spread of its roundings,
// or twice the spread for the largest error: with few roundings the actual error may happen
// to be zero.
func (r *reference) expect(spread *rowsTensor) {
	e := r.plainDequantised
	var squares float64
	tiles, rows := map[int]float64{}, map[int]int{}
	for i, at := range spread.rows {
		var mean float64
		for _, x := range spread.row(i) {
			squares += x * x
			mean += math.Sqrt(2/math.Pi) * x / float64(spread.dims.D)
			e.Max = max(e.Max, 2*x)
		}
		r.plainRows[i] = max(r.plainRows[i], mean)
		first := at.S - at.S%rowsOfTile
		tiles[first] += mean
		rows[first]++
	}
	e.RMSE = max(e.RMSE, math.Sqrt(squares/float64(max(len(spread.o), 1))))
	for i := range r.plainTiles {
		t := &r.plainTiles[i]
		t.Mean = max(t.Mean, tiles[t.First]/float64(max(rows[t.First], 1)))
	}
}

// compare returns the errors of an output against float64, on the original inputs and on the
// quantised ones.
func (r *reference) compare(got ref.Tensor) (original, quantised *ref.Errors, err error) {
	opt := ref.CompareOptions{Tol: gate.Tolerance.BadAbove, RowTile: rowsOfTile}
	if original, err = r.original.Compare(got, opt); err != nil {
		return nil, nil, err
	}
	quantised, err = r.quantised.Compare(got, opt)
	return original, quantised, err
}

// rowsOfTile is the number of rows in a tile of errors.
const rowsOfTile = 32

// rowErrors returns the mean error on the quantised inputs of each row that is compared.
func (r *reference) rowErrors(got ref.Tensor) []float64 {
	d := r.quantised.Shape.DimV()
	row, means := make([]float64, d), make([]float64, len(r.quantised.Rows))
	for i, at := range r.quantised.Rows {
		got.Row(at.B, at.H, at.S, row)
		for c, x := range row {
			means[i] += math.Abs(x-r.quantised.O[i*d+c]) / float64(d)
		}
	}
	return means
}

// judge fills in the errors of a case.
func (r *reference) judge(c *record.Case, got ref.Tensor) (err error) {
	if c.Errors, c.Dequantised, err = r.compare(got); err != nil {
		return err
	}
	plain := map[int]float64{} // by the first row of a tile: not every tile has a row that is compared
	for i, part := range c.Dequantised.ByRowTile {
		t := record.TileError{First: part.First, Mean: ref.Float(part.Mean), Plain: ref.Float(r.plainTiles[i].Mean)}
		plain[part.First] = r.plainTiles[i].Mean
		// This compares products and not ratios, since the error of the plain computation may be 0.
		if w := c.WorstTile; w == nil || t.Mean*(w.Plain+gate.SlackMean) > w.Mean*(t.Plain+gate.SlackMean) {
			c.WorstTile = &t
		}
	}
	for i, mean := range r.rowErrors(got) {
		row := r.quantised.Rows[i]
		tile := plain[row.S-row.S%rowsOfTile]
		if gate.HalfEqual(c.Distribution) { // half of the rows have much smaller errors than their tile
			tile = r.plainRows[i]
		}
		e := record.RowError{Row: row, Mean: ref.Float(mean), Plain: ref.Float(r.plainRows[i] + tile)}
		lost := math.IsNaN(mean) // NaN is the worst error, although it compares as false
		if w := c.WorstRow; w == nil || lost && !math.IsNaN(float64(w.Mean)) || e.Mean*(w.Plain+gate.SlackMean) > w.Mean*(e.Plain+gate.SlackMean) {
			c.WorstRow = &e
		}
	}
	c.Errors.ByColumn, c.Errors.ByBatch = nil, nil // reports show only heads and tiles of rows
	c.Dequantised = whole(c.Dequantised)
	return nil
}

// tryImpostors judges every impostor like the output of a kernel.
func (r *reference) tryImpostors(ctx context.Context, a *Subject, c Case, in *inputs) error {
	for _, name := range gate.Impostors {
		why := gate.Excuse(name, a.varied(in.vary).At(c.Shape), c.Distribution)
		if why != "" {
			r.powers = append(r.powers, record.Power{Name: name, Why: why})
			continue
		}
		t, err := impostor(ctx, name, a, in, r.quantised)
		if err != nil {
			return fmt.Errorf("impostor %s: %w", name, err)
		}
		if t == nil {
			r.powers = append(r.powers, record.Power{Name: name, Why: "the rows that are compared do not allow it"})
			continue
		}
		judged := r.blank(c)
		if err := r.judge(&judged, t); err != nil {
			return err
		}
		r.powers = append(r.powers, record.Power{Name: name, Caught: len(gate.Within(gate.Tolerance, a.Problem, &judged)) > 0})
	}
	return nil
}

// blank returns a case without errors, with the results of the plain computation.
func (r *reference) blank(c Case) record.Case {
	return record.Case{
		Shape: c.Shape, Name: c.Name, Seed: c.Seed, Distribution: c.Distribution,
		Plain: r.plain, PlainDequantised: r.plainDequantised, Logits: ref.Float(r.logits), Powers: r.powers,
	}
}
