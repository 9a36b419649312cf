package expr

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// FuzzParse parses arbitrary text. It must not panic, an error must lie inside the
// text, and an expression must keep its value when it is written and parsed again, as it
// was spelt and in its normal form.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"cdiv(Sq, 64)*D", "scale*1.44269e+0", "a<b&&!c||d>=0x1F?min(1,2):max(.5,-q.s)", "-9223372036854775808%3", "((", "1..2", "é"} {
		f.Add(text)
	}
	values := Env{"Sq": Int(100), "D": Int(-64), "scale": Float(0.5)}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			if bad := err.(*Error); bad.Offset < 0 || bad.Offset > len(text) || bad.Msg == "" {
				t.Fatalf("%+v", bad)
			}
			return
		}
		for _, name := range e.Names() {
			if _, ok := values[name]; !ok {
				values[name] = Int(int64(len(name)))
			}
		}
		again := Must(e.String())
		v, err := e.Eval(values)
		w, err2 := again.Eval(values)
		if v != w || fmt.Sprint(err) != fmt.Sprint(err2) {
			t.Fatalf("%q is %v, %v and then %v, %v", text, v, err, w, err2)
		}
		normal := e.Normal()
		v2, err2 := normal.Eval(values)
		if v != v2 || (err == nil) != (err2 == nil) || normal.Normal().String() != normal.String() {
			t.Fatalf("%q is %v, %v and its normal form %q is %v, %v", text, v, err, normal, v2, err2)
		}
		if len(normal.String()) <= mostBytes && !reflect.DeepEqual(Must(normal.String()), normal) {
			t.Fatalf("%q: the normal form %q is parsed differently", text, normal)
		}
		n, err2 := e.Int(values)
		if (err2 == nil) != (err == nil && v.IsInt()) || err2 == nil && n != v.Int64() {
			t.Fatalf("%q is %d, %v as an integer and %v, %v", text, n, err2, v, err)
		}
		if x, err2 := e.Float(values); err == nil && !v.IsInt() && (err2 != nil || x != v.Float64()) {
			t.Fatalf("%q is %v, %v as a float and %v", text, x, err2, v)
		}
		if v.String() != "" && err == nil {
			if back, err := Must(v.String()).Eval(nil); back != v || err != nil {
				t.Fatalf("the value %v is %v, %v when it is parsed", v, back, err)
			}
		}
	})
}

// tree is a random integer expression with its text and its value by math/big, or
// nil where the value is refused.
type tree struct {
	text  string
	rank  int // strength of the outermost operator: 0 is the weakest
	value *big.Int
}

const atom = 7

var operands = map[string]int64{"zero": 0, "one": 1, "D": 64, "neg": -3, "most": 1<<63 - 1, "least": -1 << 63, "q.stride1": 1 << 40}

// within returns the text for a place that takes operators of at least this rank.
func (x tree) within(rank int) string {
	if x.rank < rank {
		return "(" + x.text + ")"
	}
	return x.text
}

func fits(v *big.Int) *big.Int {
	if v == nil || !v.IsInt64() {
		return nil
	}
	return v
}

func grow(r *rand.Rand, depth int) tree {
	if depth == 0 || r.IntN(6) == 0 {
		if r.IntN(2) == 0 {
			n := r.Int64() >> r.IntN(64)
			return tree{fmt.Sprint(n), atom, big.NewInt(n)}
		}
		names := []string{"zero", "one", "D", "neg", "most", "least", "q.stride1"}
		name := names[r.IntN(len(names))]
		return tree{name, atom, big.NewInt(operands[name])}
	}
	a, b, c := grow(r, depth-1), grow(r, depth-1), grow(r, depth-1)
	switch r.IntN(8) {
	case 0:
		v := b.value
		if a.value == nil || a.value.Sign() == 0 {
			v = c.value
		}
		if a.value == nil {
			v = nil
		}
		return tree{a.within(1) + " ? " + b.text + " : " + c.text, 0, v}
	case 1:
		return logic(a, b, "||", 1)
	case 2:
		return logic(a, b, "&&", 2)
	case 3:
		return compare(r, a, b)
	case 4, 5:
		return binary(r, a, b)
	case 6:
		if r.IntN(2) == 0 {
			return tree{"!" + a.within(6), 6, truth(a.value != nil, a.value != nil && a.value.Sign() == 0)}
		}
		if a.value == nil {
			return tree{"-" + a.within(6), 6, nil}
		}
		return tree{"- " + a.within(6), 6, fits(new(big.Int).Neg(a.value))}
	}
	return call(r, a, b, c)
}

func truth(ok, yes bool) *big.Int {
	if !ok {
		return nil
	}
	return big.NewInt(Bool(yes).Int64())
}

func logic(a, b tree, op string, rank int) tree {
	x := tree{a.within(rank) + op + b.within(rank+1), rank, nil}
	switch {
	case a.value == nil:
	case (a.value.Sign() != 0) == (op == "||"):
		x.value = truth(true, op == "||")
	default:
		x.value = truth(b.value != nil, b.value != nil && b.value.Sign() != 0)
	}
	return x
}

func compare(r *rand.Rand, a, b tree) tree {
	op := []string{"==", "!=", "<", "<=", ">", ">="}[r.IntN(6)]
	x := tree{a.within(4) + op + b.within(4), 3, nil}
	if a.value != nil && b.value != nil {
		c := a.value.Cmp(b.value)
		x.value = truth(true, map[string]bool{"==": c == 0, "!=": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0}[op])
	}
	return x
}

func binary(r *rand.Rand, a, b tree) tree {
	op := []string{"+", "-", "*", "/", "%"}[r.IntN(5)]
	rank := 5
	if op == "+" || op == "-" {
		rank = 4
	}
	x := tree{a.within(rank) + op + b.within(rank+1), rank, nil}
	if a.value == nil || b.value == nil {
		return x
	}
	v := new(big.Int)
	switch op {
	case "+":
		v.Add(a.value, b.value)
	case "-":
		v.Sub(a.value, b.value)
	case "*":
		v.Mul(a.value, b.value)
	default:
		if a.value.Sign() < 0 || b.value.Sign() <= 0 {
			return x
		}
		if op == "/" {
			v.Quo(a.value, b.value)
		} else {
			v.Rem(a.value, b.value)
		}
	}
	x.value = fits(v)
	return x
}

func call(r *rand.Rand, a, b, c tree) tree {
	switch r.IntN(3) {
	case 0:
		x := tree{"cdiv(" + a.text + "," + b.text + ")", atom, nil}
		if a.value != nil && b.value != nil && a.value.Sign() >= 0 && b.value.Sign() > 0 {
			sum := new(big.Int).Add(a.value, b.value)
			x.value = sum.Quo(sum.Sub(sum, big.NewInt(1)), b.value)
		}
		return x
	case 1:
		x := tree{"min(" + a.text + ", " + b.text + ", " + c.text + ")", atom, nil}
		if a.value != nil && b.value != nil && c.value != nil {
			x.value = least(a.value, least(b.value, c.value))
		}
		return x
	}
	x := tree{"max(" + a.text + ", " + b.text + ")", atom, nil}
	if a.value != nil && b.value != nil {
		x.value = a.value
		if least(a.value, b.value) == a.value {
			x.value = b.value
		}
	}
	return x
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) <= 0 {
		return a
	}
	return b
}

// FuzzInt compares random integer expressions with math/big: both give the same
// value, or both refuse.
func FuzzInt(f *testing.F) {
	for seed := range uint64(500) {
		f.Add(seed)
	}
	values := Env{}
	for name, n := range operands {
		values[name] = Int(n)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		x := grow(rand.New(rand.NewPCG(seed, 1)), 4)
		e, err := Parse(x.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Int(values)
		switch {
		case x.value == nil && err == nil:
			t.Fatalf("%s is %d; math/big refuses it", x.text, got)
		case x.value == nil && strings.Contains(err.Error(), "unknown"):
			t.Fatal(err)
		case x.value != nil && (err != nil || x.value.Cmp(big.NewInt(got)) != 0):
			t.Fatalf("%s is %d, %v; math/big gives %v", x.text, got, err, x.value)
		}
	})
}
