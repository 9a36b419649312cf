package launchfile

import "math"

// parseBuffer reads a parameter that is a buffer; m is the field that says so.
func parseBuffer(n *node, m *member, what string, names map[string]bool) (*buffer, error) {
	if err := n.only(m.name, "name", "expect", "type", "abs", "rel", "ulp", "save"); err != nil {
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
		f := n.field(e.name)
		if f == nil {
			continue
		}
		var err error
		if *e.to, err = f.text(); err != nil {
			return nil, err
		}
		if *e.to == "" {
			return nil, f.errorf("%q is empty", e.name)
		}
	}
	if b.name != "" {
		if names[b.name] {
			return nil, n.field("name").errorf("a buffer %q is there already", b.name)
		}
		names[b.name] = true
	}
	return b, b.comparison()
}

// content reads where a buffer's first content comes from.
func (b *buffer) content(m *member, names map[string]bool) (err error) {
	switch m.name {
	case "buffer":
		b.file, err = m.value.text()
	case "ref":
		if b.ref, err = m.value.text(); err == nil && !names[b.ref] {
			err = m.value.errorf("no buffer before this one has the name %q", b.ref)
		}
		if err == nil && b.node.field("name") != nil {
			err = b.node.errorf("a ref has a name already")
		}
	case "zeros", "poison":
		var size uint64
		size, err = m.value.count(mostBytes)
		b.filled, b.size = true, int64(size)
		if m.name == "poison" {
			b.fill = 0xff
		}
	}
	return err
}

// comparison reads how the buffer is compared.
func (b *buffer) comparison() error {
	n := b.node
	if t := n.field("type"); t != nil {
		name, err := t.text()
		if err != nil {
			return err
		}
		if b.elem = elemNamed(name); b.elem == nil {
			return t.errorf("no type %q: there are %s", name, elemNames())
		}
	}
	if err := b.tolerances(); err != nil {
		return err
	}
	switch {
	case b.near != nil && n.field("type") == nil:
		return n.errorf(`a tolerance needs a "type": how are the bytes to be read?`)
	case b.near != nil && b.expect == "":
		return n.errorf(`abs, rel and ulp compare with "expect", which is not given`)
	}
	return nil
}

func (b *buffer) tolerances() (err error) {
	var t near
	abs, rel, ulp := b.node.field("abs"), b.node.field("rel"), b.node.field("ulp")
	if abs != nil {
		if t.abs, err = abs.tolerance(); err != nil {
			return err
		}
	}
	if rel != nil {
		if t.rel, err = rel.tolerance(); err != nil {
			return err
		}
	}
	if ulp != nil {
		if t.ulp, err = ulp.count(math.MaxInt64); err != nil {
			return err
		}
	}
	if abs != nil || rel != nil || ulp != nil {
		b.near = &t
	}
	return nil
}
