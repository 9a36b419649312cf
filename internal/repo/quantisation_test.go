package repo

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// quantisation is the document that compares ways to quantise.
const quantisation = "docs/quantisation.md"

// quantisedShape is the problem of its table: a causal prompt.
var quantisedShape = problem.Square(1, 2, 512, 128)

// scalings are the columns of the table. Each is used with K as it is and with centred K.
var scalings = []fp8.Scaling{fp8.PerTensor, fp8.PerHead, fp8.PerBlock(64), fp8.PerBlock(1)}

// TestQuantisationTable checks that the table of errors is what float64 attention gives, and that
// centring does what the document says.
func TestQuantisationTable(t *testing.T) {
	const begin, end = "<!-- errors: written by go test ./internal/repo -update -->\n", "<!-- end of errors -->"
	text := readFile(t, quantisation)
	before, rest, ok := strings.Cut(text, begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the table: add the lines\n%s%s", quantisation, begin, end)
	}
	want := quantisationTable(t)
	if *update {
		writeFile(t, quantisation, before+begin+want+end+after)
	} else if was != want {
		t.Errorf("%s: the table is not today's:\n%s\nrun go test ./internal/repo -run Quantisation -update", quantisation, want)
	}
}

func quantisationTable(t *testing.T) string {
	var out strings.Builder
	normal := map[fp8.Scaling]float64{} // the errors without an offset
	out.WriteString("| inputs |")
	for _, s := range scalings {
		fmt.Fprintf(&out, " %s | centred |", strings.Replace(s.String(), "per-block-1", "per-token", 1))
	}
	out.WriteString("\n|---|" + strings.Repeat("---:|", 2*len(scalings)) + "\n")
	for _, row := range []struct{ label, distribution string }{
		{"normal", "normal"}, {"outliers", "outliers"}, {"drift", "rising"}, {"offset", "offset"}, {"offset and outliers", "offset outliers"},
	} {
		in := modelInputs(t, row.distribution)
		exact := attentionOf(t, in.Q, in.K, in.V)
		fmt.Fprintf(&out, "| %s |", row.label)
		for _, s := range scalings {
			plain, centred := quantisedError(t, in, exact, s, false), quantisedError(t, in, exact, s, true)
			switch row.distribution {
			case "normal":
				normal[s] = plain
			case "offset":
				if !(plain >= 1.3*normal[s] && centred <= 1.05*normal[s]) {
					t.Errorf("offset, %v: error %.3g, centred %.3g, without an offset %.3g", s, plain, centred, normal[s])
				}
			}
			fmt.Fprintf(&out, " %.2g | %.2g |", plain, centred)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// modelInputs generates inputs. "offset" adds 16 to every 32nd column of K: keys of language models have
// such columns.
func modelInputs(t *testing.T, distribution string) *ref.Inputs {
	name, offset := strings.CutPrefix(distribution, "offset")
	if name = strings.TrimSpace(name); name == "" {
		name = "normal"
	}
	in, err := ref.Generate(name, 0, quantisedShape)
	if err != nil {
		t.Fatal(err)
	}
	for i := range in.K.Data {
		if offset && i%in.K.Shape.D%32 == 7 {
			in.K.Data[i] += 16
		}
	}
	return in
}

// quantisedError returns the root mean square error of the output after quantisation.
func quantisedError(t *testing.T, in *ref.Inputs, exact []float64, s fp8.Scaling, centre bool) float64 {
	keys := *in.K
	if centre {
		x, _, err := fp8.Centre(keys.Shape, keys.Data)
		if err != nil {
			t.Fatal(err)
		}
		keys.Data = x
	}
	quantised := ref.Inputs{Shape: in.Shape, Q: in.Q, K: &keys, V: in.V}
	x, err := quantised.Quantise(fp8.E4M3, s)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i, got := range attentionOf(t, x.Q, x.K, x.V) {
		sum += (got - exact[i]) * (got - exact[i])
	}
	return math.Sqrt(sum / float64(len(exact)))
}

func attentionOf(t *testing.T, q, k, v ref.Tensor) []float64 {
	r, err := ref.Attention(context.Background(), q, k, v, ref.Options{Causal: true})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Dims()
	all := make([]float64, d.Len())
	for row := range d.Rows() {
		r.Row(row/d.S/d.H, row/d.S%d.H, row%d.S, all[row*d.D:][:d.D])
	}
	return all
}
