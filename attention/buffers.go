package attention

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
)

// Buffers are the operands of a kernel in the memory of its device.
type Buffers struct {
	Q, K, V    device.Buffer // bytes of the problem's format, [B,H,S,D]; K and V with their own H and S
	Qs, Ks, Vs device.Buffer // float32 scales above zero, one for each head of Q, K and V
	O          device.Buffer // of the problem's output type, [B,H,S,D]
	LSE        device.Buffer // float32 [B,H,S], where the problem asks for it
}

// field is one of the buffers: its name and the bytes it needs.
type field struct {
	name string
	at   *device.Buffer
	size int64
}

// fields are the buffers that a problem needs, in the order of the parameters.
func (b *Buffers) fields(op *Op) []field {
	d, kv := op.Dims(), op.DimsKV()
	n, m, heads, headsKV := int64(d.Len()), int64(kv.Len()), int64(4*d.H), int64(4*kv.H)
	list := []field{
		{"Q", &b.Q, n}, {"K", &b.K, m}, {"V", &b.V, m},
		{"Qs", &b.Qs, heads}, {"Ks", &b.Ks, headsKV}, {"Vs", &b.Vs, headsKV},
		{"O", &b.O, 2 * n},
	}
	if op.problem.LSE {
		list = append(list, field{"LSE", &b.LSE, int64(4 * d.Rows())})
	}
	return list
}

func (b *Buffers) check(op *Op) error {
	for _, f := range b.fields(op) {
		switch buf := *f.at; {
		case buf == nil:
			return fmt.Errorf("buffer %s is missing: it takes %d bytes", f.name, f.size)
		case buf.Size() < f.size:
			return fmt.Errorf("buffer %s has %d bytes, it takes %d", f.name, buf.Size(), f.size)
		case buf.Addr()%16 != 0:
			return fmt.Errorf("buffer %s starts at %#x: kernels read 16 bytes at a time from multiples of 16", f.name, buf.Addr())
		}
	}
	return nil
}

// alloc allocates those that are not there yet.
func (b *Buffers) alloc(op *Op) error {
	for _, f := range b.fields(op) {
		if *f.at != nil {
			continue
		}
		buf, err := op.dev.Alloc(f.size)
		if err != nil {
			return fmt.Errorf("buffer %s: %w", f.name, err)
		}
		*f.at = buf
	}
	return nil
}

func (b *Buffers) free() (err error) {
	for _, at := range []*device.Buffer{&b.Q, &b.K, &b.V, &b.Qs, &b.Ks, &b.Vs, &b.O, &b.LSE} {
		if *at != nil {
			err = errors.Join(err, (*at).Free())
			*at = nil
		}
	}
	return err
}
