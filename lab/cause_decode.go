package lab

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
	"github.com/GOATnote-Inc/attest/ref"
)

// decoding is a way to read a byte u of the format u8: (u-zero)/divisor·448·scale. The right
// one is (u-128)/127.
type decoding struct{ zero, divisor float64 }

func (d decoding) String() string { return fmt.Sprintf("(u-%g)/%g", d.zero, d.divisor) }

// rightDecoding is the decoding of u8 and u8-legacy.
var rightDecoding = decoding{128, 127}

// wrongDecodings are mistakes that kernels make: the step or the zero of another quantiser.
var wrongDecodings = []decoding{{128, 127.5}, {127.5, 127.5}, {128, 128}, {127.5, 127}, {127, 127}}

// wronglyDecoded lists the combinations of tensors that a kernel may decode wrongly, the smallest
// combinations first. Through the logits, a factor of Q has the same effect as a factor of K.
var wronglyDecoded = []struct {
	q, k, v      bool
	name, scaled string // scaled is the name where the zero is right
	plural       bool
}{
	{v: true, name: "V"},
	{q: true, name: "Q", scaled: "Q or K"},
	{k: true, name: "K", scaled: "Q or K"},
	{q: true, k: true, name: "Q and K", plural: true},
	{q: true, v: true, name: "Q and V", scaled: "V and one of Q and K", plural: true},
	{k: true, v: true, name: "K and V", scaled: "V and one of Q and K", plural: true},
	{q: true, k: true, v: true, name: "Q, K and V", plural: true},
}

// decoded is a tensor as another decoding reads its bytes.
type decoded struct {
	ref.Tensor
	by     decoding
	scales []byte // float32, one per head or one for the tensor
}

// Row writes a row. A value x of the right decoding is (u-128)/127·448·scale.
func (t decoded) Row(b, h, s int, to []float64) {
	t.Tensor.Row(b, h, s, to)
	scale := 1.0
	if n := len(t.scales) / 4; n > 0 {
		scale = float64(math.Float32frombits(binary.LittleEndian.Uint32(t.scales[4*(h%n):])))
	}
	factor := rightDecoding.divisor / t.by.divisor
	shift := (rightDecoding.zero - t.by.zero) / t.by.divisor * 448 * scale
	for i := range to {
		to[i] = to[i]*factor + shift
	}
}

// rowsDecoded is the number of rows on which decodings are compared.
const rowsDecoded = 6

// decoding finds tensors of u8 that the kernel decodes with another step or zero than they
// were encoded with.
func (f *faults) decoding() (string, error) {
	if f.a.Problem.Format.Decoded() != problem.U8 || f.a.Problem.ScaleBlockQ > 0 || len(f.r.quantised.Rows) == 0 {
		return "", nil
	}
	rows := f.someRows()
	before, err := f.distance(rows, f.in.q, f.in.k, f.in.v)
	if err != nil {
		return "", err
	}
	best, found := before/4, ""
	for _, by := range wrongDecodings {
		for _, t := range wronglyDecoded {
			pick := func(wrong bool, x ref.Tensor, scales string) ref.Tensor {
				if !wrong {
					return x
				}
				return decoded{x, by, f.in.data[scales]}
			}
			after, err := f.distance(rows, pick(t.q, f.in.q, "qs"), pick(t.k, f.in.k, "ks"), pick(t.v, f.in.v, "vs"))
			if err != nil {
				return "", err
			}
			if after < 0.9*best { // prefers the earlier, smaller change unless this one is clearly better
				best, found = after, by.blame(t.name, t.scaled, t.plural)
			}
		}
	}
	return found, nil
}

// blame says that tensors are decoded wrongly.
func (d decoding) blame(name, scaled string, plural bool) string {
	is, effect, whose := "is", "", "its"
	if plural {
		is, whose = "are", "their"
	}
	if d.divisor != rightDecoding.divisor {
		effect = fmt.Sprintf(whose+" values are %g/%g = %.4f times the right ones", rightDecoding.divisor, d.divisor, rightDecoding.divisor/d.divisor)
	}
	switch shift := rightDecoding.zero - d.zero; {
	case shift == 0 && scaled != "":
		name = scaled
	case shift != 0 && effect != "":
		effect += fmt.Sprintf(" and %g of a step too large", shift)
	case shift != 0:
		effect = fmt.Sprintf(whose+" values are %g of a step too large", shift)
	}
	return fmt.Sprintf("%s %s decoded as %v, but encoded as %v: %s", name, is, d, rightDecoding, effect)
}

// someRows returns the row with the largest error and others, spread over all rows.
func (f *faults) someRows() []ref.Row {
	all := f.r.quantised.Rows
	var rows []ref.Row
	if len(f.bad) > 0 {
		at, _ := f.worstRow()
		rows = append(rows, at)
	}
	for i := range rowsDecoded {
		if at := all[i*(len(all)-1)/(rowsDecoded-1)]; !slices.Contains(rows, at) {
			rows = append(rows, at)
		}
	}
	return rows
}

// distance returns the root mean square difference between rows of the kernel's output and
// attention over the given tensors.
func (f *faults) distance(rows []ref.Row, q, k, v ref.Tensor) (float64, error) {
	opt := f.in.options(f.a)
	opt.Rows = rows
	r, err := ref.Attention(context.Background(), q, k, v, opt)
	if err != nil {
		return 0, err
	}
	d := f.in.shape.DimV()
	var squares float64
	got := make([]float64, d)
	for i, at := range r.Rows {
		f.got.Row(at.B, at.H, at.S, got)
		for col, x := range got {
			e := x - r.O[i*d+col]
			squares += e * e
		}
	}
	return math.Sqrt(squares / float64(len(r.O))), nil
}

// inconsistentPair returns what is wrong with the quantiser of u8-legacy if a case shows it:
// errors that a consistent pair of quantiser and kernel cannot have. The kernel is right.
func inconsistentPair(a *Subject, c *record.Case, rows []ref.Row) string {
	consistent := c.Of(a.Problem)
	consistent.Format = problem.U8
	bound, ok := gate.Held(consistent, c.Distribution, rows)
	if a.Problem.Format != problem.U8Legacy || !ok || c.Plain.Mean <= bound {
		return ""
	}
	return fmt.Sprintf("the quantiser encodes x from -1 to 1 as u = 127.5·x + 127.5, but the kernel decodes (u-128)/127: values are 127.5/127 = 1.0039 times the right ones and 0.5 of a step too small. "+
		"The mean error is %.3g; with a consistent pair (--format u8) it is at most %.3g", c.Plain.Mean, bound)
}
