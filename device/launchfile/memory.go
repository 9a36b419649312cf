package launchfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/GOATnote-Inc/attest/device"
)

// params creates the memory of a launch, and then its parameters and pointers, which hold
// addresses of that memory.
func (r *Runner) params(mod device.Module, l *Launch, call *device.Launch) ([]use, error) {
	uses, on, err := r.memory(mod, l)
	if err != nil {
		return nil, err
	}
	for _, u := range uses {
		if err := r.writePointers(mod, u.on, u.b.pointers); err != nil {
			return nil, err
		}
	}
	call.Params = make([]device.Param, len(l.params))
	for i := range l.params {
		if call.Params[i], err = r.param(mod, l, i, on); err != nil {
			return nil, err
		}
	}
	return uses, nil
}

// memory creates the memory of a launch. on has the buffers of its parameters.
func (r *Runner) memory(mod device.Module, l *Launch) (uses []use, on []device.Buffer, err error) {
	take := func(b *buffer) (device.Buffer, error) {
		u, err := r.place(mod, b)
		if err != nil {
			return nil, b.node.Errorf("%v", err)
		}
		uses = append(uses, u)
		return u.on, nil
	}
	for _, b := range l.buffers {
		if _, err := take(b); err != nil {
			return nil, nil, err
		}
	}
	on = make([]device.Buffer, len(l.params))
	for i := range l.params {
		for _, b := range l.params[i].buffers() {
			if on[i], err = take(b); err != nil {
				return nil, nil, err
			}
		}
	}
	return uses, on, nil
}

// param returns the bytes of a parameter.
func (r *Runner) param(mod device.Module, l *Launch, i int, on []device.Buffer) (device.Param, error) {
	p := &l.params[i]
	switch {
	case p.buffer != nil && p.buffer.offset > on[i].Size():
		return nil, p.buffer.node.Errorf("the offset %d is past the end: the buffer has %d bytes", p.buffer.offset, on[i].Size())
	case p.buffer != nil:
		return device.U64(on[i].Addr() + uint64(p.buffer.offset)), nil
	case p.address != nil:
		addr, err := r.resolve(mod, p.address)
		if err != nil {
			return nil, p.address.node.Errorf("%v", err)
		}
		return device.U64(addr), nil
	case p.tensor == nil:
		return r.patched(mod, p)
	}
	b := on[i]
	if p.tensor.buffer == nil {
		b = on[p.tensor.param]
	}
	data, err := r.tensorMap(p.tensor, b)
	if err != nil {
		return nil, p.tensor.node.Errorf("%v", err)
	}
	return data, nil
}

// tensorMap encodes a tensor map once its buffer has an address.
func (r *Runner) tensorMap(t *tensor, b device.Buffer) (device.Param, error) {
	d := t.desc
	size := uint64(b.Size())
	d.Addr = b.Addr()
	if t.buffer != nil {
		if t.buffer.offset > b.Size() {
			return nil, fmt.Errorf("the offset %d is past the end: the buffer has %d bytes", t.buffer.offset, b.Size())
		}
		d.Addr += uint64(t.buffer.offset)
		size -= uint64(t.buffer.offset)
	}
	// The dimensions define which bytes the copy engine may read. A buffer that is too small
	// is reported before the kernel runs.
	last := uint64(d.Type.Bytes())
	for i, n := range d.Dims {
		stride := uint64(d.Type.Bytes())
		if i > 0 {
			stride = d.Strides[i-1]
		}
		if n == 0 || stride > 0 && n-1 > size/stride {
			return nil, fmt.Errorf("dimension %d of %d elements does not fit in the buffer's %d bytes", i, n, size)
		}
		last += (n - 1) * stride
	}
	if last > size {
		return nil, fmt.Errorf("the tensor ends at byte %d, and the buffer has %d bytes", last, size)
	}
	m, err := r.Device.TensorMap(d)
	return m.Param(), err
}

// place creates a buffer on the device, or finds the buffer that it refers to. It also reads
// the expected content.
func (r *Runner) place(mod device.Module, b *buffer) (u use, err error) {
	u.b = b
	switch {
	case b.variable != "":
		u.on, err = r.variable(mod, b)
	case b.ref != "":
		u.on = r.named[b.ref]
	case b.filled:
		u.on, err = r.filled(b.size, b.fill)
		if d, ok := u.on.(device.Undefiner); ok && err == nil && (b.undefined || b.fill != 0) {
			d.Undefine(0, b.size, b.undefined)
		}
	default:
		u.on, err = r.loaded(b.file)
	}
	if err != nil {
		return u, err
	}
	if b.ref == "" && b.variable == "" {
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

// variable returns the memory of a variable of the module, with its new content.
func (r *Runner) variable(mod device.Module, b *buffer) (device.Buffer, error) {
	on, err := mod.Global(b.variable)
	if err != nil {
		return nil, err
	}
	data := b.bytes
	switch {
	case b.filled && b.size > on.Size():
		return nil, fmt.Errorf("the variable has %d bytes, and %d are given", on.Size(), b.size)
	case b.filled:
		data = bytes.Repeat([]byte{b.fill}, int(b.size))
	case b.file != "":
		if data, err = r.read(b.file); err != nil {
			return nil, err
		}
	}
	if int64(len(data)) > on.Size() {
		return nil, fmt.Errorf("the variable has %d bytes, and %d are given", on.Size(), len(data))
	}
	if len(data) == 0 {
		return on, nil
	}
	return on, on.Write(0, data)
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
