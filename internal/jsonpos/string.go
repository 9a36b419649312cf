package jsonpos

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads and decodes a string. The current position is its opening quote.
func (p *parser) string() (string, error) {
	text := p.doc.text
	var out strings.Builder
	for p.at++; p.at < len(text); {
		c := text[p.at]
		if c == '"' {
			p.at++
			return out.String(), nil
		}
		if c < ' ' {
			return "", p.doc.errorf(p.at, `a string holds the control character %q: write \u%04x`, c, c)
		}
		r, size := character(text[p.at:])
		switch {
		case size > 0:
		case c == '\\' && p.at+1 == len(text):
			return "", p.early()
		case c == '\\' && text[p.at+1] == 'u':
			return "", p.doc.errorf(p.at, `\u takes four hexadecimal digits`)
		case c == '\\':
			return "", p.doc.errorf(p.at, `%q is not an escape sequence: write \\ for a backslash`, text[p.at:p.at+2])
		default:
			return "", p.doc.errorf(p.at, "the text is not valid UTF-8")
		}
		out.WriteRune(r)
		p.at += size
	}
	return "", p.early()
}

// character decodes the first character of a string's source. size is its length in
// bytes in the source, or 0 if the source is wrong or too short.
func character(source []byte) (r rune, size int) {
	if source[0] != '\\' {
		r, size = utf8.DecodeRune(source)
		if r == utf8.RuneError && size == 1 {
			return r, 0
		}
		return r, size
	}
	if len(source) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, source[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r, ok := unit(source)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		low, ok := unit(source[6:])
		if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
			return pair, 12
		}
		return utf8.RuneError, 6 // half of a pair, which encoding/json replaces too
	}
	return r, 6
}

// unit decodes an escape sequence of the form \u1234.
func unit(source []byte) (rune, bool) {
	if len(source) < 6 || source[0] != '\\' || source[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(source[2:6]), 16, 16)
	return rune(n), err == nil
}

// sourceOffset converts an offset in the decoded string to an offset in the text. start is
// the offset in the text of the string's first character.
func sourceOffset(text []byte, start, offset int) int {
	at := start
	for offset > 0 && at < len(text) {
		r, size := character(text[at:])
		if size == 0 {
			break
		}
		if offset -= utf8.RuneLen(r); offset < 0 {
			break // within a character
		}
		at += size
	}
	return at
}
