package jsonpos

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Text returns the value of a string.
func (n *Node) Text() (string, error) {
	if n.kind != String {
		return "", n.Expected("a string")
	}
	return n.text, nil
}

// Bool returns the value of true or false.
func (n *Node) Bool() (bool, error) {
	if n.kind != Boolean {
		return false, n.Expected("true or false")
	}
	return n.truth, nil
}

// Int returns a whole number from least to most, written without a fraction and
// without an exponent.
func (n *Node) Int(least, most int64) (int64, error) {
	if n.kind == Number {
		v, err := strconv.ParseInt(n.text, 10, 64)
		if err == nil && least <= v && v <= most {
			return v, nil
		}
	}
	return 0, n.Expected("a whole number from %d to %d", least, most)
}

// Float returns a finite number from least to most.
func (n *Node) Float(least, most float64) (float64, error) {
	if n.kind == Number {
		v, err := strconv.ParseFloat(n.text, 64)
		if err == nil && least <= v && v <= most {
			return v, nil
		}
	}
	switch {
	case most < math.MaxFloat64:
		return 0, n.Expected("a number from %g to %g", least, most)
	case least > -math.MaxFloat64:
		return 0, n.Expected("a number of at least %g", least)
	}
	return 0, n.Expected("a number")
}

// Literal returns the text of a number or of a string, for values such as "0x7f" and
// "nan" that JSON numbers cannot express.
func (n *Node) Literal() (string, error) {
	if n.kind != Number && n.kind != String {
		return "", n.Expected("a number, or a string that holds one")
	}
	return n.text, nil
}

// Expr returns an expression, which is a string or a number. Errors have the column
// inside the string. known lists the names that the expression may use; nil allows all
// names.
func (n *Node) Expr(known []string) (expr.Expr, error) {
	if n.kind != Number && n.kind != String {
		return expr.Expr{}, n.Expected("an expression, which is a string or a number")
	}
	e, err := expr.Parse(n.text)
	if err == nil && known != nil {
		err = e.Check(known...)
	}
	var bad *expr.Error
	if errors.As(err, &bad) {
		return expr.Expr{}, n.ErrorInside(bad.Offset, "%s", bad.Msg)
	}
	return e, err
}

// Exprs returns a list of least to most expressions. known is as for Expr.
func (n *Node) Exprs(least, most int, known []string) ([]expr.Expr, error) {
	if n.kind != Array {
		return nil, n.Expected("a list of %d to %d expressions", least, most)
	}
	if len(n.items) < least || len(n.items) > most {
		return nil, n.Errorf("expected a list of %d to %d expressions, found %d", least, most, len(n.items))
	}
	list := make([]expr.Expr, len(n.items))
	for i, item := range n.items {
		var err error
		if list[i], err = item.Expr(known); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// List returns the values of a list. what names the values in errors, in the plural.
func (n *Node) List(what string) ([]*Node, error) {
	if n.kind != Array {
		return nil, n.Expected("a list of %s", what)
	}
	return n.items, nil
}

// Only returns an error unless the value is an object whose fields are all known. what
// names the object in errors, with its article: "a launch".
func (n *Node) Only(what string, known ...string) error {
	if n.kind != Object {
		return n.Expected("%s, which is an object", what)
	}
	for i := range n.fields {
		if f := &n.fields[i]; !slices.Contains(known, f.Name) {
			return f.unknown(what, known)
		}
	}
	return nil
}

func (f *Field) unknown(what string, known []string) error {
	return f.Errorf("unknown field %q of %s: the fields are %s", shorten(f.Name), what, strings.Join(known, ", "))
}

// Fields are readers, one for each field that an object may have.
type Fields map[string]func(*Node) error

// Object calls the reader of each field, in the order of the file. It refuses an
// unknown field and an object without one of the required fields. what names the object
// in errors, with its article: "a launch".
func (n *Node) Object(what string, known Fields, required ...string) error {
	if n.kind != Object {
		return n.Expected("%s, which is an object", what)
	}
	for i := range n.fields {
		f := &n.fields[i]
		read := known[f.Name]
		if read == nil {
			return f.unknown(what, sorted.Keys(known))
		}
		if err := read(f.Value); err != nil {
			return err
		}
	}
	for _, name := range required {
		if n.Field(name) == nil {
			return n.Errorf("%s has no field %q", what, name)
		}
	}
	return nil
}

// store returns a reader that calls get and stores its value.
func store[T any](to *T, get func(*Node) (T, error)) func(*Node) error {
	return func(n *Node) error {
		v, err := get(n)
		if err == nil {
			*to = v
		}
		return err
	}
}

// Text reads a string.
func Text(to *string) func(*Node) error { return store(to, (*Node).Text) }

// Bool reads true or false.
func Bool(to *bool) func(*Node) error { return store(to, (*Node).Bool) }

// Int reads a whole number from least to most.
func Int(to *int, least, most int) func(*Node) error {
	return store(to, func(n *Node) (int, error) {
		v, err := n.Int(int64(least), int64(most))
		return int(v), err
	})
}

// Expr reads an expression. known is as for Node.Expr.
func Expr(to *expr.Expr, known []string) func(*Node) error {
	return store(to, func(n *Node) (expr.Expr, error) { return n.Expr(known) })
}

// Exprs reads a list of least to most expressions. known is as for Node.Expr.
func Exprs(to *[]expr.Expr, least, most int, known []string) func(*Node) error {
	return store(to, func(n *Node) ([]expr.Expr, error) { return n.Exprs(least, most, known) })
}

// Word reads a string that must be one of the given words.
func Word[T ~string](to *T, words ...T) func(*Node) error {
	return store(to, func(n *Node) (T, error) {
		s, err := n.Text()
		if err == nil && !slices.Contains(words, T(s)) {
			list := make([]string, len(words))
			for i, w := range words {
				list[i] = string(w)
			}
			err = n.Expected("one of %s", strings.Join(list, ", "))
		}
		return T(s), err
	})
}

// List reads a list and calls read for each of its values. what names the values in
// errors, in the plural.
func List(what string, read func(*Node) error) func(*Node) error {
	return func(n *Node) error {
		items, err := n.List(what)
		for _, item := range items {
			if err == nil {
				err = read(item)
			}
		}
		return err
	}
}
