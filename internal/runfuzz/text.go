package runfuzz

import (
	"slices"
	"strconv"
	"strings"
)

// Text is a PTX text that is prepared for changes.
type Text struct {
	lines  []line
	regs   map[string]string   // the class of each register: see class
	byName []string            // the names of regs, in the order of their declaration
	all    map[string][]string // the registers of each class
	labels []string
}

// line is one line of a text. The words are shared between mutants and must not be changed.
type line struct {
	raw   string
	words []string // names, numbers, spaces and single characters that together are raw
	op    int      // the index of the opcode in words, -1 for a line that is not an instruction
}

// mostRegisters is the number of registers of one declaration that changes make use of.
const mostRegisters = 24

// NewText splits a text into lines and words. The text need not be valid PTX.
func NewText(text string) *Text {
	t := &Text{regs: map[string]string{}, all: map[string][]string{}}
	for raw := range strings.SplitSeq(text, "\n") {
		l := newLine(raw)
		t.lines = append(t.lines, l)
		t.declare(l.words)
	}
	return t
}

func newLine(raw string) line {
	l := line{raw: raw, words: split(raw)}
	l.op = opcode(l.words)
	return l
}

// joined returns the line with other words. An operator may have left nothing of a word.
func joined(words []string) line {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return line{raw: strings.Join(words, ""), words: words, op: opcode(words)}
}

// declare adds the registers and the label of a line.
func (t *Text) declare(words []string) {
	for i, w := range words {
		if w == ":" && i > 0 && isName(words[i-1][0]) {
			t.labels = append(t.labels, words[i-1])
		}
	}
	at := index(words, ".reg")
	if at < 0 {
		return
	}
	kind := ""
	for i := at + 1; i < len(words); i++ {
		switch w := words[i]; {
		case w[0] == '.':
			kind = w
		case w[0] != '%' && !isName(w[0]):
		case i+2 < len(words) && words[i+1] == "<":
			n, err := strconv.Atoi(words[i+2])
			for j := 0; err == nil && j < min(n, mostRegisters); j++ {
				t.register(w+strconv.Itoa(j), kind)
			}
		default:
			t.register(w, kind)
		}
	}
}

func (t *Text) register(name, kind string) {
	c := class(kind)
	t.regs[name] = c
	t.byName = append(t.byName, name)
	t.all[c] = append(t.all[c], name)
}

// class returns what types have in common that an instruction may use in place of each other: the
// number of bits.
func class(kind string) string {
	if n := strings.TrimLeft(kind, ".busf"); n != "" {
		return n
	}
	return kind
}

func index(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

// opcode returns the index of the opcode among the words of an instruction, or -1.
func opcode(words []string) int {
	guard := false
	for i, w := range words {
		switch {
		case w == "/" || w == "{" || w == "(":
			return -1
		case w == "@":
			guard = true
		case w[0] == '.':
			return -1
		case w[0] == '%' || isName(w[0]):
			if guard {
				guard = false
				continue
			}
			if i+1 < len(words) && words[i+1] == ":" {
				continue // a label
			}
			if w[0] == '%' || index(words[i:], ";") < 0 {
				return -1
			}
			return i
		}
	}
	return -1
}

// split splits a line into names with their modifiers, numbers, spaces and single characters.
func split(s string) (words []string) {
	for i := 0; i < len(s); {
		j := i + 1
		switch c := s[i]; {
		case c == ' ' || c == '\t':
			for j < len(s) && (s[j] == ' ' || s[j] == '\t') {
				j++
			}
		case c == '%' || c == '$' || c == '.' || isName(c):
			for j < len(s) && (isName(s[j]) || isDigit(s[j]) || s[j] == '.' || s[j] == '$' || s[j] == ':' && j+1 < len(s) && s[j+1] == ':' || s[j] == ':' && s[j-1] == ':') {
				j++
			}
		case isDigit(c):
			for j < len(s) && (isName(s[j]) || isDigit(s[j]) || s[j] == '.') {
				j++
			}
		}
		words = append(words, s[i:j])
		i = j
	}
	return words
}

func isName(c byte) bool  { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// operands returns the bounds of the operands of an instruction in its words.
func (l line) operands() (bounds [][2]int) {
	depth, start := 0, l.op+1
	for i := l.op + 1; i < len(l.words); i++ {
		switch l.words[i] {
		case "[", "{", "(", "<":
			depth++
		case "]", "}", ")", ">":
			depth--
		case ",", ";":
			if depth > 0 {
				continue
			}
			for start < i && strings.TrimSpace(l.words[start]) == "" {
				start++
			}
			if start < i {
				bounds = append(bounds, [2]int{start, i})
			}
			start = i + 1
			if l.words[i] == ";" {
				return bounds
			}
		}
	}
	return bounds
}
