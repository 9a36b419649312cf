package launchfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Error is what is wrong with a launch file, and where.
type Error struct {
	File      string
	Line, Col int // from 1; 0 for the whole file
	Msg       string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

// node is a JSON value that knows where it stands. encoding/json's own structures
// forget, and a launch file is written by hand.
type node struct {
	doc    *document
	offset int
	value  any      // json.Number, string, bool, nil, []*node or []member
	where  []string // "launch 1 (saxpy)", "parameter 2"
}

// member is a field of an object.
type member struct {
	name   string
	offset int
	value  *node
}

// document is the text being read.
type document struct {
	name string
	text []byte
}

func (d *document) errorf(offset int, format string, args ...any) *Error {
	before := d.text[:min(offset, len(d.text))]
	line := bytes.Count(before, []byte("\n"))
	return &Error{d.name, line + 1, len(before) - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}

// errorf is an error at the value, which names the launch and the parameter.
func (n *node) errorf(format string, args ...any) error {
	return n.at(n.offset, format, args...)
}

func (n *node) at(offset int, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	for i := len(n.where) - 1; i >= 0; i-- {
		msg = n.where[i] + ": " + msg
	}
	return n.doc.errorf(offset, "%s", msg)
}

// in says what a value and everything in it belong to.
func (n *node) in(what string) *node {
	n.mark(append(n.where[:len(n.where):len(n.where)], what))
	return n
}

func (n *node) mark(where []string) {
	n.where = where
	switch v := n.value.(type) {
	case []*node:
		for _, e := range v {
			e.mark(where)
		}
	case []member:
		for _, m := range v {
			m.value.mark(where)
		}
	}
}

// mostDepth bounds nesting; a launch file needs 6.
const mostDepth = 32

// parseJSON reads a whole text.
func parseJSON(name string, text []byte) (*node, error) {
	r := &reader{doc: &document{name, text}, dec: json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if at := r.next(); at < len(text) {
		return nil, r.doc.errorf(at, "there is more after the end of the value")
	}
	return n, nil
}

type reader struct {
	doc *document
	dec *json.Decoder
}

// next is where the next token starts.
func (r *reader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.doc.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.doc.text[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) token() (json.Token, int, error) {
	at := r.next()
	t, err := r.dec.Token()
	switch {
	case err == nil:
		return t, at, nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, r.doc.errorf(len(r.doc.text), "the text ends too early")
	}
	return nil, at, r.doc.errorf(at, "%v", err)
}

func (r *reader) value(depth int) (*node, error) {
	t, at, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{doc: r.doc, offset: at, value: t}
	if depth == mostDepth {
		return nil, n.errorf("nested too deeply")
	}
	switch t {
	case json.Delim('['):
		list := []*node{}
		for r.dec.More() {
			e, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		n.value = list
	case json.Delim('{'):
		if n.value, err = r.members(depth); err != nil {
			return nil, err
		}
	default:
		return n, nil
	}
	_, _, err = r.token() // the closing bracket
	return n, err
}

func (r *reader) members(depth int) ([]member, error) {
	list := []member{}
	seen := map[string]bool{}
	for r.dec.More() {
		t, at, err := r.token()
		if err != nil {
			return nil, err
		}
		name, ok := t.(string)
		if !ok {
			return nil, r.doc.errorf(at, "a field has a name in quotes")
		}
		if seen[name] {
			return nil, r.doc.errorf(at, "field %q is given twice", name)
		}
		seen[name] = true
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, member{name, at, v})
	}
	return list, nil
}
