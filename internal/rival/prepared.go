package rival

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/timing"
)

// Prepared is a case that is ready to be timed. Several cases can be prepared at a time.
type Prepared struct {
	Case  Case
	Note  string // how the library computes, if it matters
	Bytes int64  // the bytes that a launch reads and writes at least
	r     *Rival
	id    int
}

// Prepare makes the inputs of a case, compiles it and runs it once. The error wraps
// ErrUnsupported if the library does not support the case.
func (r *Rival) Prepare(ctx context.Context, c Case) (*Prepared, error) {
	r.mu.Lock()
	r.cases++
	p := &Prepared{Case: c, r: r, id: r.cases}
	r.mu.Unlock()
	request := map[string]any{
		"op": "prepare", "case": p.id, "q": extents(c.Shape.Q()), "k": extents(c.Shape.K()), "v": extents(c.Shape.V()), "causal": c.Causal,
		"dtype": c.DType, "implementation": c.Implementation, "seed": c.Seed, "inputs": c.Inputs, "scale": c.Scale,
	}
	var answer struct {
		Note  string
		Bytes int64
	}
	if err := r.ask(ctx, request, &answer); err != nil {
		return nil, fmt.Errorf("%s %s %s: %w", r.library, c.Implementation, c.DType, err)
	}
	p.Note, p.Bytes = answer.Note, answer.Bytes
	return p, nil
}

func extents(d fp8.Dims) []int { return []int{d.B, d.H, d.S, d.D} }

// Close frees the memory of the case.
func (p *Prepared) Close() error {
	return p.r.ask(context.Background(), map[string]any{"op": "drop", "case": p.id}, &struct{}{})
}

// Name returns the library, the implementation and the type.
func (p *Prepared) Name() string {
	return p.r.library + " " + p.Case.Implementation + " " + p.Case.DType
}

// Output runs the case once more and compares it with float64. With values, the result holds
// all of O.
func (p *Prepared) Output(ctx context.Context, values bool) (*Output, error) {
	request := map[string]any{"op": "output", "case": p.id}
	out := &Output{}
	if !values {
		return out, p.ask(ctx, request, out)
	}
	var err error
	out.Values, err = p.values(ctx, request, out, p.Case.Shape.O().Len())
	return out, err
}

// Rows runs the case once more and returns some rows of O, one after the other. Each is named by
// its batch, its head and its place in the sequence.
func (p *Prepared) Rows(ctx context.Context, rows [][3]int) ([]float32, error) {
	return p.values(ctx, map[string]any{"op": "rows", "case": p.id, "rows": rows}, &struct{}{}, len(rows)*p.Case.Shape.DimV())
}

// values sends a request whose answer comes with n numbers in a file.
func (p *Prepared) values(ctx context.Context, request map[string]any, answer any, n int) ([]float32, error) {
	file := filepath.Join(p.r.dir, fmt.Sprintf("out%d", p.id))
	defer os.Remove(file)
	request["file"] = file
	if err := p.ask(ctx, request, answer); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if want := 4 * n; len(data) != want {
		return nil, fmt.Errorf("%s: %s of output, want %d", p.Name(), english.Count(len(data), "byte"), want)
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return values, nil
}

// ask sends a request about the case.
func (p *Prepared) ask(ctx context.Context, request map[string]any, answer any) error {
	if err := p.r.ask(ctx, request, answer); err != nil {
		return fmt.Errorf("%s: %w", p.Name(), err)
	}
	return nil
}

// candidate is a case with a method.
type candidate struct {
	*Prepared
	method timing.Method
}

// Candidate returns the case as a candidate for timing.Interleave. It takes one sample to find
// out whether the library supports the method, and how many launches a sample has.
func (p *Prepared) Candidate(ctx context.Context, mode timing.Mode, cache timing.Cache) (timing.Candidate, error) {
	c := &candidate{Prepared: p, method: timing.Method{Mode: mode, Cache: cache}}
	if _, err := c.Sample(ctx, 1); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *candidate) Method() timing.Method { return c.method }

func (c *candidate) WarmUp(ctx context.Context, atLeast time.Duration) error {
	err := c.r.ask(ctx, map[string]any{"op": "warmup", "case": c.id, "ms": atLeast.Milliseconds()}, &struct{}{})
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	return nil
}

func (c *candidate) Sample(ctx context.Context, n int) ([]float64, error) {
	request := map[string]any{"op": "run", "case": c.id, "n": n, "mode": c.method.Mode, "cache": c.method.Cache}
	var answer struct {
		Micros         []float64
		Launches, Sets int
		Clock          string
	}
	if err := c.r.ask(ctx, request, &answer); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	c.method.Launches, c.method.Sets, c.method.Clock = answer.Launches, answer.Sets, answer.Clock
	return answer.Micros, nil
}
