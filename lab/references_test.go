package lab

import (
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// TestFewRows wants a row to be compared with the errors of its own tile, even if most tiles have
// no row that is compared.
func TestFewRows(t *testing.T) {
	s, err := Preset("stage3b", problem.Attention{Format: problem.U8}, kernel.Chip{})
	if err != nil {
		t.Fatal(err)
	}
	c := Case{Shape: problem.Square(1, 2, 700, 64), Seed: 3, Distribution: "normal"}
	in, err := newInputs(s, c)
	if err != nil {
		t.Fatal(err)
	}
	few, err := newReference(t.Context(), s, c, in, 9)
	if err != nil {
		t.Fatal(err)
	}
	if tiles := len(few.plainTiles); tiles >= 700/rowsOfTile {
		t.Fatalf("%d tiles of %d have rows: the test is too easy", tiles, 700/rowsOfTile)
	}
	for i, row := range few.quantised.Rows {
		got := exceptRow(t, s, in, few, row)
		judged := few.blank(c)
		if err := few.judge(&judged, got); err != nil {
			t.Fatal(err)
		}
		if judged.WorstRow.Row != row || judged.WorstTile.First != row.S/rowsOfTile*rowsOfTile {
			t.Fatalf("row %v is wrong: the worst is %v, and of the tiles %d", row, judged.WorstRow.Row, judged.WorstTile.First)
		}
		if want := ref.Float(few.plainRows[i]) + judged.WorstTile.Plain; judged.WorstRow.Plain != want {
			t.Errorf("row %v is held against %g, want %g: its own and its tile's", row, judged.WorstRow.Plain, want)
		}
	}
}

// exceptRow is the plain computation with one wrong row.
func exceptRow(t *testing.T, a *Subject, in *inputs, r *reference, wrong ref.Row) ref.Tensor {
	t.Helper()
	p, err := newPlain(t.Context(), a, in, r.quantised.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return wrongRow{p, wrong}
}

type wrongRow struct {
	ref.Tensor
	at ref.Row
}

func (w wrongRow) Row(b, h, s int, to []float64) {
	w.Tensor.Row(b, h, s, to)
	if w.at == (ref.Row{B: b, H: h, S: s}) {
		to[5] += 9
	}
}
