package problem

import "fmt"

// Window hides the keys that are too far from the query. Query i stands at key i+Skv-Sq, so
// that the last query stands at the last key; it sees at most Left keys before that key, the
// key itself, and at most Right keys after it. The zero value hides nothing, and
// NewWindow(-1, 0) hides what a causal mask hides.
type Window struct {
	left, right int // one more than the limit; 0 is no limit
}

// NewWindow returns a window. A negative number is no limit, as in FlashAttention.
func NewWindow(left, right int) Window { return Window{max(left, -1) + 1, max(right, -1) + 1} }

// Left returns the number of keys before the query's own, -1 without a limit.
func (w Window) Left() int { return w.left - 1 }

// Right returns the number of keys after the query's own, -1 without a limit.
func (w Window) Right() int { return w.right - 1 }

// Limited reports whether the window can hide a key.
func (w Window) Limited() bool { return w != Window{} }

// String returns "left,right".
func (w Window) String() string { return fmt.Sprintf("%d,%d", w.Left(), w.Right()) }

// MarshalText writes "left,right".
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }

// UnmarshalText reads "left,right".
func (w *Window) UnmarshalText(text []byte) error {
	var left, right int
	var rest string
	if n, _ := fmt.Sscanf(string(text)+" ", "%d,%d%s", &left, &right, &rest); n != 2 {
		return fmt.Errorf("window %q: give left,right, where -1 is no limit", text)
	}
	*w = NewWindow(left, right)
	return nil
}

// Sees returns the keys that a query of a sequence sees: those from first up to last, without
// last. The range is empty if first is not below last. A mask in memory can hide more keys.
func (a Attention) Sees(batch, query int) (first, last int) {
	rows, keys := a.Sq, a.Skv
	if a.LengthsQ != "" {
		rows = a.QueryLengths()[batch]
	}
	if a.LengthsKV != "" {
		keys = a.KeyLengths()[batch]
	}
	at := query + keys - rows
	most := rows + keys // a wider window hides nothing, and its limit may be as large as an int
	last = keys
	if a.Causal {
		last = min(last, at+1)
	}
	if r := a.Window.Right(); r >= 0 {
		last = min(last, at+min(r, most)+1)
	}
	if l := a.Window.Left(); l >= 0 {
		first = max(first, at-min(l, most))
	}
	return min(first, keys), max(last, 0)
}
