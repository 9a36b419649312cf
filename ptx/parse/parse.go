package parse

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/GOATnote-Inc/attest/ptx"
)

// parser reads one text. The rules are methods that return false after they have
// recorded an error.
type parser struct {
	src       string
	pos       int   // the next byte
	line      int32 // its line
	lineStart int   // where that line starts
	errs      Errors
	stopped   bool // the rest of the text is not read
	mod       *ptx.Module

	names    map[string]*name
	scope    scopes
	expanded int64 // variables made from parameterised names

	ops    []ptx.Operand // operands being read
	depth  int           // nesting of what is being read
	inCall bool          // parentheses are a list of arguments
	stmts  []ptx.Stmt    // the statements of the function that is being read

	// comments are those that are not in the module yet. A comment trails a statement that
	// has just ended (fresh) on the same line.
	comments []*ptx.Comment
	fresh    bool
	endLine  int32

	spare    []*binding // closed scopes, to use again
	nameSlab slab[name]
	bindSlab slab[binding]
	symSlab  slab[ptx.Symbol]
	instSlab slab[ptx.Inst]
	opSlab   slab[ptx.Operand]
	locSlab  slab[ptx.Loc]
}

// Parse reads a PTX module. The file name is for error messages. The error is of type
// Errors; there is no module then.
//
// The module shares the memory of src.
func Parse(file, src string) (*ptx.Module, error) {
	p := &parser{
		src:   strings.TrimRight(strings.TrimPrefix(src, "\ufeff"), "\x00"),
		line:  1,
		mod:   &ptx.Module{File: file},
		names: make(map[string]*name, 256),
	}
	if p.readable() {
		p.module()
	}
	if len(p.errs) > 0 {
		p.sortErrors()
		return nil, p.errs
	}
	return p.mod, nil
}

// readable checks the text for what every rule relies on: its length and its bytes.
func (p *parser) readable() bool {
	if len(p.src) > math.MaxInt32 {
		return p.failHere("text of %d bytes is too large", len(p.src))
	}
	if i := strings.IndexByte(p.src, 0); i >= 0 {
		p.advance(i)
		return p.failHere("NUL byte inside the text")
	}
	if !utf8.ValidString(p.src) {
		i := 0
		for {
			r, n := utf8.DecodeRuneInString(p.src[i:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			i += n
		}
		p.advance(i)
		return p.failHere("byte %#02x is not UTF-8", p.peek())
	}
	return true
}

// module reads the header and then items up to the end.
func (p *parser) module() {
	p.header()
	p.inside(len(p.comments))
	for {
		c := p.skip()
		p.flushItems(len(p.comments))
		p.fresh = false
		if c == 0 {
			return
		}
		start := p.pos
		if !p.item(c) {
			p.ops, p.depth = p.ops[:0], 0
			p.resyncItem(start)
			if p.pos == start {
				p.pos++
			}
		}
		p.ended()
	}
}

// header reads .version, .target and .address_size. After an error the rest of the text is
// still read.
func (p *parser) header() {
	if !p.headerDirective(".version") {
		p.unexpected("`.version` at the start of the text")
	} else if !p.version() {
		p.resyncLine()
	}
	if !p.headerDirective(".target") {
		p.unexpected("`.target` after .version")
	} else if !p.target() {
		p.resyncLine()
	}
	if p.headerDirective(".address_size") && !p.addressSize() {
		p.resyncLine()
	}
}

// headerDirective moves past the directive if it is next.
func (p *parser) headerDirective(name string) bool {
	if p.skip() != '.' || p.peekWord() != name {
		return false
	}
	p.pos += len(name)
	return true
}

func (p *parser) version() bool {
	if !isDigit(p.skip()) {
		return p.unexpected("a version such as `8.4`")
	}
	pos := p.here()
	v := &p.mod.Version
	major, minor, ok := strings.Cut(p.digits(".0123456789"), ".")
	if !ok || !small(major, &v.Major) || !small(minor, &v.Minor) {
		return p.fail(pos, "expected a version such as `8.4`")
	}
	return true
}

// digits reads a run of the given bytes.
func (p *parser) digits(set string) string {
	start := p.pos
	for p.pos < len(p.src) && strings.IndexByte(set, p.src[p.pos]) >= 0 {
		p.pos++
	}
	return p.src[start:p.pos]
}

// small converts one to three digits.
func small(s string, dst *int) bool {
	if len(s) == 0 || len(s) > 3 {
		return false
	}
	*dst = 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
		*dst = *dst*10 + int(s[i]-'0')
	}
	return true
}

func (p *parser) target() bool {
	for i := 0; ; i++ {
		if !isIdentStart(p.skip()) {
			return p.unexpected("an architecture such as `sm_90a`")
		}
		pos, word := p.here(), p.ident()
		if i > 0 {
			p.mod.Options = append(p.mod.Options, word)
		} else {
			t, err := ptx.ParseTarget(word)
			if err != nil {
				return p.fail(pos, "%v", err)
			}
			p.mod.Target = t
		}
		if !p.accept(',') {
			return true
		}
	}
}

func (p *parser) addressSize() bool {
	pos := p.here()
	if !p.ints(&p.mod.AddressSize) {
		return false
	}
	if n := p.mod.AddressSize; n != 32 && n != 64 {
		return p.fail(pos, "address size %d is neither 32 nor 64", n)
	}
	return true
}

// resyncLine skips to the next line.
func (p *parser) resyncLine() {
	if n := strings.IndexByte(p.src[p.pos:], '\n'); n >= 0 {
		p.advance(n)
	} else {
		p.pos = len(p.src)
	}
}

// flushItems makes the first n comments items of the module.
func (p *parser) flushItems(n int) {
	for _, c := range p.comments[:n] {
		p.mod.Items = append(p.mod.Items, c)
	}
	p.comments = append(p.comments[:0], p.comments[n:]...)
}

// add appends an item after the first n comments that were found inside it.
func (p *parser) add(it ptx.Item, n int) bool {
	p.inside(n)
	p.flushItems(n)
	p.mod.Items = append(p.mod.Items, it)
	return true
}
