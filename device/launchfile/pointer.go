package launchfile

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
)

// address is an address that is known only when the launch runs: of a buffer, of a variable of
// the module, or of a function of the module. Exactly one of the names is set.
type address struct {
	node     *jsonpos.Node
	ref      string
	global   string
	function string
	offset   int64
}

// pointer is an address that stands at a byte of a buffer or of a parameter.
type pointer struct {
	address
	at int64
}

// pointerBytes is the size of an address.
const pointerBytes = 8

// addressKinds are the fields that say what an address is the address of.
var addressKinds = []string{"ref", "global", "function"}

// parsePointers reads the list of pointers in a buffer or parameter.
func parsePointers(n *jsonpos.Node) ([]pointer, error) {
	list, err := n.List("pointers")
	if err != nil {
		return nil, err
	}
	ps := make([]pointer, len(list))
	for i, e := range list {
		if err := ps[i].parse(e); err != nil {
			return nil, err
		}
	}
	return ps, nil
}

func (p *pointer) parse(n *jsonpos.Node) error {
	if err := n.Only("a pointer", append([]string{"at", "offset"}, addressKinds...)...); err != nil {
		return err
	}
	at := n.Field("at")
	if at == nil {
		return n.Errorf(`a pointer needs "at", the byte at which it stands`)
	}
	var err error
	if p.at, err = at.Int(0, math.MaxInt64-pointerBytes); err != nil {
		return err
	}
	return p.address.parse(n)
}

// parse reads what the address is the address of, and its offset.
func (a *address) parse(n *jsonpos.Node) (err error) {
	a.node = n
	found := 0
	for i, to := range []*string{&a.ref, &a.global, &a.function} {
		f := n.Field(addressKinds[i])
		if f == nil {
			continue
		}
		if *to, err = f.Text(); err != nil {
			return err
		}
		if *to == "" {
			return f.Errorf("the name is empty")
		}
		found++
	}
	if found != 1 {
		return n.Errorf(`an address needs one of "ref", "global" and "function"`)
	}
	if f := n.Field("offset"); f != nil {
		if a.function != "" {
			return f.Errorf("an address inside a function means nothing: remove the offset")
		}
		a.offset, err = f.Int(0, math.MaxInt64)
	}
	return err
}

// known checks that the buffer of an address exists.
func (a *address) known(names map[string]bool) error {
	if a.ref != "" && !names[a.ref] {
		return a.node.Errorf("no buffer has the name %q", a.ref)
	}
	return nil
}

// allPointers calls visit with every pointer of the launch.
func (l *Launch) allPointers(visit func(*pointer) error) error {
	each := func(ps []pointer) error {
		for i := range ps {
			if err := visit(&ps[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, b := range l.buffers {
		if err := each(b.pointers); err != nil {
			return err
		}
	}
	for i := range l.params {
		p := &l.params[i]
		if err := each(p.pointers); err != nil {
			return err
		}
		for _, b := range p.buffers() {
			if err := each(b.pointers); err != nil {
				return err
			}
		}
	}
	return nil
}

// buffers returns the buffer of a parameter, if it has one.
func (p *param) buffers() []*buffer {
	switch {
	case p.buffer != nil:
		return []*buffer{p.buffer}
	case p.tensor != nil && p.tensor.buffer != nil:
		return []*buffer{p.tensor.buffer}
	}
	return nil
}

// resolve returns the address on the device. An offset may lead to the byte after the last one, as
// in C.
func (r *Runner) resolve(mod device.Module, a *address) (uint64, error) {
	var on device.Buffer
	switch {
	case a.function != "":
		return functionAddress(mod, a.function)
	case a.global != "":
		var err error
		if on, err = mod.Global(a.global); err != nil {
			return 0, err
		}
	default:
		on = r.named[a.ref]
	}
	if a.offset > on.Size() {
		return 0, fmt.Errorf("the offset %d is past the end: there are %d bytes", a.offset, on.Size())
	}
	return on.Addr() + uint64(a.offset), nil
}

// functionAddress returns the address of a device function, if the device can tell.
func functionAddress(mod device.Module, name string) (uint64, error) {
	m, ok := mod.(device.FunctionModule)
	if !ok {
		return 0, fmt.Errorf("the CUDA driver does not tell the address of the function %s: let a variable of the module hold it (.global .u64 f = %[1]s;), or use --device emu", name)
	}
	return m.Function(name)
}

// writePointers writes the pointers of a buffer into it.
func (r *Runner) writePointers(mod device.Module, on device.Buffer, ps []pointer) error {
	for i := range ps {
		p := &ps[i]
		addr, err := r.resolve(mod, &p.address)
		if err != nil {
			return p.node.Errorf("%v", err)
		}
		if p.at+pointerBytes > on.Size() {
			return p.node.Errorf("a pointer at byte %d does not fit: there are %d bytes", p.at, on.Size())
		}
		if err := on.Write(p.at, binary.LittleEndian.AppendUint64(nil, addr)); err != nil {
			return p.node.Errorf("%v", err)
		}
	}
	return nil
}

// patched returns the bytes of a parameter with its pointers and tensor maps.
func (r *Runner) patched(mod device.Module, p *param) (device.Param, error) {
	if len(p.pointers) == 0 && len(p.maps) == 0 {
		return p.bytes, nil
	}
	data := append(device.Param(nil), p.bytes...)
	for i := range p.pointers {
		q := &p.pointers[i]
		addr, err := r.resolve(mod, &q.address)
		if err != nil {
			return nil, q.node.Errorf("%v", err)
		}
		if q.at+pointerBytes > int64(len(data)) {
			return nil, q.node.Errorf("a pointer at byte %d does not fit: there are %d bytes", q.at, len(data))
		}
		binary.LittleEndian.PutUint64(data[q.at:], addr)
	}
	for _, m := range p.maps {
		encoded, err := r.tensorMap(m.tensor, r.named[m.tensor.buffer.ref])
		if err != nil {
			return nil, m.tensor.node.Errorf("%v", err)
		}
		if m.at+int64(len(encoded)) > int64(len(data)) {
			return nil, m.tensor.node.Errorf("a tensor map at byte %d does not fit: it has %d bytes, and there are %d", m.at, len(encoded), len(data))
		}
		copy(data[m.at:], encoded)
	}
	return data, nil
}
