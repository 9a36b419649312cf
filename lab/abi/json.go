package abi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Error is what is wrong with a file, and where.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// value is a JSON value and where it stands, which encoding/json forgets.
type value struct {
	at     int
	scalar any // string, json.Number, bool or nil
	list   []value
	fields []field
	kind   byte // '[', '{' or 0
}

type field struct {
	name string
	at   int
	value
}

type reader struct {
	file string
	text []byte
	dec  *json.Decoder
}

func newReader(file string, text []byte) *reader {
	r := &reader{file, text, json.NewDecoder(bytes.NewReader(text))}
	r.dec.UseNumber()
	return r
}

func (r *reader) errorf(at int, format string, args ...any) error {
	before := r.text[:min(at, len(r.text))]
	return &Error{r.file, 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}

// whole reads the text, which must be one value.
func (r *reader) whole() (value, error) {
	v, err := r.value(0)
	if err == nil && r.next() < len(r.text) {
		err = r.errorf(r.next(), "there is more after the end")
	}
	return v, err
}

// next is where the next token starts.
func (r *reader) next() int {
	at := int(r.dec.InputOffset())
	for at < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[at]) >= 0 {
		at++
	}
	return at
}

func (r *reader) token() (json.Token, int, error) {
	at := r.next()
	t, err := r.dec.Token()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, at, r.errorf(len(r.text), "the text ends too early")
	case err != nil:
		return nil, at, r.errorf(at, "%v", err)
	}
	return t, at, nil
}

func (r *reader) value(depth int) (value, error) {
	t, at, err := r.token()
	v := value{at: at, scalar: t}
	delim, ok := t.(json.Delim)
	if err != nil || !ok {
		return v, err
	}
	if depth > 8 {
		return v, r.errorf(at, "nested too deeply")
	}
	v.kind, v.scalar = byte(delim), nil
	for r.dec.More() {
		if v.kind == '[' {
			e, err := r.value(depth + 1)
			if err != nil {
				return v, err
			}
			v.list = append(v.list, e)
			continue
		}
		f, err := r.field(depth)
		if err != nil {
			return v, err
		}
		if v.field(f.name) != nil {
			return v, r.errorf(f.at, "%q is given twice", f.name)
		}
		v.fields = append(v.fields, f)
	}
	_, _, err = r.token() // the closing bracket
	return v, err
}

func (r *reader) field(depth int) (f field, err error) {
	t, at, err := r.token()
	if err != nil {
		return f, err
	}
	name, ok := t.(string)
	if !ok {
		return f, r.errorf(at, "a field has a name in quotes")
	}
	v, err := r.value(depth + 1)
	return field{name, at, v}, err
}

func (v *value) field(name string) *field {
	for i := range v.fields {
		if v.fields[i].name == name {
			return &v.fields[i]
		}
	}
	return nil
}

// The forms that a value may have. Each is an error at the value when it has another.

func (r *reader) str(v value, to *string) error {
	s, ok := v.scalar.(string)
	if !ok {
		return r.errorf(v.at, "a string is wanted here")
	}
	*to = s
	return nil
}

func (r *reader) boolean(v value, to *bool) error {
	b, ok := v.scalar.(bool)
	if !ok {
		return r.errorf(v.at, "true or false is wanted here")
	}
	*to = b
	return nil
}

func (r *reader) expr(v value, to *Expr) (err error) {
	var text string
	shift := 0
	switch s := v.scalar.(type) {
	case string:
		text, shift = s, 1 // the quote
	case json.Number:
		text = s.String()
	default:
		return r.errorf(v.at, "an expression is wanted here: a string or a number")
	}
	*to, err = ParseExpr(text)
	var bad *ExprError
	if errors.As(err, &bad) {
		return r.errorf(v.at+shift+bad.Offset, "%s", bad.Msg)
	}
	return err
}

// exprs reads a list of least to most expressions.
func (r *reader) exprs(v value, least, most int, to *[]Expr) error {
	if v.kind != '[' || len(v.list) < least || len(v.list) > most {
		return r.errorf(v.at, "a list of %d to %d expressions is wanted here", least, most)
	}
	*to = make([]Expr, len(v.list))
	for i, e := range v.list {
		if err := r.expr(e, &(*to)[i]); err != nil {
			return err
		}
	}
	return nil
}
