package parse

import "strings"

// After an error the parser skips to where the next statement or item seems to
// start, so that one run reports several mistakes.

// skipToken moves past one token that the parser does not understand.
func (p *parser) skipToken(c byte) {
	switch {
	case c == '"':
		p.skipString()
	case isIdentStart(c):
		p.ident()
	default:
		p.pos++
	}
}

// resyncStatement skips the rest of a statement that began at start and failed:
// past its semicolon, or up to a line that looks like the start of the next one.
func (p *parser) resyncStatement(start int) {
	newLine := p.pos > start && p.firstOnLine()
	for {
		line := p.line
		c := p.skip()
		if c == 0 || (newLine || p.line != line) && p.startsStatement(c) {
			return
		}
		newLine = false
		p.skipToken(c)
		if c == ';' {
			return
		}
	}
}

// firstOnLine reports whether there is only space before the cursor on its line.
func (p *parser) firstOnLine() bool {
	return strings.TrimLeft(p.src[p.lineStart:p.pos], " \t") == ""
}

// startsStatement guesses whether the first token of a line begins a statement, and does
// not continue an operand list. A brace closes a vector if a comma or a semicolon follows.
func (p *parser) startsStatement(c byte) bool {
	switch {
	case c == '.' || c == '@':
		return true
	case c == '}':
		rest := strings.TrimLeft(p.src[p.pos+1:min(len(p.src), p.pos+64)], " \t")
		return rest == "" || rest[0] != ',' && rest[0] != ';'
	case isIdentStart(c) && c != '%':
		end := p.pos + 1
		for end < len(p.src) && isIdentPart(p.src[end]) {
			end++
		}
		return end < len(p.src) && (p.src[end] == '.' || p.src[end] == ':')
	}
	return false
}

// resyncItem skips the rest of an item that began at start and failed: past its
// semicolon, past a pair of braces with its content, or up to a line that starts the next
// item.
func (p *parser) resyncItem(start int) {
	newLine := p.pos > start && p.firstOnLine()
	open := 0
	for {
		line := p.line
		c := p.skip()
		newLine = newLine || p.line != line
		switch {
		case c == 0:
			return
		case c == '.' && newLine && (open == 0 || p.startsItem()):
			return
		case c == '{':
			open++
		case c == '}':
			open--
		}
		newLine = false
		p.skipToken(c)
		if open <= 0 && (c == ';' || c == '}' && open == 0) {
			return
		}
	}
}

// startsItem reports whether the directive at the cursor occurs only outside functions.
func (p *parser) startsItem() bool {
	switch p.peekWord() {
	case ".visible", ".extern", ".weak", ".common", ".entry", ".func", ".section", ".file", ".alias":
		return true
	}
	return false
}

// resyncHead skips the rest of a function's head that failed, up to its body.
// It reports whether there is one.
func (p *parser) resyncHead() bool {
	for {
		line := p.line
		c := p.skip()
		switch {
		case c == '{':
			return true
		case c == 0 || c == '}' || c == '.' && p.line != line && p.startsItem():
			return false
		}
		p.skipToken(c)
		if c == ';' {
			return false
		}
	}
}
