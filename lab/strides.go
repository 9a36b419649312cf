package lab

import (
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ref"
)

// spread gives the operands the strides that the kernel wants. Gaps, and operands without elements, hold NaN.
func (in *inputs) spread(a *Subject, p problem.Attention) error {
	plan, err := a.Bind(p, kernel.Chip{}, kernel.Options{Values: anyScales})
	if err != nil {
		return err
	}
	in.strided = map[string]kernel.Memory{}
	for _, m := range plan.Memory {
		if data, given := in.data[m.Name]; given && len(data) == 0 { // no sequence of the batch has rows
			in.data[m.Name] = filled(m.Bytes, poison) // memory has at least one byte
			continue
		}
		if m.Strides == nil {
			continue
		}
		in.strided[m.Name] = m
		if data := in.data[m.Name]; data != nil {
			in.data[m.Name] = m.Strides.Spread(data, m.Bytes, poison)
		}
		if data := in.after[m.Name]; data != nil {
			in.after[m.Name] = m.Strides.Spread(data, m.Bytes, poison)
		}
	}
	return nil
}

// compact returns the elements of an operand without gaps.
func (in *inputs) compact(name string, data []byte) []byte {
	if m, ok := in.strided[name]; ok && data != nil {
		return m.Strides.Compact(data)
	}
	return data
}

// The values of usedBytes.
const (
	gapByte  = 0      // the byte lies between two elements
	usedByte = 1      // the byte belongs to a row of a sequence
	restByte = poison // the byte belongs to a row outside every sequence
)

// usedBytes says what each byte of the outputs is for. An output without gaps and unused rows is
// missing.
func (in *inputs) usedBytes(a *Subject) map[string][]byte {
	used := map[string][]byte{}
	for _, o := range []struct {
		name  string
		rows  ref.RowPlaces
		bytes int // the bytes of a row
	}{{"o", in.places.Q, in.shape.DimV() * a.Problem.Output.Bytes()}, {"lse", in.places.LSE, 4}} {
		m, strided := in.strided[o.name]
		if o.rows.Identity() && !strided {
			continue
		}
		data := o.rows.Scatter(filled(int64(in.shape.Q().Rows()*o.bytes), usedByte), o.bytes)
		if strided {
			data = m.Strides.Spread(data, m.Bytes, gapByte)
		}
		used[o.name] = data
	}
	return used
}

// clearUnused zeroes the bytes of outputs that do not belong to the result, and reports whether a
// gap was written. under holds the bytes from before the launch; with nil, written gaps are not
// looked for.
func (out outputs) clearUnused(used, under map[string][]byte) (written bool) {
	for name, data := range map[string][]byte{"o": out.o, "lse": out.lse} {
		for i, use := range used[name][:min(len(used[name]), len(data))] {
			if use == gapByte && under != nil && data[i] != under[name][i] {
				written = true
			}
			if use != usedByte {
				data[i] = 0
			}
		}
	}
	return written
}
