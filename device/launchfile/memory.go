package launchfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/GOATnote-Inc/attest/device"
)

// params creates the parameters of a launch and the buffers to which they point.
func (r *Runner) params(l *Launch, call *device.Launch) (uses []use, err error) {
	call.Params = make([]device.Param, len(l.params))
	on := make([]device.Buffer, len(l.params))
	take := func(i int, b *buffer) error {
		u, err := r.place(b)
		if err != nil {
			return b.node.Errorf("%v", err)
		}
		on[i] = u.on
		uses = append(uses, u)
		return nil
	}
	for i := range l.params {
		p := &l.params[i]
		switch {
		case p.bytes != nil:
			call.Params[i] = p.bytes
		case p.buffer != nil:
			if err := take(i, p.buffer); err != nil {
				return nil, err
			}
			call.Params[i] = device.Ptr(on[i])
		case p.tensor.buffer != nil:
			if err := take(i, p.tensor.buffer); err != nil {
				return nil, err
			}
		}
	}
	for i := range l.params {
		if t := l.params[i].tensor; t != nil {
			b := on[i]
			if t.buffer == nil {
				b = on[t.param]
			}
			if call.Params[i], err = r.tensorMap(t, b); err != nil {
				return nil, t.node.Errorf("%v", err)
			}
		}
	}
	return uses, nil
}

// tensorMap encodes a tensor map once its buffer has an address.
func (r *Runner) tensorMap(t *tensor, b device.Buffer) (device.Param, error) {
	d := t.desc
	d.Addr = b.Addr()
	// The dimensions define which bytes the copy engine may read. A buffer that is too small
	// is reported before the kernel runs.
	last := uint64(d.Type.Bytes())
	for i, n := range d.Dims {
		stride := uint64(d.Type.Bytes())
		if i > 0 {
			stride = d.Strides[i-1]
		}
		if n == 0 || stride > 0 && n-1 > uint64(b.Size())/stride {
			return nil, fmt.Errorf("dimension %d of %d elements does not fit in the buffer's %d bytes", i, n, b.Size())
		}
		last += (n - 1) * stride
	}
	if last > uint64(b.Size()) {
		return nil, fmt.Errorf("the tensor ends at byte %d, and the buffer has %d bytes", last, b.Size())
	}
	m, err := r.Device.TensorMap(d)
	return m.Param(), err
}

// place creates a buffer on the device, or finds the buffer that it refers to. It also reads
// the expected content.
func (r *Runner) place(b *buffer) (u use, err error) {
	u.b = b
	switch {
	case b.ref != "":
		u.on = r.named[b.ref]
	case b.filled:
		u.on, err = r.filled(b.size, b.fill)
	default:
		u.on, err = r.loaded(b.file)
	}
	if err != nil {
		return u, err
	}
	if b.ref == "" {
		r.hold(b.name, u.on)
	}
	if b.expect == "" {
		return u, nil
	}
	if u.want, err = r.read(b.expect); err != nil {
		return u, err
	}
	if int64(len(u.want)) != u.on.Size() {
		return u, fmt.Errorf("the expected content %s has %d bytes, the buffer has %d", b.expect, len(u.want), u.on.Size())
	}
	if len(u.want)%b.elem.size != 0 {
		return u, fmt.Errorf("%s has %d bytes, which is not a whole number of %s elements", b.expect, len(u.want), b.elem.name)
	}
	return u, nil
}

func (r *Runner) filled(size int64, fill byte) (device.Buffer, error) {
	on, err := r.Device.Alloc(size)
	if err != nil {
		return nil, err
	}
	chunk := bytes.Repeat([]byte{fill}, int(min(size, 1<<20)))
	for at := int64(0); at < size; at += int64(len(chunk)) {
		if err := on.Write(at, chunk[:min(size-at, int64(len(chunk)))]); err != nil {
			return nil, errors.Join(err, on.Free())
		}
	}
	return on, nil
}

func (r *Runner) loaded(file string) (device.Buffer, error) {
	data, err := r.read(file)
	if err != nil {
		return nil, err
	}
	on, err := r.Device.Alloc(int64(len(data)))
	if err != nil {
		return nil, err
	}
	if err := on.Write(0, data); err != nil {
		return nil, errors.Join(err, on.Free())
	}
	return on, nil
}

func (r *Runner) read(name string) ([]byte, error) {
	content, err := r.Read(name)
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return nil, fmt.Errorf("%s: %w", name, path.Err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data, err := decode(name, content, r.Device.Info().Memory)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

func (r *Runner) hold(name string, b device.Buffer) {
	if name == "" {
		r.buffers = append(r.buffers, b)
		return
	}
	r.named[name] = b
}

// free frees the buffers that no later launch can refer to. It ignores errors: the
// device frees its memory when it is closed.
func (r *Runner) free() {
	for _, b := range r.buffers {
		b.Free()
	}
	r.buffers = nil
}

func (r *Runner) freeAll() {
	r.free()
	for _, b := range r.named {
		b.Free()
	}
}
