package lab

import (
	"bytes"
	"slices"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/kernel"
)

// detachNew takes the new rows out of K and V, for a kernel that appends them. The rows become the
// operands k_new and v_new, and NaN is in their places. The values of the reference stay whole.
func (in *inputs) detachNew(a *Subject) {
	in.after = map[string][]byte{}
	s := in.shape
	for name, dims := range map[string]fp8.Dims{"k": s.K(), "v": s.V()} {
		n := dims.D * a.Problem.Format.Bytes()
		in.after[name] = in.data[name]
		cache := slices.Clone(in.places.KV.Gather(in.data[name], n))
		added := make([]byte, s.B*s.Hkv*s.Sq*n)
		for b, queries := range in.places.Queries {
			for h := range s.Hkv {
				first := (b*s.Hkv+h)*s.Skv + in.places.Keys[b] - queries
				old := cache[first*n : (first+queries)*n]
				copy(added[(b*s.Hkv+h)*s.Sq*n:], old)
				copy(old, filled(int64(len(old)), poison))
			}
		}
		in.data[name], in.data[name+"_new"] = in.places.KV.Scatter(cache, n), in.places.New.Scatter(added, n)
	}
}

// given returns the content that an operand has before each launch: that of an input, or of memory
// that the kernel changes. It returns nil for other operands.
func (b *bench) given(o *operand) []byte {
	if b.in == nil || o.Role.Writable() && o.Role != kernel.InOut {
		return nil
	}
	return b.in.data[o.Name]
}

// restore writes the memory that an earlier launch has changed. It reports whether the operand is
// such memory.
func (b *bench) restore(o *operand) (bool, error) {
	data := b.given(o)
	if o.Role != kernel.InOut || data == nil {
		return false, nil
	}
	return true, o.buffer.Write(o.guard, data)
}

// cacheWrong reports whether K or V differ from what they are with the new rows appended.
func (b *bench) cacheWrong(in *inputs) (bool, error) {
	for name, want := range in.after {
		if have, err := b.read(name); err != nil || !bytes.Equal(have, want) {
			return true, err
		}
	}
	return false, nil
}
