package parse

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Classes of bytes.
const (
	classSpace = 1 << iota
	classIdentStart
	classIdentPart
	classDigit
	classHex
	classEnd // bytes that may follow an operand directly
)

var classes = func() (t [256]uint8) {
	mark := func(class uint8, bytes string) {
		for i := range len(bytes) {
			t[bytes[i]] |= class
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	mark(classSpace, " \t\r\n\f\v")
	mark(classIdentStart, letters+"_$%")
	mark(classIdentPart, letters+"_$0123456789")
	mark(classDigit, "0123456789")
	mark(classHex, "0123456789abcdefABCDEF")
	mark(classEnd, ",;]})")
	return t
}()

func isIdentStart(c byte) bool { return classes[c]&classIdentStart != 0 }
func isIdentPart(c byte) bool  { return classes[c]&classIdentPart != 0 }
func isDigit(c byte) bool      { return classes[c]&classDigit != 0 }
func isHex(c byte) bool        { return classes[c]&classHex != 0 }

// here returns the position of the next byte.
func (p *parser) here() ptx.Pos { return p.posAt(p.pos) }

// posAt returns the position of an offset in the current line.
func (p *parser) posAt(off int) ptx.Pos {
	return ptx.Pos{Line: p.line, Col: int32(off-p.lineStart) + 1}
}

// peek returns the byte at the cursor, or 0 at the end. The text itself has no NUL.
func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

// peekAt returns the byte n places after the cursor.
func (p *parser) peekAt(n int) byte {
	if p.pos+n < len(p.src) {
		return p.src[p.pos+n]
	}
	return 0
}

// skip moves past space and comments and returns the next byte. It collects the comments.
func (p *parser) skip() byte {
	src, i := p.src, p.pos
	for i < len(src) {
		c := src[i]
		switch {
		case c == '\n':
			i++
			p.line++
			p.lineStart = i
		case classes[c]&classSpace != 0:
			i++
		case c == '/' && i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*'):
			p.pos = i
			if !p.comment() {
				return p.peek()
			}
			i = p.pos
		default:
			p.pos = i
			return c
		}
	}
	p.pos = i
	return 0
}

// comment collects the comment at the cursor.
func (p *parser) comment() bool {
	pos := p.here()
	trailing := p.fresh && p.line == p.endLine
	rest := p.src[p.pos:]
	var text string
	if rest[1] == '/' {
		n := strings.IndexByte(rest, '\n')
		if n < 0 {
			n = len(rest)
		}
		p.pos += n
		text = strings.TrimRight(rest[:n], " \t\r\f\v")
	} else {
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			p.fail(pos, "comment is never closed: expected `*/`")
			p.stop()
			return false
		}
		text = rest[:n+4]
		p.advance(len(text))
	}
	p.comments = append(p.comments, &ptx.Comment{Pos: pos, Text: text, Trailing: trailing})
	return true
}

// advance moves n bytes on, counting lines.
func (p *parser) advance(n int) {
	s := p.src[p.pos : p.pos+n]
	if k := strings.Count(s, "\n"); k > 0 {
		p.line += int32(k)
		p.lineStart = p.pos + strings.LastIndexByte(s, '\n') + 1
	}
	p.pos += n
}

// ident reads the identifier at the cursor, which must start one.
func (p *parser) ident() string {
	i := p.pos + 1
	for i < len(p.src) && classes[p.src[i]]&classIdentPart != 0 {
		i++
	}
	s := p.src[p.pos:i]
	p.pos = i
	return s
}

// word reads a dot and the name after it, such as ".shared::cta". It returns "" if there is
// none.
func (p *parser) word() string {
	i := p.pos + 1
	for i < len(p.src) && (isIdentPart(p.src[i]) || p.src[i] == ':' && i > p.pos+1) {
		i++
	}
	if i <= p.pos+1 {
		return ""
	}
	s := p.src[p.pos:i]
	p.pos = i
	return s
}

// peekWord returns what word would return, and does not move.
func (p *parser) peekWord() string {
	at := p.pos
	w := p.word()
	p.pos = at
	return w
}

// accept moves past the punctuation mark if it is next.
func (p *parser) accept(c byte) bool {
	if p.skip() != c {
		return false
	}
	p.pos++
	return true
}

// expect moves past the punctuation mark. If it is missing, expect fails and says where the
// mark belongs.
func (p *parser) expect(c byte, where string) bool {
	if p.accept(c) {
		return true
	}
	return p.unexpected("`" + string(rune(c)) + "` " + where)
}

// str reads a quoted string. PTX strings have no escapes.
func (p *parser) str() (string, bool) {
	if p.skip() != '"' {
		return "", p.unexpected("a string in double quotes")
	}
	rest := p.src[p.pos+1:]
	n := strings.IndexAny(rest, "\"\n")
	if n < 0 || rest[n] == '\n' {
		return "", p.failHere("string is never closed: expected `\"` on the same line")
	}
	p.pos += n + 2
	return rest[:n], true
}

// skipString moves past a string while looking for the end of a statement.
func (p *parser) skipString() {
	rest := p.src[p.pos+1:]
	n := strings.IndexAny(rest, "\"\n")
	switch {
	case n < 0:
		p.pos = len(p.src) // on the last line
	case rest[n] == '"':
		p.pos += n + 2
	default:
		p.pos += n + 1 // to the line break
	}
}
