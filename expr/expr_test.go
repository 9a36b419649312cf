package expr

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

var env = Env{"D": Int(64), "Sq": Int(100), "Skv": Int(300), "q.stride1": Int(6400), "causal": Bool(true), "scale": Float(0.125), "nan": Float(math.NaN())}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
	}{
		{"1+2*3", 7}, {"(1+2)*3", 9}, {"7-2-3", 2}, {"-D", -64}, {"2*-3", -6}, {"--3", 3}, {"7/2", 3}, {"7%4", 3}, {"8/2/2", 2}, {"8/2*3%5", 2},
		{"cdiv(Sq, 64)", 2}, {"cdiv(128, 64)", 2}, {"cdiv(0, 64)", 0}, {"cdiv(9223372036854775807, 2)", 1 << 62},
		{"min(Sq, Skv, D)", 64}, {"max(1, D, 3)", 64}, {"min(-1)", -1}, {"q.stride1/D", 100},
		{"0x10", 16}, {"0XfF", 255}, {"0", 0}, {"-0", 0}, {" 1\t+\n1\r", 2},
		{"-9223372036854775808", math.MinInt64}, {"-0x8000000000000000", math.MinInt64}, {"9223372036854775807", math.MaxInt64},
		{"-9223372036854775808*1", math.MinInt64}, {"4294967296*-2147483648", math.MinInt64}, {"0*-9223372036854775808", 0}, {"-1 - 9223372036854775807", math.MinInt64},
		{"D == 64", 1}, {"D != 64", 0}, {"Sq < Skv", 1}, {"Sq >= Skv", 0}, {"Sq <= 100", 1}, {"Sq > 100", 0}, {"Sq % 64 == 0", 0},
		{"1 + 1 == 2 && 2 < 3", 1}, {"0 || 5", 1}, {"0 || 0", 0}, {"1 && 0", 0}, {"1 || 0 && 0", 1}, {"(1 || 0) && 0", 0}, {"!0", 1}, {"!D", 0}, {"!!D", 1}, {"!D == 0", 1},
		{"0 && 1/0", 0}, {"1 || 1/0", 1}, {"1 ? 2 : 1/0", 2}, {"0 ? unknown : 3", 3}, {"0 && unknown", 0},
		{"causal ? Sq : Skv", 100}, {"0 ? 1 : 0 ? 2 : 3", 3}, {"1 ? 0 ? 1 : 2 : 3", 2}, {"1 + 1 ? 2 + 3 : 4", 5}, {"(1 ? 2 : 3) * 4", 8},
		{"scale < 1", 1}, {"scale == 0.125", 1}, {"1/D < 0.5", 1}, {"1/D*scale > 0", 1}, {"scale > 0 ? 1 : 2", 1}, {"1e3 == 1000", 1},
	} {
		e, err := Parse(c.text)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := e.Int(env); got != c.want || err != nil {
			t.Errorf("%s is %d, %v; want %d", c.text, got, err, c.want)
		}
		if got, err := e.Eval(env); got != Int(c.want) || err != nil {
			t.Errorf("%s evaluates to %v, %v; want %d", c.text, got, err, c.want)
		}
		if got, err := e.Bool(env); got != (c.want != 0) || err != nil {
			t.Errorf("%s is %t, %v", c.text, got, err)
		}
	}
}

func TestFloat(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		int  bool // Eval returns an integer
	}{
		{"scale", 0.125, false}, {"scale*1.4426950408889634", 0.125 * 1.4426950408889634, false}, {"2*scale", 0.25, false}, {"-scale", -0.125, false},
		{"scale*(1/D)", 0.125 / 64, false}, {"1/D*scale", 0.125 / 64, false}, {"scale+1", 1.125, false}, {"scale/-2", -0.0625, false},
		{"min(scale, 2)", 0.125, false}, {"max(1, 2.5, 2)", 2.5, false}, {"causal ? scale : 1", 0.125, false}, {"!causal ? scale : 1", 1, false},
		{"1e-3", 0.001, false}, {"1.5E+2", 150, false}, {".5", 0.5, false}, {"2.", 2, false}, {"-0.5", -0.5, false}, {"1e-3-1", -0.999, false},
		{"scale*(Sq%64)", 4.5, false}, {"scale*cdiv(Sq, 64)", 0.25, false}, {"scale*(Sq > 64)", 0.125, false}, {"scale*(Sq/64 == 1)", 0.125, false},
		{"3-1", 2, true}, {"D%48", 16, true}, {"D < 1", 0, true}, {"9223372036854775807", 1 << 63, true},
	} {
		e := Must(c.text)
		if got, err := e.Float(env); got != c.want || err != nil {
			t.Errorf("%s is %v, %v; want %v", c.text, got, err, c.want)
		}
		if got, err := e.Eval(env); got.Float64() != c.want || err != nil || got.IsInt() != c.int {
			t.Errorf("%s evaluates to %v, %v; want %v, integer: %t", c.text, got, err, c.want, c.int)
		}
	}
	if got, err := Must("1/D").Float(env); got != 1.0/64 || err != nil {
		t.Errorf("1/D as a float is %v, %v", got, err)
	}
}

func TestParseErrors(t *testing.T) {
	terms := strings.Repeat("1+", 256)
	for _, c := range []struct {
		text   string
		offset int
		want   string
	}{
		{"", 0, "a number, a name or a parenthesis is missing"}, {"1+", 2, "is missing"}, {"1 + * 2", 4, "is missing"}, {"min()", 4, "is missing"},
		{"(1", 2, ") is missing"}, {"min(1, 2", 8, ") is missing"}, {"1 ? 2", 5, ": is missing: a choice is c ? a : b"},
		{"1 2", 2, `unexpected "2"`}, {"a b", 2, `unexpected "b"`}, {"1)", 1, `unexpected ")"`}, {"1 & 2", 2, `unexpected "& 2"`}, {"\xff", 0, "is missing"},
		{"D = 64", 2, "write == to compare"}, {"1 < 2 < 3", 6, "comparisons do not chain"}, {"1 == 2 != 3", 7, "comparisons do not chain"},
		{"1+sin(1)", 2, "unknown function sin: the functions are min, max and cdiv"}, {"cdiv(1)", 0, "cdiv takes two arguments, and this call has 1"}, {"max", 0, "max is a function"},
		{"a..b", 0, "a..b is not a name"}, {"1+a.", 2, "a. is not a name"}, {"a.1", 0, "is not a name"}, {".a", 0, "is not a name"},
		{"1..2", 0, "1..2 is not a number"}, {"2+12ab", 2, "12ab is not a number"}, {"1_000", 0, "is not a number"}, {"1_0.0", 0, "is not a number"}, {"0x", 0, "is not a number"}, {"0x1p4", 0, "is not a number"}, {"1e", 0, "is not a number"},
		{"010", 0, "starts with 0"}, {"1e999", 0, "too large for a float"},
		{"9223372036854775808", 0, "does not fit"}, {"-9223372036854775809", 1, "does not fit"}, {"99999999999999999999", 0, "does not fit"}, {"0x10000000000000000", 0, "does not fit"},
		{strings.Repeat("(", 40) + "1", 33, "more than 32 levels of nesting"}, {strings.Repeat("-", 40) + "a", 33, "more than 32 levels"}, {strings.Repeat("1?1:", 40) + "1", 130, "more than 32 levels"},
		{terms + "1", 512, "more than 256 numbers and names"}, {strings.Repeat(" ", 4096) + "1", 4096, "the text has 4097 bytes"},
	} {
		_, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) || e.Offset != c.offset || e.Text != c.text || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%q: %v, want offset %d and %q", c.text, err, c.offset, c.want)
		}
	}
	for _, text := range []string{strings.Repeat("(", 32) + "1" + strings.Repeat(")", 32), strings.Repeat("-", 32) + "1", terms[:511]} {
		if _, err := Parse(text); err != nil {
			t.Errorf("at the limit: %v", err)
		}
	}
}

func TestHugeTextsAreRefusedFast(t *testing.T) {
	start := time.Now()
	for _, unit := range []string{"1+", "(", "-", "1?", "min(", "a ", "1?1:", "9"} {
		_, err := Parse(strings.Repeat(unit, 1e6))
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("%s a million times: %.300v", unit, err)
		}
	}
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestEvalErrors(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
		want   string
	}{
		{"1/(D-64)", 1, "division by zero"}, {"D%0", 1, "division by zero"}, {"1+cdiv(D, 0)", 2, "division by zero"},
		{"-7/2", 2, "/ of -7 and 2: its operands must not be negative"}, {"7%-2", 1, "% of 7 and -2"}, {"cdiv(-7, 2)", 0, "cdiv of -7 and 2"}, {"7/-2", 1, "must not be negative"},
		{"9223372036854775807+1", 19, "the result of + overflows a 64-bit integer"}, {"-9223372036854775807-2", 20, "the result of - overflows"}, {"9223372036854775807*2", 19, "the result of * overflows"},
		{"-(-9223372036854775808)", 0, "the result of - overflows"}, {"4294967296*4294967296", 10, "overflows"}, {"-9223372036854775808*-1", 20, "overflows"}, {"4294967296*2147483648", 10, "overflows"},
		{"2*scale", 2, "scale is a float, and an integer is needed"}, {"1.5", 0, "1.5 is a float"}, {"2.0", 0, "2.0 is a float"}, {"1 ? 2 : 3.5", 8, "3.5 is a float"},
		{"scale % 2", 0, "scale is a float, and % takes integers"}, {"cdiv(1, 2.5)", 8, "cdiv takes integers"}, {"!scale", 1, "! takes integers"}, {"scale && 1", 0, "&& takes integers"}, {"1 && scale", 5, "&& takes integers"}, {"scale ? 1 : 2", 0, "? takes integers"},
		{"1 + T", 4, "unknown name T: the known names are D, Skv, Sq, causal, nan, q.stride1, scale"}, {"T == 1.5", 0, "unknown name T"}, {"1 && T", 5, "unknown name T"},
		{"nan < 1", 0, "nan is NaN"}, {"scale < 1.0/0", 11, "division by zero"}, {"0 < 1e308*10", 9, "the result of * overflows a float"},
	} {
		_, err := Must(c.text).Int(env)
		var e *Error
		if !errors.As(err, &e) || e.Offset != c.offset || !strings.Contains(e.Msg, c.want) {
			t.Errorf("%s: %v, want offset %d and %q", c.text, err, c.offset, c.want)
		}
	}
	if _, err := Must("x").Int(nil); err == nil || !strings.Contains(err.Error(), "no names are known here") {
		t.Error(err)
	}
	if _, err := Must("1/(scale-scale)").Float(env); err == nil || !strings.Contains(err.Error(), "division by zero") {
		t.Error(err)
	}
}

func TestZero(t *testing.T) {
	var e Expr
	if !e.IsZero() || e.String() != "" || len(e.Names()) != 0 || e.Check() != nil || Const(0).IsZero() {
		t.Error("the zero expression is not empty")
	}
	if _, err := e.Int(env); err == nil {
		t.Error("the zero expression has an integer value")
	}
	if _, err := e.Float(env); err == nil {
		t.Error("the zero expression has a float value")
	}
	if _, err := e.Eval(env); err == nil {
		t.Error("the zero expression has a value")
	}
}

func TestNames(t *testing.T) {
	e := Must("min(q.stride1, Sq) + D*Sq > 0 ? D : a")
	if got := e.Names(); !slices.Equal(got, []string{"D", "Sq", "a", "q.stride1"}) {
		t.Errorf("names %v", got)
	}
	if err := e.Check("D", "Sq", "a", "q.stride1"); err != nil {
		t.Error(err)
	}
	var bad *Error
	if err := e.Check("D", "q.stride1"); !errors.As(err, &bad) || bad.Offset != 15 || bad.Msg != "unknown name Sq: the known names are D, q.stride1" {
		t.Errorf("%v", err)
	}
}

func TestConst(t *testing.T) {
	for _, n := range []int64{0, -1, 64, math.MinInt64, math.MaxInt64} {
		for _, e := range []Expr{Const(n), Must(Const(n).String())} {
			if got, err := e.Int(nil); got != n || err != nil {
				t.Errorf("%v is %d, %v", e, got, err)
			}
		}
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		v     Value
		text  string
		int   int64
		float float64
	}{
		{Int(-3), "-3", -3, -3}, {Bool(true), "1", 1, 1}, {Bool(false), "0", 0, 0}, {Float(2), "2.0", 2, 2}, {Float(-2.75), "-2.75", -2, -2.75}, {Float(1e300), "1e+300", math.MaxInt64, 1e300},
		{Float(-1e300), "-1e+300", math.MinInt64, -1e300}, {Float(math.Inf(1)), "+Inf", math.MaxInt64, math.Inf(1)},
	} {
		if c.v.String() != c.text || c.v.Int64() != c.int || c.v.Float64() != c.float {
			t.Errorf("%v: %d %v, want %s %d %v", c.v, c.v.Int64(), c.v.Float64(), c.text, c.int, c.float)
		}
	}
	if Float(math.NaN()).Int64() != 0 {
		t.Error("NaN is not 0 as an integer")
	}
}

func TestJSON(t *testing.T) {
	type holder struct {
		Grid   []Expr `json:"grid"`
		Shared Expr   `json:"shared,omitzero"`
		None   Expr   `json:"none"`
	}
	var h holder
	if err := json.Unmarshal([]byte(`{"grid": ["cdiv(Sq, 64)", 2, -1.5e1, "a < b && c"], "none": ""}`), &h); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"grid":["cdiv(Sq, 64)","2","-1.5e1","a \u003c b \u0026\u0026 c"],"none":""}`
	if string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	var again holder
	if err := json.Unmarshal(text, &again); err != nil || !again.None.IsZero() || again.Grid[3].String() != "a < b && c" {
		t.Errorf("%+v, %v", again, err)
	}
	e := Const(7)
	for _, bad := range []string{`"1+"`, `true`, `[1]`, `{}`} {
		if err := json.Unmarshal([]byte(bad), &e); err == nil || e.String() != "7" {
			t.Errorf("%s: %v, %v", bad, e, err)
		}
	}
	if err := json.Unmarshal([]byte(`null`), &e); err != nil || e.String() != "7" {
		t.Errorf("null: %v, %v", e, err)
	}
}

func TestMust(t *testing.T) {
	defer func() {
		if _, ok := recover().(*Error); !ok {
			t.Error("Must did not panic with an *Error")
		}
	}()
	Must("1+")
}

// TestNormal: spelling does not change the normal form, and the order of operations does.
func TestNormal(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a+b", "a + b"}, {" ( a ) +\tb", "a + b"}, {"a+(b+c)", "a + (b + c)"}, {"(a+b)+c", "a + b + c"},
		{"a * b", "a*b"}, {"a*(b/c)", "a*(b/c)"}, {"(a+b)*c", "(a + b)*c"}, {"a+(b*c)", "a + b*c"},
		{"min( a,cdiv(b,0x10) )", "min(a, cdiv(b, 16))"}, {"1e3", "1000.0"}, {".5", "0.5"},
		{"-1", "-1"}, {"-(1)", "-(1)"}, {"-a", "-a"}, {"-(a+b)", "-(a + b)"}, {"- -a", "--a"}, {"a- -1", "a - -1"}, {"!(a&&b)", "!(a && b)"},
		{"(a<b)==c", "(a < b) == c"}, {"a<(b==c)", "a < (b == c)"}, {"a||(b&&c)", "a || b && c"}, {"(a||b)&&c", "(a || b) && c"},
		{"a?b:(c?d:e)", "a ? b : c ? d : e"}, {"(a?b:c)?d:e", "(a ? b : c) ? d : e"}, {"(a?b:c)+1", "(a ? b : c) + 1"},
		{"B*H*cdiv(Sq, 64)", "B*H*cdiv(Sq, 64)"},
	} {
		if got := Must(c.text).Normal().String(); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
	if zero := (Expr{}).Normal(); !zero.IsZero() {
		t.Errorf("the zero value becomes %q", zero)
	}
	_, err := Must("a/( b )").Normal().Eval(Env{"a": Int(1), "b": Int(0)})
	var at *Error
	if !errors.As(err, &at) || at.Text != "a/b" || at.Offset != 1 {
		t.Errorf("the error of a normal form is %v", err)
	}
}
