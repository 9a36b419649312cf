package errmap

import (
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

func draw(c *record.Case) string {
	var b strings.Builder
	Write(&b, term.Style{}, c, 0.1)
	return b.String()
}

// TestWrite draws a second head that is wrong in its last tile of rows.
func TestWrite(t *testing.T) {
	c := &record.Case{
		Errors: &ref.Errors{Worst: ref.Element{B: 0, H: 1, S: 70, D: 3, Want: 0.5, Got: 1.5}},
		Cause:  "the last tile of keys is left out",
		Map: []record.Tile{
			{Head: 1, RowTile: 2, KVTile: 3, Max: 1, Bad: 5}, {Head: 1, RowTile: 0, KVTile: -1, Max: 0.15, Bad: 1},
			{Head: 0, RowTile: 0, KVTile: -1}, {Head: 0, RowTile: 1, KVTile: -1}, {Head: 0, RowTile: 2, KVTile: -1},
		},
	}
	want := `  errors by batch, head (down) and tile of rows (across); · none too large, █ 0.8 and more
       0, 0  ···
       0, 1  ░·█
  keys to blame  tile 3 (in 1 of 5 tiles of rows)
  worst element  batch 0, head 1, row 70, column 3: 1.5, want 0.5
  likely cause   the last tile of keys is left out
`
	if got := draw(c); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSmall draws errors that are too large and yet below what is called large.
func TestSmall(t *testing.T) {
	c := &record.Case{Map: []record.Tile{{RowTile: 0, Max: 0.008, Bad: 1}, {RowTile: 1}, {RowTile: 2, Max: 0.001, Bad: 1}}}
	if got := draw(c); !strings.Contains(got, "█·░") || !strings.Contains(got, "█ 0.008 and more") {
		t.Errorf("got\n%s", got)
	}
}

// TestLarge has more heads and tiles than a terminal: cells are joined, and the one
// error is still there.
func TestLarge(t *testing.T) {
	c := &record.Case{}
	for h := range 100 {
		for r := range 512 {
			c.Map = append(c.Map, record.Tile{Head: h, RowTile: r, KVTile: -1})
		}
	}
	c.Map[99*512+511].Max = 1e308
	got := draw(c)
	lines := strings.Split(strings.TrimSpace(got), "\n")
	if len(lines) > mostRows+1 {
		t.Errorf("%d lines", len(lines))
	}
	if !strings.Contains(lines[0], "4 heads per line; 8 tiles per letter") {
		t.Errorf("the legend is %q", lines[0])
	}
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, "·█") || strings.Count(got, "█") != 2 {
		t.Errorf("the error is not in the last cell:\n%s", got)
	}
}

func TestNothing(t *testing.T) {
	if got := draw(&record.Case{}); got != "" {
		t.Errorf("a case without anything is %q", got)
	}
}
