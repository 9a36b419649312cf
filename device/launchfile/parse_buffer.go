package launchfile

import (
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/internal/jsonpos"
)

// parseBuffer reads a parameter that is a buffer. m is the field that selects this kind.
func parseBuffer(n *jsonpos.Node, m *jsonpos.Field, what string, names map[string]bool) (*buffer, error) {
	if err := n.Only("a buffer", append([]string{m.Name, "name", "offset", "undefined"}, about...)...); err != nil {
		return nil, err
	}
	b := &buffer{node: n, what: what, elem: elemNamed("u8")}
	if err := b.content(m, names); err != nil {
		return nil, err
	}
	return b, b.rest(names)
}

// about are the fields that say more about any memory than its content.
var about = []string{"expect", "type", "abs", "rel", "ulp", "save", "pointers"}

// parseBuffers reads the buffers that are not parameters, an object from names to buffers.
func (l *Launch) parseBuffers(n *jsonpos.Node, names map[string]bool) error {
	if n.Kind() != jsonpos.Object {
		return n.Expected(`an object such as {"node": {"zeros": 16}}`)
	}
	for _, f := range n.Fields() {
		m, err := source(f.Value)
		if err != nil {
			return err
		}
		switch m.Name {
		case "buffer", "zeros", "poison":
		default:
			return m.Errorf("a buffer has a content of its own: buffer, zeros or poison, not %q", m.Name)
		}
		if f.Value.Field("name") != nil {
			return f.Value.Errorf(`the buffer already has the name %q: remove "name"`, f.Name)
		}
		b, err := parseBuffer(f.Value, m, fmt.Sprintf("buffer %q", f.Name), names)
		if err != nil {
			return err
		}
		if b.name = f.Name; names[b.name] {
			return f.Errorf("there already is a buffer with the name %q", b.name)
		}
		names[b.name] = true
		l.buffers = append(l.buffers, b)
	}
	return nil
}

// parseGlobals reads the variables of the module, an object from their names to their contents.
func (l *Launch) parseGlobals(n *jsonpos.Node) error {
	if n.Kind() != jsonpos.Object {
		return n.Expected(`an object such as {"counter": {"u32": 0}}`)
	}
	for _, f := range n.Fields() {
		v := f.Value
		if v.Kind() != jsonpos.Object {
			return v.Expected(`an object such as {"u32": 0}`)
		}
		b := &buffer{node: v, what: fmt.Sprintf("variable %q", f.Name), variable: f.Name, elem: elemNamed("u8")}
		known := about
		if m, err := source(v); err == nil {
			if err := b.value(m); err != nil {
				return err
			}
			known = append([]string{m.Name}, about...)
		}
		if err := v.Only("a variable", known...); err != nil {
			return err
		}
		if err := b.rest(nil); err != nil {
			return err
		}
		l.buffers = append(l.buffers, b)
	}
	return nil
}

// value reads the content of a variable.
func (b *buffer) value(m *jsonpos.Field) error {
	switch m.Name {
	case "buffer", "zeros", "poison":
		return b.content(m, nil)
	case "ref", "global", "function":
		return m.Errorf(`a pointer is written as "pointers": [{"at": 0, %q: "name"}]`, m.Name)
	case "tensormap":
		return m.Errorf("a tensor map is a parameter, not the content of a variable")
	}
	p, err := parseParam(b.node, b.what, nil)
	b.bytes = p.bytes
	return err
}

// rest reads the fields that describe the memory besides its content.
func (b *buffer) rest(names map[string]bool) error {
	n := b.node
	for _, e := range []struct {
		name string
		to   *string
	}{{"name", &b.name}, {"expect", &b.expect}, {"save", &b.save}} {
		f := n.Field(e.name)
		if f == nil {
			continue
		}
		var err error
		if *e.to, err = f.Text(); err != nil {
			return err
		}
		if *e.to == "" {
			return f.Errorf("%q is empty: remove the field", e.name)
		}
	}
	if b.name != "" {
		if names[b.name] {
			return n.Field("name").Errorf("there already is a buffer with the name %q", b.name)
		}
		names[b.name] = true
	}
	if f := n.Field("pointers"); f != nil {
		var err error
		if b.pointers, err = parsePointers(f); err != nil {
			return err
		}
	}
	return b.comparison()
}

// content reads the initial content of the buffer.
func (b *buffer) content(m *jsonpos.Field, names map[string]bool) (err error) {
	switch m.Name {
	case "buffer":
		b.file, err = m.Value.Text()
	case "ref":
		if b.ref, err = m.Value.Text(); err == nil && !names[b.ref] {
			err = m.Value.Errorf("no earlier buffer has the name %q", b.ref)
		}
		if err == nil && b.node.Field("name") != nil {
			err = b.node.Errorf(`a "ref" already names its buffer: remove "name"`)
		}
		if f := b.node.Field("offset"); f != nil && err == nil {
			b.offset, err = f.Int(0, math.MaxInt64)
		}
	case "zeros", "poison":
		b.filled = true
		b.size, err = m.Value.Int(0, math.MaxInt64)
		if m.Name == "poison" {
			b.fill = 0xff
		}
	}
	if f := b.node.Field("undefined"); f != nil && err == nil {
		if b.undefined, err = f.Bool(); err == nil && !b.filled {
			err = f.Errorf(`"undefined" goes with "zeros" or "poison": other contents are set`)
		}
	}
	if f := b.node.Field("offset"); f != nil && b.ref == "" && err == nil {
		err = f.Errorf(`an offset goes with "ref"`)
	}
	return err
}

// comparison reads the fields that say how the buffer is compared with its expected content.
func (b *buffer) comparison() error {
	n := b.node
	if t := n.Field("type"); t != nil {
		name, err := t.Text()
		if err != nil {
			return err
		}
		if b.elem = elemNamed(name); b.elem == nil {
			return t.Errorf("unknown type %q: the types are %s", name, elemNames())
		}
	}
	if err := b.tolerances(); err != nil {
		return err
	}
	switch {
	case b.tol != nil && n.Field("type") == nil:
		return n.Errorf(`a tolerance needs a "type", which says how to read the bytes`)
	case b.tol != nil && b.expect == "":
		return n.Errorf(`abs, rel and ulp compare with "expect", which is missing`)
	}
	return nil
}

func (b *buffer) tolerances() (err error) {
	var t tolerance
	abs, rel, ulp := b.node.Field("abs"), b.node.Field("rel"), b.node.Field("ulp")
	if abs != nil {
		if t.abs, err = abs.Float(0, math.MaxFloat64); err != nil {
			return err
		}
	}
	if rel != nil {
		if t.rel, err = rel.Float(0, math.MaxFloat64); err != nil {
			return err
		}
	}
	if ulp != nil {
		n, err := ulp.Int(0, math.MaxInt64)
		if err != nil {
			return err
		}
		t.ulp = uint64(n)
	}
	if abs != nil || rel != nil || ulp != nil {
		b.tol = &t
	}
	return nil
}
