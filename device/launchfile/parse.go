package launchfile

import (
	"encoding/hex"
	"fmt"
	"math"

	"github.com/GOATnote-Inc/attest/device"
)

// File is the launches of a launch file, in their order.
type File struct {
	Launches []Launch
}

// Launch is one launch.
type Launch struct {
	Entry                string
	Grid, Block, Cluster device.Dim
	Shared               int
	Cooperative          bool
	params               []param
	node                 *node
}

// param is one parameter: bytes, a buffer or a tensor map.
type param struct {
	bytes  device.Param
	buffer *buffer
	tensor *tensor
}

// buffer is device memory that a launch uses.
type buffer struct {
	node *node
	what string // "parameter 2", for reports
	// Exactly one of these says where its content comes from.
	file   string
	ref    string
	filled bool // size bytes, all fill
	fill   byte
	size   int64

	name   string
	expect string
	elem   *elem
	near   *near // nil: bit by bit
	save   string
}

// near is how far an element may be off.
type near struct {
	abs, rel float64
	ulp      uint64
}

// Parse reads a launch file. name stands for it in errors.
func Parse(name string, text []byte) (*File, error) {
	top, err := parseJSON(name, text)
	if err != nil {
		return nil, err
	}
	list, ok := top.value.([]*node)
	if !ok {
		list = []*node{top}
	}
	if len(list) == 0 {
		return nil, top.errorf("there is no launch in the list")
	}
	f := &File{}
	names := map[string]bool{}
	for i, n := range list {
		l, err := parseLaunch(n.in(fmt.Sprintf("launch %d", i)), names)
		if err != nil {
			return nil, err
		}
		f.Launches = append(f.Launches, l)
	}
	return f, nil
}

func parseLaunch(n *node, names map[string]bool) (l Launch, err error) {
	l.node = n
	entry := n.field("entry")
	if entry != nil {
		if l.Entry, err = entry.text(); err != nil {
			return l, err
		}
		n.mark([]string{n.where[0] + " (" + l.Entry + ")"})
	}
	if err := n.only("entry", "grid", "block", "cluster", "shared", "cooperative", "params"); err != nil {
		return l, err
	}
	if entry == nil {
		return l, n.errorf(`no "entry": name the kernel`)
	}
	for _, e := range []struct {
		name string
		to   *device.Dim
	}{{"grid", &l.Grid}, {"block", &l.Block}, {"cluster", &l.Cluster}} {
		*e.to = device.D()
		if d := n.field(e.name); d != nil {
			if *e.to, err = parseDim(d); err != nil {
				return l, err
			}
		}
	}
	if s := n.field("shared"); s != nil {
		v, err := s.count(math.MaxInt32)
		if err != nil {
			return l, err
		}
		l.Shared = int(v)
	}
	if c := n.field("cooperative"); c != nil {
		if l.Cooperative, err = c.truth(); err != nil {
			return l, err
		}
	}
	if p := n.field("params"); p != nil {
		l.params, err = parseParams(p, names)
	}
	return l, err
}

func parseDim(n *node) (device.Dim, error) {
	v, err := counts[int](n, math.MaxInt32)
	if err != nil {
		return device.Dim{}, err
	}
	if len(v) < 1 || len(v) > 3 {
		return device.Dim{}, n.errorf("%d extents, want one to three", len(v))
	}
	for _, x := range v {
		if x == 0 {
			return device.Dim{}, n.errorf("an extent is 0, want at least 1")
		}
	}
	return device.D(v...), nil
}

func parseParams(n *node, names map[string]bool) ([]param, error) {
	list, ok := n.value.([]*node)
	if !ok {
		return nil, n.errorf("%s, want a list of parameters", n.what())
	}
	ps := make([]param, len(list))
	for i, e := range list {
		what := fmt.Sprintf("parameter %d", i)
		p, err := parseParam(e.in(what), what, names)
		if err != nil {
			return nil, err
		}
		ps[i] = p
	}
	for _, p := range ps {
		if p.tensor != nil && p.tensor.buffer == nil {
			if i := p.tensor.param; i >= len(ps) || ps[i].buffer == nil {
				return nil, p.tensor.node.errorf("the tensor map's buffer is parameter %d, which is no buffer of the launch", i)
			}
		}
	}
	return ps, nil
}

// sources are the fields that say what a parameter is; values of elements come on
// top.
var sources = []string{"buffer", "zeros", "poison", "ref", "bytes", "tensormap"}

// source is the one field of an object that says what it is.
func (n *node) source() (*member, error) {
	list, ok := n.value.([]member)
	if !ok {
		return nil, n.errorf("%s, want an object such as {\"i32\": 1}", n.what())
	}
	var found *member
	for i := range list {
		m := &list[i]
		known := elemNamed(m.name) != nil
		for _, s := range sources {
			known = known || s == m.name
		}
		if !known {
			continue
		}
		if found != nil {
			return nil, n.at(m.offset, "%q and %q in one parameter, want one of them", found.name, m.name)
		}
		found = m
	}
	if found == nil && len(list) == 1 {
		return nil, n.at(list[0].offset, "unknown field %q; want one of buffer, zeros, poison, ref, bytes, tensormap or a type: %s", list[0].name, elemNames())
	}
	if found == nil {
		return nil, n.errorf("want one of buffer, zeros, poison, ref, bytes, tensormap or a type: %s", elemNames())
	}
	return found, nil
}

func parseParam(n *node, what string, names map[string]bool) (p param, err error) {
	m, err := n.source()
	if err != nil {
		return p, err
	}
	switch e := elemNamed(m.name); {
	case e != nil:
		if p.bytes, err = parseValue(m.value, e); err != nil {
			return p, err
		}
		return p, n.only(m.name)
	case m.name == "bytes":
		s, err := m.value.text()
		if err != nil {
			return p, err
		}
		if p.bytes, err = hex.DecodeString(s); err != nil {
			return p, m.value.errorf("want hexadecimal digits, two a byte: %v", err)
		}
		return p, n.only(m.name)
	case m.name == "tensormap":
		if p.tensor, err = parseTensor(m.value, what, names); err != nil {
			return p, err
		}
		return p, n.only(m.name)
	}
	p.buffer, err = parseBuffer(n, m, what, names)
	return p, err
}

func parseValue(n *node, e *elem) (device.Param, error) {
	s, err := n.literal()
	if err != nil {
		return nil, err
	}
	bits, err := e.parse(s)
	if err != nil {
		return nil, n.errorf("%v", err)
	}
	return e.append(nil, bits), nil
}
