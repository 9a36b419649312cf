package jsonpos

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The limits of a text. They bound the memory and the stack that an untrusted text can
// use.
const (
	mostBytes   = 16 << 20
	mostValues  = 1 << 18
	mostNesting = 16
)

// Parse reads a text that holds one JSON value. file names the text in errors, which
// are of type *Error.
func Parse(file string, text []byte) (*Node, error) {
	p := &parser{doc: &document{file, text}}
	if len(text) > mostBytes {
		return nil, p.doc.errorf(0, "the text has %d bytes, and at most %d are allowed", len(text), mostBytes)
	}
	n, err := p.value(nil, 0)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(text) {
		return nil, p.doc.errorf(p.at, "there is more after the end of the value")
	}
	return n, nil
}

type parser struct {
	doc    *document
	at     int
	values int
}

func (p *parser) space() {
	for p.at < len(p.doc.text) && strings.IndexByte(" \t\r\n", p.doc.text[p.at]) >= 0 {
		p.at++
	}
}

// next skips space and returns the byte that follows.
func (p *parser) next() (byte, error) {
	p.space()
	if p.at == len(p.doc.text) {
		return 0, p.early()
	}
	return p.doc.text[p.at], nil
}

func (p *parser) early() error {
	return p.doc.errorf(len(p.doc.text), "the text ends too early")
}

// unexpected returns the error for the character at the current position.
func (p *parser) unexpected(expected string) error {
	r, size := utf8.DecodeRune(p.doc.text[p.at:])
	if r == utf8.RuneError && size == 1 {
		return p.doc.errorf(p.at, "the text is not valid UTF-8")
	}
	return p.doc.errorf(p.at, "expected %s, found %q", expected, r)
}

func (p *parser) value(parent *Node, depth int) (*Node, error) {
	c, err := p.next()
	if err != nil {
		return nil, err
	}
	n := &Node{doc: p.doc, parent: parent, offset: p.at}
	if p.values++; p.values > mostValues {
		return nil, p.doc.errorf(p.at, "more than %d values", mostValues)
	}
	switch {
	case c == '{', c == '[':
		if depth == mostNesting {
			return nil, p.doc.errorf(p.at, "nested too deeply: at most %d levels are allowed", mostNesting)
		}
		p.at++
		if c == '{' {
			n.kind = Object
			return n, p.object(n, depth)
		}
		n.kind = Array
		return n, p.array(n, depth)
	case c == '"':
		n.kind = String
		n.text, err = p.string()
		return n, err
	case c == '-', c >= '0' && c <= '9':
		n.kind, n.text = Number, p.run("+-.eE0123456789")
		if !json.Valid([]byte(n.text)) {
			return nil, p.doc.errorf(n.offset, "%s is not a JSON number", shorten(n.text))
		}
		return n, nil
	case c >= 'a' && c <= 'z':
		return n, p.word(n)
	}
	return nil, p.unexpected("a value")
}

// run reads the longest sequence of bytes that are in set.
func (p *parser) run(set string) string {
	start := p.at
	for p.at < len(p.doc.text) && strings.IndexByte(set, p.doc.text[p.at]) >= 0 {
		p.at++
	}
	return string(p.doc.text[start:p.at])
}

func (p *parser) word(n *Node) error {
	switch word := p.run("abcdefghijklmnopqrstuvwxyz"); word {
	case "true":
		n.kind, n.truth = Boolean, true
	case "false":
		n.kind = Boolean
	case "null":
	default:
		return p.doc.errorf(n.offset, "unexpected word %q: write a string in quotes", shorten(word))
	}
	return nil
}

// array reads a list after its opening bracket.
func (p *parser) array(n *Node, depth int) error {
	return p.elements(']', func() error {
		item, err := p.value(n, depth+1)
		n.items = append(n.items, item)
		return err
	})
}

// object reads an object after its opening bracket.
func (p *parser) object(n *Node, depth int) error {
	seen := map[string]bool{}
	return p.elements('}', func() error {
		c, err := p.next()
		if err != nil {
			return err
		}
		if c != '"' {
			return p.unexpected("the name of a field in quotes")
		}
		f := Field{offset: p.at}
		if f.Name, err = p.string(); err != nil {
			return err
		}
		if seen[f.Name] {
			return p.doc.errorf(f.offset, "field %q is given twice", shorten(f.Name))
		}
		seen[f.Name] = true
		if c, err = p.next(); err != nil {
			return err
		}
		if c != ':' {
			return p.unexpected("a colon after the name of a field")
		}
		p.at++
		f.Value, err = p.value(n, depth+1)
		n.fields = append(n.fields, f)
		return err
	})
}

// elements calls read for each element up to the closing bracket, which it reads too.
func (p *parser) elements(closing byte, read func() error) error {
	c, err := p.next()
	if err == nil && c == closing {
		p.at++
		return nil
	}
	for err == nil {
		if err = read(); err != nil {
			return err
		}
		if c, err = p.next(); err != nil {
			return err
		}
		switch c {
		case closing:
			p.at++
			return nil
		case ',':
			p.at++
		default:
			return p.unexpected("a comma or " + string(closing))
		}
	}
	return err
}
