package problem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/english"
)

// Placement says how the sequences of a batch lie in memory, and which of their rows count. Only
// memory holds the lengths of the sequences, so kernels read them from an operand.
type Placement string

// The placements.
const (
	// Uniform sequences all have Sq or Skv rows.
	Uniform Placement = ""
	// Padded sequences have room for Sq or Skv rows each, but only their first rows count.
	Padded Placement = "padded"
	// Packed sequences follow each other without gaps: [total,H,D], or [H,total,D] with the
	// layout BHSD.
	Packed Placement = "packed"
	// Paged sequences lie in pages of PageSize rows, anywhere in memory: [pages,PageSize,H,D],
	// or [pages,H,PageSize,D] with the layout BHSD. Only K and V can be paged.
	Paged Placement = "paged"
)

var (
	queryPlacements = []Placement{Uniform, Padded, Packed}
	keyPlacements   = []Placement{Uniform, Padded, Packed, Paged}
)

// Batch holds the lengths of the sequences of a batch and the sizes of a paged memory. The zero
// value stands for full lengths.
type Batch struct {
	// LengthsQ and LengthsKV are the lengths of the sequences of Q and of K and V. "" means that
	// all sequences are full.
	LengthsQ  Lengths `json:"lengths_q,omitempty"`
	LengthsKV Lengths `json:"lengths_kv,omitempty"`
	PageSize  int     `json:"page_size,omitempty"` // rows; 0 is 16
	// Pages is the number of pages in memory. 0 means as many as the sequences need.
	Pages int `json:"pages,omitempty"`
	// TableWidth is the number of columns of the page table. 0 means as many as a sequence of
	// Skv rows needs.
	TableWidth int `json:"table_width,omitempty"`
}

// mostPage is the most rows of a page. A page of more rows is a mistake, and one page of them may
// not fit into memory.
const mostPage = 1 << 16

// usualPage is the number of rows of a page that vLLM and FlashInfer use most.
const usualPage = 16

// Lengths are the lengths of the sequences of a batch, as numbers with commas: "17,0,64". It is
// a string so that problems can be compared.
type Lengths string

// NewLengths returns lengths.
func NewLengths(list []int) Lengths {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(n)
	}
	return Lengths(strings.Join(words, ","))
}

// of returns the lengths of b sequences; without lengths all are full.
func (l Lengths) of(b, full int) []int {
	if l == "" {
		return slices.Repeat([]int{full}, b)
	}
	var list []int
	for word := range strings.SplitSeq(string(l), ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			n = -1 // check refuses it
		}
		list = append(list, n)
	}
	return list
}

// check refuses lengths that are not b numbers from 0 to full.
func (l Lengths) check(what string, p Placement, b, full int) error {
	if l == "" {
		return nil
	}
	list := l.of(b, full)
	switch {
	case p == Uniform:
		return fmt.Errorf("lengths of %s, but all sequences of %s are full: choose a placement", what, what)
	case len(list) != b:
		return fmt.Errorf("%s of %s for a batch of %d", english.Count(len(list), "length"), what, b)
	}
	for _, n := range list {
		if n < 0 || n > full {
			return fmt.Errorf("length %d of %s: lengths are from 0 to %d", n, what, full)
		}
	}
	return nil
}

// checkBatch refuses placements and sizes that do not fit the problem.
func (a Attention) checkBatch() error {
	switch b := a.Batch; {
	case !slices.Contains(queryPlacements, a.Queries):
		return fmt.Errorf("placement %q of queries is not known: use %s", a.Queries, list(queryPlacements[1:]))
	case !slices.Contains(keyPlacements, a.Keys):
		return fmt.Errorf("placement %q of keys is not known: use %s", a.Keys, list(keyPlacements[1:]))
	case min(b.PageSize, b.Pages, b.TableWidth) < 0:
		return fmt.Errorf("page size %d, %d pages, %d columns: none may be negative", b.PageSize, b.Pages, b.TableWidth)
	case b.PageSize > mostPage:
		return fmt.Errorf("pages of %d rows: use at most %d", b.PageSize, mostPage)
	}
	if err := a.LengthsQ.check("Q", a.Queries, a.B, a.Sq); err != nil {
		return err
	}
	if err := a.LengthsKV.check("K and V", a.Keys, a.B, a.Skv); err != nil {
		return err
	}
	if err := a.checkAppends(); err != nil || a.Keys != Paged {
		return err
	}
	if n := a.pagesUsed(); a.Pages != 0 && a.Pages < n {
		return fmt.Errorf("%d pages, but the sequences need %d", a.Pages, n)
	}
	if n := a.PagesOf(a.Skv); a.TableWidth != 0 && a.TableWidth < n {
		return fmt.Errorf("a page table of %d columns, but a sequence of %d rows has %d pages", a.TableWidth, a.Skv, n)
	}
	return nil
}

// checkAppends refuses new rows of K and V that do not fit their sequences.
func (a Attention) checkAppends() error {
	switch {
	case !a.Appends:
		return nil
	case a.Keys == Packed:
		return fmt.Errorf("new keys of packed sequences: a packed memory has no room for them, use %s or %s keys", Padded, Paged)
	case a.LengthsQ == "" && a.LengthsKV == "":
		if a.Sq > a.Skv {
			return fmt.Errorf("%d new keys in sequences of %d keys", a.Sq, a.Skv)
		}
		return nil
	}
	keys := a.KeyLengths()
	for b, n := range a.QueryLengths() {
		if n > keys[b] {
			return fmt.Errorf("%d new keys in a sequence with %d", n, keys[b])
		}
	}
	return nil
}

// QueryLengths returns the number of rows of Q of each sequence.
func (a Attention) QueryLengths() []int { return a.LengthsQ.of(a.B, a.Sq) }

// KeyLengths returns the number of keys of each sequence.
func (a Attention) KeyLengths() []int { return a.LengthsKV.of(a.B, a.Skv) }

// Ragged reports whether the lengths of the sequences can differ.
func (a Attention) Ragged() bool { return a.Queries != Uniform || a.Keys != Uniform }

// Rows returns the number of rows of O in all heads.
func (a Attention) Rows() int {
	rows, _ := a.LengthsQ.sums(a.B, a.Sq)
	return a.Hq * rows
}

// PagesOf returns the number of pages that a sequence of some rows needs.
func (a Attention) PagesOf(rows int) int {
	if a.PageSize == 0 {
		return 0
	}
	return (rows + a.PageSize - 1) / a.PageSize
}

// pagesUsed returns the number of pages of all sequences.
func (a Attention) pagesUsed() (n int) {
	if a.LengthsKV == "" {
		return a.B * a.PagesOf(a.Skv) // without a list: a batch may be as large as an int
	}
	for _, rows := range a.KeyLengths() {
		n += a.PagesOf(rows)
	}
	return n
}

// batchNames adds the sizes of a batch to the names that expressions may use.
func (a Attention) batchNames(env expr.Env) {
	used := a.pagesUsed()
	pages, width := a.Pages, a.TableWidth
	if pages == 0 {
		pages = used
	}
	if width == 0 {
		width = a.PagesOf(a.Skv)
	}
	totalQ, minQ := a.LengthsQ.sums(a.B, a.Sq)
	totalKV, minKV := a.LengthsKV.sums(a.B, a.Skv)
	env["total_q"], env["total_kv"], env["min_q"], env["min_kv"] = integer(totalQ), integer(totalKV), integer(minQ), integer(minKV)
	env["page_size"], env["pages"], env["max_pages"], env["kv_pages"] = integer(a.PageSize), integer(pages), integer(width), integer(used)
	env["scale_block_q"], env["scale_block_kv"] = integer(a.ScaleBlockQ), integer(a.ScaleBlockKV)
}

// sums returns the sum and the least of the lengths of b sequences.
func (l Lengths) sums(b, full int) (sum, least int) {
	if l == "" {
		return b * full, full
	}
	list := l.of(b, full)
	return total(list), slices.Min(list)
}

func total(list []int) (n int) {
	for _, x := range list {
		n += x
	}
	return n
}
