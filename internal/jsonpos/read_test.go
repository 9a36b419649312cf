package jsonpos

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
)

type word string

// launch is an object with a field of each type.
type launch struct {
	entry  string
	coop   bool
	shared int
	format word
	grid   []expr.Expr
	when   expr.Expr
	params []string
}

func (l *launch) read(n *Node) error {
	names := []string{"B", "S"}
	return n.Object("a launch", Fields{
		"entry": Text(&l.entry), "cooperative": Bool(&l.coop), "shared": Int(&l.shared, 0, 100), "format": Word(&l.format, "f16", "bf16"),
		"grid": Exprs(&l.grid, 1, 3, names), "when": Expr(&l.when, nil),
		"params": List("parameters", func(n *Node) error {
			s, err := n.Literal()
			l.params = append(l.params, s)
			return err
		}),
	}, "entry", "grid")
}

func TestObject(t *testing.T) {
	n, err := Parse("f", []byte(`{"entry": "k", "cooperative": true, "shared": 7, "format": "bf16", "grid": ["cdiv(S, 64)", 2], "when": "any > 1", "params": [1.50, "nan"]}`))
	if err != nil {
		t.Fatal(err)
	}
	var l launch
	if err := l.read(n); err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(fmt.Sprintln(l.entry, l.coop, l.shared, l.format, l.grid, l.when, l.params)); got != "k true 7 bf16 [cdiv(S, 64) 2] any > 1 [1.50 nan]" {
		t.Error(got)
	}
}

func TestObjectErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`7`, "f:1:1: expected a launch, which is an object, found the number 7"}, {`null`, "found null"},
		{`{"entry": "k"}`, `f:1:1: a launch has no field "grid"`},
		{`{"entry": 3}`, "f:1:11: expected a string, found the number 3"}, {`{"entry": {}}`, "expected a string, found an object"}, {`{"entry": []}`, "found a list"},
		{"{\n  \"entr\": \"k\"}", `f:2:3: unknown field "entr" of a launch: the fields are cooperative, entry, format, grid, params, shared, when`},
		{`{"cooperative": 1}`, "expected true or false, found the number 1"},
		{`{"shared": 101}`, "f:1:12: expected a whole number from 0 to 100, found the number 101"}, {`{"shared": 1.0}`, "found the number 1.0"}, {`{"shared": "1"}`, `found the string "1"`},
		{`{"format": "f32"}`, `f:1:12: expected one of f16, bf16, found the string "f32"`}, {`{"format": false}`, "expected a string, found false"},
		{`{"grid": "S"}`, "f:1:10: expected a list of 1 to 3 expressions, found the string"}, {`{"grid": []}`, "f:1:10: expected a list of 1 to 3 expressions, found 0"},
		{`{"grid": [true]}`, "f:1:11: expected an expression, which is a string or a number, found true"},
		{`{"grid": [1, "B*T"]}`, "f:1:17: unknown name T: the known names are B, S"}, {`{"grid": ["\u0042*+"]}`, "f:1:19: a number, a name or a parenthesis is missing"}, {`{"when": "1+"}`, "f:1:13: a number"},
		{`{"params": {}}`, "expected a list of parameters, found an object"}, {`{"params": [1, null]}`, "f:1:16: expected a number, or a string that holds one, found null"},
		{`{"entry": ` + strings.Repeat("9", 100) + `}`, "found the number 9999999999999999999999999999999999999999…"},
	} {
		n, err := Parse("f", []byte(c.text))
		if err == nil {
			err = new(launch).read(n)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestFloat(t *testing.T) {
	for _, c := range []struct {
		text        string
		least, most float64
		want        float64
		err         string
	}{
		{"1.5e2", -math.MaxFloat64, math.MaxFloat64, 150, ""}, {"-1", 0, math.MaxFloat64, 0, "expected a number of at least 0, found the number -1"},
		{"3", 0, 2.5, 0, "expected a number from 0 to 2.5, found the number 3"}, {"1e999", -math.MaxFloat64, math.MaxFloat64, 0, "expected a number, found the number 1e999"}, {"{}", 0, math.Inf(1), 0, "expected a number of at least 0, found an object"},
	} {
		n, err := Parse("f", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		v, err := n.Float(c.least, c.most)
		if v != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, %v; want %v, %q", c.text, v, err, c.want, c.err)
		}
	}
}

func TestLabel(t *testing.T) {
	n, err := Parse("f", []byte(`[{"params": [{"u33": 1}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	l := n.Items()[0]
	l.Label("launch %d", 0)
	l.Label("launch 0 (k)")
	p := l.Field("params").Items()[0]
	p.Label("parameter %d", 0)
	if got := p.Only("a parameter", "u32").Error(); got != `f:1:15: launch 0 (k): parameter 0: unknown field "u33" of a parameter: the fields are u32` {
		t.Error(got)
	}
	if got := l.Errorf("wrong").Error(); got != "f:1:2: launch 0 (k): wrong" {
		t.Error(got)
	}
	if f := p.Fields()[0]; f.Value.Kind() != Number || n.Kind() != Array || p.Field("u32") != nil || f.Errorf("x").Error() != "f:1:15: launch 0 (k): parameter 0: x" {
		t.Errorf("%+v", f)
	}
}
