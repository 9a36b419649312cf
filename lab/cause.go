package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ref"
)

// cause returns the likely cause of the errors from their pattern, or "".
func (f *faults) cause(blamed []*ref.Blame, tried int) (string, error) {
	if len(f.bad) == 0 {
		return f.decoding() // its errors may be small everywhere
	}
	for _, pattern := range []func() (string, error){
		f.notFinite,
		f.oneColumn,
		f.decoding,
		f.factor,
		f.oneKey,
		func() (string, error) { return f.keys(blamed, tried), nil },
		f.logits,
		f.rowsOrHeads,
	} {
		if why, err := pattern(); why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// notFinite finds elements that are NaN or infinite, or were never written.
func (f *faults) notFinite() (string, error) {
	n, infinite := 0, 0
	for _, e := range f.bad {
		if e.missing {
			n++
		}
		if math.IsInf(e.got, 0) {
			infinite++
		}
	}
	if n == 0 {
		return "", nil
	}
	where, _ := f.rowsOrHeads()
	switch {
	case where == "" && n == f.total:
		where = "in all heads and rows"
	case where == "":
		where = fmt.Sprintf("in %d of %d elements, without a pattern", n, f.total)
	}
	if n < len(f.bad) {
		return fmt.Sprintf("%d of %d bad elements are NaN or infinite: %s", n, len(f.bad), where), nil
	}
	what := "NaN"
	switch {
	case infinite == n:
		what = "infinite"
	case infinite > 0:
		what = "NaN or infinite"
	case f.unwritten >= n:
		what = "never written"
	case f.unwritten > 0:
		what = "NaN, or never written"
	}
	return what + ": " + where, nil
}

// counts returns the number of bad elements for each value of a function.
func (f *faults) counts(of func(element) int) map[int]int {
	m := map[int]int{}
	for _, e := range f.bad {
		m[of(e)]++
	}
	return m
}

// oneColumn finds errors in every n-th column, or in a range of columns.
func (f *faults) oneColumn() (string, error) {
	d := f.in.shape.DimV()
	columns := f.counts(func(e element) int { return e.col })
	if len(columns) == d {
		return "", nil
	}
	for _, n := range []int{32, 16, 8, 4, 2} {
		if rest := f.counts(func(e element) int { return e.col % n }); len(rest) == 1 && len(columns) > 1 {
			return f.within(fmt.Sprintf("every %dth column, from column %d on: the layout of a fragment", n, one(rest)))
		}
	}
	order := sorted.Keys(columns)
	if len(order) == 1 {
		return f.within(fmt.Sprintf("only column %d", order[0]))
	}
	if first, last := order[0], order[len(order)-1]; len(columns) <= d/2 && last-first < d/2 {
		return f.within(fmt.Sprintf("columns %d to %d only", first, last))
	}
	return "", nil
}

// within adds the rows or heads where a cause applies.
func (f *faults) within(what string) (string, error) {
	where, err := f.rowsOrHeads()
	if where == "" || err != nil {
		return what, err
	}
	return what + "; " + where, nil
}

func one(m map[int]int) int {
	for k := range m {
		return k
	}
	return 0
}

// list returns numbers as a text: "1, 2 and 7".
func list(m map[int]int) string {
	var words []string
	for _, n := range sorted.Keys(m) {
		words = append(words, strconv.Itoa(n))
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// factor finds an output that is the right one times a constant.
func (f *faults) factor() (string, error) {
	if f.wantWant == 0 || 2*len(f.bad) < f.total {
		return "", nil
	}
	c := f.gotWant / f.wantWant
	for _, e := range f.bad {
		if math.Abs(e.got-c*e.want) > f.limit*max(1, math.Abs(c)) {
			return "", nil
		}
	}
	if math.Abs(c) < 1e-3 {
		return "O is zero everywhere", nil
	}
	return fmt.Sprintf("all of O is %.4g times the right value: a scale of V, or the sum of the softmax", c), nil
}

// keys finds a tile of keys that is left out or counted twice in most of the rows that were
// searched.
func (f *faults) keys(blamed []*ref.Blame, tried int) string {
	count := map[[2]any]int{}
	for _, b := range blamed {
		count[[2]any{b.First, b.Twice}]++
	}
	for _, b := range blamed {
		if 2*count[[2]any{b.First, b.Twice}] <= tried {
			continue
		}
		what := "left out"
		if b.Twice {
			what = "counted twice"
		}
		which := fmt.Sprintf("keys %d to %d are", b.First, b.Last)
		if b.Last == f.in.shape.Skv-1 {
			which = fmt.Sprintf("the last tile of keys, %d to %d, is", b.First, b.Last)
		}
		return which + " " + what
	}
	return ""
}

// worstRow returns the row of the worst finite element, and the output of the kernel there.
func (f *faults) worstRow() (ref.Row, []float64) {
	worst := slices.MaxFunc(f.bad, func(a, b element) int {
		switch x, y := a.size(), b.size(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	row := make([]float64, f.in.shape.DimV())
	f.got.Row(worst.B, worst.H, worst.S, row)
	return worst.Row, row
}

// oneKey finds a single key that is left out or counted twice, as by a mask that is off by
// one. The key must explain the whole error, since one key may be most of a tile.
func (f *faults) oneKey() (string, error) {
	if f.in.shape.Skv < 2 {
		return "", nil
	}
	at, row := f.worstRow()
	b, err := ref.BlameKV(f.in.q, f.in.k, f.in.v, f.in.options(f.a), at, row, 1)
	if err != nil || b == nil || b.After > f.limit {
		return "", err
	}
	what := "left out"
	if b.Twice {
		what = "counted twice"
	}
	if b.First == f.in.shape.Skv-1 {
		return "the last key is " + what + ": a mask that is off by one", nil
	}
	return fmt.Sprintf("key %d is %s", b.First, what), nil
}

// logits finds a softmax whose logits have a wrong factor.
func (f *faults) logits() (string, error) {
	at, row := f.worstRow()
	scale := 1 / math.Sqrt(float64(f.in.shape.D))
	distance := func(times float64) (float64, error) {
		opt := f.in.options(f.a)
		opt.Scale, opt.Rows = scale*times, []ref.Row{at}
		r, err := ref.Attention(context.Background(), f.in.q, f.in.k, f.in.v, opt)
		if err != nil {
			return 0, err
		}
		var most float64
		for i, x := range r.O {
			most = max(most, math.Abs(x-row[i]))
		}
		return most, nil
	}
	before, err := distance(1)
	if err != nil {
		return "", err
	}
	for _, c := range []struct {
		times float64
		what  string
	}{
		{1 / scale, "not scaled: the scale of the softmax"},
		{scale, "scaled twice: the scale of the softmax"},
		{math.Log2E, "1.44 times too large: they are multiplied by log2(e), but the exponential has base e"},
		{math.Ln2, "0.69 times as large as they must be: the exponential has base 2, but they are not multiplied by log2(e)"},
		{2, "twice too large: the scale of the softmax"},
		{0.5, "half as large as they must be: the scale of the softmax"},
	} {
		after, err := distance(c.times)
		if err != nil {
			return "", err
		}
		if after < before/4 {
			return "logits are " + c.what, nil
		}
	}
	return "", nil
}

// rowsOrHeads returns where the errors are, or "" if they are everywhere.
func (f *faults) rowsOrHeads() (string, error) {
	s := f.in.shape
	heads := f.counts(func(e element) int { return e.B*s.Hq + e.H })
	if len(heads) == 1 && s.B*s.Hq > 1 {
		h := one(heads)
		return fmt.Sprintf("only head %d of batch %d", h%s.Hq, h/s.Hq), nil
	}
	if batches := f.counts(func(e element) int { return e.B }); len(batches) == 1 && s.B > 1 {
		return fmt.Sprintf("only batch %d: an offset of Q, K or V", one(batches)), nil
	}
	if names := f.counts(func(e element) int { return e.H }); len(names) < s.Hq && s.B > 1 {
		return fmt.Sprintf("only heads %s, in every batch: a scale or an offset", list(names)), nil
	}
	rows := sorted.Keys(f.counts(func(e element) int { return e.S }))
	first, last := rows[0], rows[len(rows)-1]
	switch {
	case len(rows) == 1:
		return fmt.Sprintf("only row %d", first), nil
	case first > 0 && last == s.Sq-1 && last-first < tileRows:
		return fmt.Sprintf("the last rows, %d to %d", first, last), nil
	}
	for _, block := range []int{128, 64, 32} {
		if warps := f.counts(func(e element) int { return e.S % block / 16 }); len(warps) == 1 && s.Sq > 16 {
			w := one(warps)
			return fmt.Sprintf("rows %d to %d of every %d: the rows of one warp", 16*w, 16*w+15, block), nil
		}
	}
	if last-first < s.Sq/2 {
		return fmt.Sprintf("rows %d to %d", first, last), nil
	}
	return "", nil
}
