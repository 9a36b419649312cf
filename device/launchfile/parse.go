package launchfile

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
)

// Error says what is wrong with a launch file, and at which line and column.
type Error = jsonpos.Error

// File holds the launches of a launch file, in their order.
type File struct {
	Launches []Launch
}

// Launch is one launch.
type Launch struct {
	Entry                string
	Module               string // the PTX file with the entry, "" for Runner.Module
	Grid, Block, Cluster device.Dim
	Shared               int
	Cooperative          bool
	buffers              []*buffer // the buffers that are not parameters, and variables of the module
	params               []param
	node                 *jsonpos.Node
}

// param is one parameter. Exactly one of bytes, buffer, tensor and address is set.
type param struct {
	bytes    device.Param
	pointers []pointer   // the pointers inside bytes
	maps     []placedMap // the tensor maps inside bytes
	buffer   *buffer
	tensor   *tensor
	address  *address
}

// buffer is device memory that a launch uses.
type buffer struct {
	node *jsonpos.Node
	what string // "parameter 2", for reports
	// The content is the content of a file, the buffer with the name ref, or size bytes with
	// the value fill. A variable of the module also takes bytes, or keeps its content.
	file   string
	ref    string
	offset int64 // the offset in the buffer with the name ref
	filled bool
	fill   byte
	// undefined says that no kernel may rely on the content.
	undefined bool
	size      int64
	bytes     []byte

	variable string // the variable of the module whose memory this is, "" for new memory
	pointers []pointer

	name   string
	expect string
	elem   *elem
	tol    *tolerance // nil compares bits
	save   string
}

// tolerance is how much an element may differ from its expected value.
type tolerance struct {
	abs, rel float64
	ulp      uint64
}

// Parse reads a launch file. name is the file's name in errors, which are of type
// *Error.
func Parse(name string, text []byte) (*File, error) {
	top, err := jsonpos.Parse(name, text)
	if err != nil {
		return nil, err
	}
	list := []*jsonpos.Node{top}
	if top.Kind() == jsonpos.Array {
		list = top.Items()
	}
	if len(list) == 0 {
		return nil, top.Errorf("there is no launch in the list")
	}
	f := &File{}
	names := map[string]bool{}
	for i, n := range list {
		n.Label("launch %d", i)
		l, err := parseLaunch(n, i, names)
		if err != nil {
			return nil, err
		}
		f.Launches = append(f.Launches, l)
	}
	return f, nil
}

// parseLaunch reads the launch with an index. names holds the names of earlier buffers.
// parseLaunch adds the names of its own buffers.
func parseLaunch(n *jsonpos.Node, index int, names map[string]bool) (l Launch, err error) {
	l.node = n
	entry := n.Field("entry")
	if entry != nil {
		if l.Entry, err = entry.Text(); err != nil {
			return l, err
		}
		n.Label("launch %d (%s)", index, l.Entry)
	}
	if err := n.Only("a launch", "entry", "grid", "block", "cluster", "shared", "cooperative", "module", "buffers", "globals", "params"); err != nil {
		return l, err
	}
	if entry == nil {
		return l, n.Errorf(`a launch needs "entry", the name of the kernel`)
	}
	for _, e := range []struct {
		name string
		to   *device.Dim
	}{{"grid", &l.Grid}, {"block", &l.Block}, {"cluster", &l.Cluster}} {
		*e.to = device.D()
		if d := n.Field(e.name); d != nil {
			if *e.to, err = parseDim(d); err != nil {
				return l, err
			}
		}
	}
	if s := n.Field("shared"); s != nil {
		v, err := s.Int(0, math.MaxInt32)
		if err != nil {
			return l, err
		}
		l.Shared = int(v)
	}
	if c := n.Field("cooperative"); c != nil {
		if l.Cooperative, err = c.Bool(); err != nil {
			return l, err
		}
	}
	return l, l.memory(names)
}

// memory reads the parameters and all other memory of a launch. Pointers may refer to buffers
// that come later.
func (l *Launch) memory(names map[string]bool) (err error) {
	if m := l.node.Field("module"); m != nil {
		if l.Module, err = m.Text(); err != nil {
			return err
		}
	}
	if b := l.node.Field("buffers"); b != nil {
		if err := l.parseBuffers(b, names); err != nil {
			return err
		}
	}
	if p := l.node.Field("params"); p != nil {
		if l.params, err = parseParams(p, names); err != nil {
			return err
		}
	}
	if g := l.node.Field("globals"); g != nil {
		if err := l.parseGlobals(g); err != nil {
			return err
		}
	}
	return l.allPointers(func(p *pointer) error { return p.known(names) })
}

func parseDim(n *jsonpos.Node) (device.Dim, error) {
	v, err := counts[int](n, math.MaxInt32)
	if err != nil {
		return device.Dim{}, err
	}
	if len(v) < 1 || len(v) > 3 {
		return device.Dim{}, n.Errorf("expected one to three extents, found %d", len(v))
	}
	if slices.Contains(v, 0) {
		return device.Dim{}, n.Errorf("an extent is 0: it must be at least 1")
	}
	return device.D(v...), nil
}

// counts returns a list of integers from 0 to most.
func counts[T uint32 | uint64 | int](n *jsonpos.Node, most int64) ([]T, error) {
	list, err := n.List("numbers")
	if err != nil {
		return nil, err
	}
	var vs []T
	for _, e := range list {
		v, err := e.Int(0, most)
		if err != nil {
			return nil, err
		}
		vs = append(vs, T(v))
	}
	return vs, nil
}

func parseParams(n *jsonpos.Node, names map[string]bool) ([]param, error) {
	list, err := n.List("parameters")
	if err != nil {
		return nil, err
	}
	ps := make([]param, len(list))
	for i, e := range list {
		what := fmt.Sprintf("parameter %d", i)
		e.Label("%s", what)
		p, err := parseParam(e, what, names)
		if err != nil {
			return nil, err
		}
		ps[i] = p
	}
	for _, p := range ps {
		if p.tensor != nil && p.tensor.buffer == nil {
			if i := p.tensor.param; i >= len(ps) || ps[i].buffer == nil {
				return nil, p.tensor.node.Errorf("the tensor map refers to parameter %d, which is not a buffer", i)
			}
		}
	}
	return ps, nil
}

// sources are the fields that select the kind of a parameter. The types of values, such as
// "i32", are further such fields.
var sources = []string{"buffer", "zeros", "poison", "ref", "bytes", "tensormap", "global", "function"}

// source returns the field of a parameter that selects its kind.
func source(n *jsonpos.Node) (*jsonpos.Field, error) {
	if n.Kind() != jsonpos.Object {
		return nil, n.Expected(`an object such as {"i32": 1}`)
	}
	list := n.Fields()
	var found *jsonpos.Field
	for i := range list {
		m := &list[i]
		if elemNamed(m.Name) == nil && !slices.Contains(sources, m.Name) {
			continue
		}
		if found != nil {
			return nil, m.Errorf("a parameter has %q and %q: give one of them", found.Name, m.Name)
		}
		found = m
	}
	choices := "it needs one of buffer, zeros, poison, ref, bytes, tensormap, global, function, or a type: " + elemNames()
	switch {
	case found == nil && len(list) == 1:
		return nil, list[0].Errorf("unknown field %q of a parameter: %s", list[0].Name, choices)
	case found == nil:
		return nil, n.Errorf("the kind of the parameter is missing: %s", choices)
	}
	return found, nil
}

func parseParam(n *jsonpos.Node, what string, names map[string]bool) (p param, err error) {
	m, err := source(n)
	if err != nil {
		return p, err
	}
	switch e := elemNamed(m.Name); {
	case e != nil:
		if p.bytes, err = parseValue(m.Value, e); err != nil {
			return p, err
		}
		return p, n.Only("a parameter", m.Name)
	case m.Name == "bytes":
		s, err := m.Value.Text()
		if err != nil {
			return p, err
		}
		if p.bytes, err = hex.DecodeString(s); err != nil {
			return p, m.Value.Errorf("expected hexadecimal digits, two per byte: %v", err)
		}
		if f := n.Field("pointers"); f != nil {
			if p.pointers, err = parsePointers(f); err != nil {
				return p, err
			}
		}
		if f := n.Field("tensormaps"); f != nil {
			if p.maps, err = parseMaps(f, what, names); err != nil {
				return p, err
			}
		}
		return p, n.Only("a parameter", m.Name, "pointers", "tensormaps")
	case m.Name == "global" || m.Name == "function":
		p.address = &address{}
		if err := p.address.parse(n); err != nil {
			return p, err
		}
		return p, n.Only("a parameter", m.Name, "offset")
	case m.Name == "tensormap":
		if p.tensor, err = parseTensor(m.Value, what, names); err != nil {
			return p, err
		}
		return p, n.Only("a parameter", m.Name)
	}
	p.buffer, err = parseBuffer(n, m, what, names)
	return p, err
}

func parseValue(n *jsonpos.Node, e *elem) (device.Param, error) {
	s, err := n.Literal()
	if err != nil {
		return nil, err
	}
	bits, err := e.parse(s)
	if err != nil {
		return nil, n.Errorf("%v", err)
	}
	return e.append(nil, bits), nil
}
