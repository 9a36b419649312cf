package abi

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/kernel"
)

// mostItems limits the length of each list in a file.
const mostItems = 4096

func readWhole(n *jsonpos.Node) (*kernel.Kernel, error) {
	k := &kernel.Kernel{}
	known := namesIn(n)
	err := n.Object("a kernel", jsonpos.Fields{
		"name":      jsonpos.Text(&k.Name),
		"ptx":       jsonpos.Text(&k.PTX),
		"op":        jsonpos.Text(&k.Op),
		"fixed":     texts(&k.Fixed),
		"supports":  words(&k.Supports),
		"require":   jsonpos.List("rules", ruleReader(&k.Require, known)),
		"let":       jsonpos.List("bindings", listOf(&k.Let, func(n *jsonpos.Node, b *kernel.Binding) error { return readBinding(n, b, known) })),
		"operands":  jsonpos.List("operands", listOf(&k.Operands, func(n *jsonpos.Node, o *kernel.Operand) error { return readOperand(n, o, known) })),
		"launches":  jsonpos.List("launches", listOf(&k.Launches, func(n *jsonpos.Node, l *kernel.Launch) error { return readLaunch(n, l, known) })),
		"claims":    texts(&k.Claims),
		"structure": numbers(&k.Structure),
		"declares":  words(&k.Declares),
		"config":    texts(&k.Config),
	}, "op", "operands", "launches")
	return k, err
}

// namesIn returns the names that the expressions of a file may use: the names that every
// problem has, the names that "let" binds, and the strides of the operands.
func namesIn(n *jsonpos.Node) []string {
	known := append([]string(nil), names...)
	if let := n.Field("let"); let != nil {
		for _, b := range let.Items() {
			if name := b.Field("name"); name != nil {
				if text, err := name.Text(); err == nil {
					known = append(known, text)
				}
			}
		}
	}
	for _, operand := range operandNames {
		for axis := range 4 {
			known = append(known, fmt.Sprintf("%s.stride%d", operand, axis))
		}
	}
	return known
}

// listOf returns a function that reads one item and appends it to the list.
func listOf[T any](to *[]T, read func(*jsonpos.Node, *T) error) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) error {
		if len(*to) == mostItems {
			return n.Errorf("the list has more than %d items", mostItems)
		}
		var item T
		if err := read(n, &item); err != nil {
			return err
		}
		*to = append(*to, item)
		return nil
	}
}

// ruleReader returns a function that reads a rule: an expression, or an object with an
// expression and the reason for it.
func ruleReader(to *[]kernel.Rule, known []string) func(*jsonpos.Node) error {
	return listOf(to, func(n *jsonpos.Node, r *kernel.Rule) (err error) {
		if n.Kind() != jsonpos.Object {
			r.Holds, err = n.Expr(known)
			return err
		}
		return n.Object("a rule", jsonpos.Fields{"holds": jsonpos.Expr(&r.Holds, known), "why": jsonpos.Text(&r.Why)}, "holds")
	})
}

func readBinding(n *jsonpos.Node, b *kernel.Binding, known []string) error {
	return n.Object("a binding", jsonpos.Fields{"name": jsonpos.Text(&b.Name), "value": jsonpos.Expr(&b.Value, known)}, "name", "value")
}

func readOperand(n *jsonpos.Node, o *kernel.Operand, known []string) error {
	return n.Object("an operand", jsonpos.Fields{
		"name":    jsonpos.Text(&o.Name),
		"type":    jsonpos.Text(&o.Type),
		"role":    jsonpos.Word(&o.Role, kernel.Input, kernel.Output, kernel.InOut, kernel.Workspace),
		"dims":    jsonpos.Exprs(&o.Dims, 0, 8, known),
		"strides": jsonpos.Exprs(&o.Strides, 0, 8, known),
		"init":    jsonpos.Word(&o.Init, kernel.Zero, kernel.ZeroOnce),
		"meaning": jsonpos.Word(&o.Meaning, kernel.Lengths, kernel.Offsets, kernel.Pages),
	}, "name", "type", "role", "dims")
}

func readLaunch(n *jsonpos.Node, l *kernel.Launch, known []string) error {
	return n.Object("a launch", jsonpos.Fields{
		"entry":       jsonpos.Text(&l.Entry),
		"args":        jsonpos.List("arguments", listOf(&l.Args, func(n *jsonpos.Node, a *kernel.Arg) error { return readArg(n, a, known) })),
		"grid":        jsonpos.Exprs(&l.Grid, 1, 3, known),
		"block":       jsonpos.Exprs(&l.Block, 1, 3, known),
		"cluster":     jsonpos.Exprs(&l.Cluster, 1, 3, known),
		"shared":      jsonpos.Expr(&l.Shared, known),
		"when":        jsonpos.Expr(&l.When, known),
		"cooperative": jsonpos.Bool(&l.Cooperative),
		"dependent":   jsonpos.Bool(&l.Dependent),
	}, "entry", "args", "grid", "block")
}

func readArg(n *jsonpos.Node, a *kernel.Arg, known []string) error {
	fields := valueFields(a)
	fields["pointer"] = jsonpos.Text(&a.Pointer)
	fields["tensormap"] = func(n *jsonpos.Node) (err error) {
		a.Map, err = readMap(n, known, "operand")
		return err
	}
	for _, t := range kernel.ValueTypes() {
		fields[t] = valueField(a, t, known)
	}
	if err := n.Object("an argument", fields); err != nil {
		return err
	}
	if len(n.Fields()) != 1 {
		return n.Errorf("an argument has exactly one of pointer, tensormap or a type such as u32")
	}
	return nil
}

// valueFields returns the readers for the types of arguments that are passed by value.
func valueFields(a *kernel.Arg) jsonpos.Fields {
	fields := jsonpos.Fields{}
	for _, t := range kernel.ValueTypes() {
		fields[t] = valueField(a, t, names)
	}
	return fields
}

func valueField(a *kernel.Arg, typ string, known []string) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) (err error) {
		a.Type = typ
		a.Value, err = n.Expr(known)
		return err
	}
}

// readMap reads a tensor map. The field called of names the operand. If operands is not
// empty, the operand must be one of them.
func readMap(n *jsonpos.Node, known []string, of string, operands ...string) (*kernel.TensorMap, error) {
	m := &kernel.TensorMap{}
	operand := jsonpos.Text(&m.Operand)
	if len(operands) > 0 {
		operand = jsonpos.Word(&m.Operand, operands...)
	}
	err := n.Object("a tensor map", jsonpos.Fields{
		of:        operand,
		"type":    jsonpos.Word(&m.Type, kernel.MapTypes()...),
		"dims":    jsonpos.Exprs(&m.Dims, 1, 5, known),
		"strides": jsonpos.Exprs(&m.Strides, 0, 4, known),
		"box":     jsonpos.Exprs(&m.Box, 1, 5, known),
		"swizzle": jsonpos.Word(&m.Swizzle, "none", "32B", "64B", "128B"),
		"fill":    jsonpos.Word(&m.Fill, "zero", "nan"),
	}, of, "type", "dims", "box")
	switch {
	case err != nil:
		return nil, err
	case len(m.Box) != len(m.Dims):
		return nil, n.Errorf("the box has %s, but the tensor has %s", english.Count(len(m.Box), "extent"), english.Count(len(m.Dims), "dimension"))
	case len(m.Strides) != 0 && len(m.Strides) != len(m.Dims)-1:
		return nil, n.Errorf("%s for %s: every dimension except the innermost needs a stride", english.Count(len(m.Strides), "stride"), english.Count(len(m.Dims), "dimension"))
	}
	return m, nil
}

// texts reads an object of strings.
func texts(to *map[string]string) func(*jsonpos.Node) error {
	return fieldsOf(to, (*jsonpos.Node).Text)
}

// numbers reads an object of integers.
func numbers(to *map[string]int) func(*jsonpos.Node) error {
	return fieldsOf(to, func(n *jsonpos.Node) (int, error) {
		v, err := n.Int(0, 1<<31-1)
		return int(v), err
	})
}

func fieldsOf[T any](to *map[string]T, get func(*jsonpos.Node) (T, error)) func(*jsonpos.Node) error {
	return func(n *jsonpos.Node) error {
		if n.Kind() != jsonpos.Object {
			return n.Errorf("expected an object")
		}
		*to = map[string]T{}
		for _, f := range n.Fields() {
			v, err := get(f.Value)
			if err != nil {
				return err
			}
			(*to)[f.Name] = v
		}
		return nil
	}
}

// words reads a list of strings.
func words(to *[]string) func(*jsonpos.Node) error {
	return jsonpos.List("words", listOf(to, func(n *jsonpos.Node, s *string) (err error) {
		*s, err = n.Text()
		return err
	}))
}
