package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Expr is an expression. The zero value is no expression: evaluating it is an error.
// An Expr never changes, so several goroutines may use it.
type Expr struct {
	text string
	root *node
}

// node is an operation with its operands, a number or a name.
type node struct {
	op   string // an operator, a function, "neg", "number" or "name"
	args []*node
	val  Value  // the value, if the node is a number
	name string // the name, if the node is a name
	at   int    // offset in the text
}

// Error says what is wrong with an expression.
type Error struct {
	Text   string // the expression
	Offset int    // where in Text, in bytes
	Msg    string
}

// Error returns the expression, the column from 1 and the message. It shortens a
// long expression.
func (e *Error) Error() string {
	const most = 80
	text := e.Text
	if len(text) > most {
		text = text[:most] + "…"
	}
	return fmt.Sprintf("expression %q, column %d: %s", text, e.Offset+1, e.Msg)
}

// Must is Parse for a text that is known to be correct. It panics otherwise.
func Must(text string) Expr {
	e, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return e
}

// Const returns the expression that is always n.
func Const(n int64) Expr {
	return Expr{strconv.FormatInt(n, 10), &node{op: "number", val: Int(n)}}
}

// IsZero reports whether e is the zero value, which is no expression.
func (e Expr) IsZero() bool { return e.root == nil }

// String returns the text from which e was parsed.
func (e Expr) String() string { return e.text }

// Names returns the names that e uses, sorted, each once.
func (e Expr) Names() []string {
	var names []string
	e.root.each(func(n *node) {
		if n.op == "name" {
			names = append(names, n.name)
		}
	})
	sort.Strings(names)
	return slices.Compact(names)
}

// Check returns an *Error at the first name of e that is not one of known. A reader
// of files calls it to report a misspelt name where it stands, before there are
// values.
func (e Expr) Check(known ...string) error {
	var bad *node
	e.root.each(func(n *node) {
		if bad == nil && n.op == "name" && !slices.Contains(known, n.name) {
			bad = n
		}
	})
	if bad == nil {
		return nil
	}
	return e.unknown(bad, known)
}

// each calls f for n and all nodes below it, in the order of the text's operands.
func (n *node) each(f func(*node)) {
	if n == nil {
		return
	}
	f(n)
	for _, a := range n.args {
		a.each(f)
	}
}

func (e Expr) unknown(n *node, known []string) error {
	if len(known) == 0 {
		return e.errorf(n, "unknown name %s: no names are known here", n.name)
	}
	return e.errorf(n, "unknown name %s: the known names are %s", n.name, strings.Join(known, ", "))
}

func (e Expr) errorf(n *node, format string, args ...any) error {
	return &Error{e.text, n.at, fmt.Sprintf(format, args...)}
}

// MarshalJSON writes the text as a string. The zero value is the empty string.
func (e Expr) MarshalJSON() ([]byte, error) { return json.Marshal(e.text) }

// UnmarshalJSON reads a string or a number. The empty string gives the zero value.
func (e *Expr) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil // as encoding/json demands of every UnmarshalJSON
	}
	var text string
	if json.Unmarshal(data, &text) != nil {
		var n json.Number
		if json.Unmarshal(data, &n) != nil {
			return errors.New("an expression is a string or a number")
		}
		text = n.String()
	}
	if text == "" {
		*e = Expr{}
		return nil
	}
	parsed, err := Parse(text)
	if err == nil {
		*e = parsed
	}
	return err
}
