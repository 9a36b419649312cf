package launchfile

import (
	"math"

	"github.com/GOATnote-Inc/attest/internal/jsonpos"
)

// parseBuffer reads a parameter that is a buffer. m is the field that selects this kind.
func parseBuffer(n *jsonpos.Node, m *jsonpos.Field, what string, names map[string]bool) (*buffer, error) {
	if err := n.Only("a buffer", m.Name, "name", "expect", "type", "abs", "rel", "ulp", "save"); err != nil {
		return nil, err
	}
	b := &buffer{node: n, what: what, elem: elemNamed("u8")}
	if err := b.content(m, names); err != nil {
		return nil, err
	}
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
			return nil, err
		}
		if *e.to == "" {
			return nil, f.Errorf("%q is empty: remove the field", e.name)
		}
	}
	if b.name != "" {
		if names[b.name] {
			return nil, n.Field("name").Errorf("there already is a buffer with the name %q", b.name)
		}
		names[b.name] = true
	}
	return b, b.comparison()
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
	case "zeros", "poison":
		b.filled = true
		b.size, err = m.Value.Int(0, math.MaxInt64)
		if m.Name == "poison" {
			b.fill = 0xff
		}
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
