package jsonpos

import (
	"bytes"
	"fmt"
)

// Error says what is wrong with a file, and where.
type Error struct {
	File      string
	Line, Col int // from 1; columns count bytes
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds.
const (
	Null Kind = iota
	Boolean
	Number
	String
	Array
	Object
)

// Node is a JSON value with its position.
type Node struct {
	doc    *document
	parent *Node
	label  string
	offset int
	kind   Kind
	text   string // the decoded text of a string, or the source text of a number
	truth  bool
	items  []*Node
	fields []Field
}

// Field is a field of an object. Names are unique within an object.
type Field struct {
	Name   string
	Value  *Node
	offset int // the offset of the name in the text
}

// document is the text that is read.
type document struct {
	file string
	text []byte
}

// errorf returns an error at an offset of the text.
func (d *document) errorf(offset int, format string, args ...any) error {
	before := d.text[:min(offset, len(d.text))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return &Error{d.file, line, len(before) - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}

// Kind returns the kind of the value.
func (n *Node) Kind() Kind { return n.kind }

// Label says what the value is, such as "launch 1". It replaces an earlier label.
// Errors at the value and inside it start with the labels of everything around them.
func (n *Node) Label(format string, args ...any) { n.label = fmt.Sprintf(format, args...) }

// Errorf returns an error at the value.
func (n *Node) Errorf(format string, args ...any) error {
	return n.errorAt(n.offset, format, args...)
}

// ErrorInside returns an error inside a string or a number. offset is in bytes of the
// decoded text; escape sequences before it are taken into account.
func (n *Node) ErrorInside(offset int, format string, args ...any) error {
	at := n.offset + offset
	if n.kind == String {
		at = sourceOffset(n.doc.text, n.offset+1, offset)
	}
	return n.errorAt(at, format, args...)
}

// Errorf returns an error at the name of the field.
func (f *Field) Errorf(format string, args ...any) error {
	return f.Value.parent.errorAt(f.offset, format, args...)
}

func (n *Node) errorAt(offset int, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	for at := n; at != nil; at = at.parent {
		if at.label != "" {
			msg = at.label + ": " + msg
		}
	}
	return n.doc.errorf(offset, "%s", msg)
}

// Items returns the values of a list. Other kinds have none.
func (n *Node) Items() []*Node { return n.items }

// Fields returns the fields of an object in the order of the file. Other kinds have
// none.
func (n *Node) Fields() []Field { return n.fields }

// Field returns the value of a field, or nil if the object has no such field.
func (n *Node) Field(name string) *Node {
	for i := range n.fields {
		if n.fields[i].Name == name {
			return n.fields[i].Value
		}
	}
	return nil
}

// describe names the value in an error.
func (n *Node) describe() string {
	switch n.kind {
	case Boolean:
		return fmt.Sprint(n.truth)
	case Number:
		return "the number " + shorten(n.text)
	case String:
		return fmt.Sprintf("the string %q", shorten(n.text))
	case Array:
		return "a list"
	case Object:
		return "an object"
	}
	return "null"
}

func shorten(s string) string {
	const most = 40
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// Expected returns an error at the value: "expected …, found …".
func (n *Node) Expected(format string, args ...any) error {
	return n.Errorf("expected %s, found %s", fmt.Sprintf(format, args...), n.describe())
}
