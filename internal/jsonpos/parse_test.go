package jsonpos

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f:1:1: the text ends too early"}, {" \n ", "f:2:2: the text ends too early"}, {`{"a"`, "f:1:5: the text ends too early"}, {`{"a": [1,`, "f:1:10: the text ends too early"},
		{`"abc`, "f:1:5: the text ends too early"}, {`"a\`, "f:1:4: the text ends too early"}, {`{"a": 1`, "f:1:8: the text ends too early"},
		{`{"a": 1,}`, `f:1:9: expected the name of a field in quotes, found '}'`}, {`{a: 1}`, `f:1:2: expected the name of a field in quotes, found 'a'`}, {`{"a" 1}`, `f:1:6: expected a colon after the name of a field, found '1'`},
		{"[1\n 2]", `f:2:2: expected a comma or ], found '2'`}, {`{"a": 1 "b": 2}`, `f:1:9: expected a comma or }, found '"'`}, {`[1,]`, `f:1:4: expected a value, found ']'`}, {`[,1]`, `f:1:2: expected a value, found ','`}, {"[\u00e9]", `f:1:2: expected a value, found 'é'`},
		{`{"a": 1} x`, "f:1:10: there is more after the end of the value"}, {`1 2`, "f:1:3: there is more after the end"},
		{"{\n \"a\": 1,\n \"a\": 2}", `f:3:2: field "a" is given twice`}, {`{"a": 1, "\u0061": 2}`, `f:1:10: field "a" is given twice`},
		{`[yes]`, `f:1:2: unexpected word "yes": write a string in quotes`}, {`[tru]`, `f:1:2: unexpected word "tru"`},
		{`[01]`, "f:1:2: 01 is not a JSON number"}, {`[1.]`, "1. is not a JSON number"}, {`[-]`, "- is not a JSON number"}, {`[1e+]`, "1e+ is not"}, {`[+1]`, `expected a value, found '+'`},
		{`["a\x"]`, `f:1:4: "\\x" is not an escape sequence`}, {`["\u12g4"]`, `f:1:3: \u takes four hexadecimal digits`}, {`["\u12`, `f:1:3: \u takes four hexadecimal digits`}, {"[\"a\tb\"]", `f:1:4: a string holds the control character '\t': write \u0009`},
		{"[\"\xff\"]", "f:1:3: the text is not valid UTF-8"}, {"\xff", "f:1:1: the text is not valid UTF-8"},
		{strings.Repeat("[", 17), "f:1:17: nested too deeply: at most 16 levels are allowed"}, {strings.Repeat(`{"a":`, 100), "f:1:81: nested too deeply"}, {strings.Repeat("[", 1e6), "nested too deeply"},
		{"[0" + strings.Repeat(",0", 1<<18), "more than 262144 values"}, {strings.Repeat(" ", 16<<20) + "1", "f:1:1: the text has 16777217 bytes, and at most 16777216 are allowed"},
	} {
		_, err := Parse("f", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), "f:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v, want %q", c.text, err, c.want)
		}
	}
}

func TestErrorInside(t *testing.T) {
	for _, c := range []struct {
		text   string
		offset int
		col    int
	}{
		{`"abc"`, 0, 2}, {`"abc"`, 2, 4}, {`"abc"`, 3, 5}, {`"abc"`, 9, 5}, {`"\u0061bc"`, 1, 8}, {`"\ud83d\ude00b"`, 4, 14}, {`"\ud83d\ude00b"`, 1, 2}, {`"\\\n\"x"`, 3, 8}, {`"éx"`, 2, 4}, {`"\ud800x"`, 3, 8}, {`1234`, 2, 3},
	} {
		n, err := Parse("f", []byte(c.text))
		if err != nil {
			t.Error(err)
			continue
		}
		var e *Error
		if err := n.ErrorInside(c.offset, "here"); !errors.As(err, &e) || c.offset < 9 && e.Col != c.col {
			t.Errorf("byte %d of %s: %v, want column %d", c.offset, c.text, err, c.col)
		}
	}
}

// plain returns the value in the form in which encoding/json decodes it.
func (n *Node) plain() any {
	switch n.kind {
	case Boolean:
		return n.truth
	case Number:
		return json.Number(n.text)
	case String:
		return n.text
	case Array:
		list := []any{}
		for _, item := range n.items {
			list = append(list, item.plain())
		}
		return list
	case Object:
		m := map[string]any{}
		for _, f := range n.fields {
			m[f.Name] = f.Value.plain()
		}
		return m
	}
	return nil
}

// FuzzParse compares Parse with encoding/json: both read the same value, or both
// refuse. Only Parse refuses duplicate fields, invalid UTF-8 and texts over its limits.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"a": [1, -2.5e+3, "x\u00e9\ud83d\ude00\n"], "b": {"c": null, "d": true}}`, `[[[]]]`, `{"a":1,"a":2}`, `"\ud800\u0041"`, "[01]", "nul", " 1 ", "\"\x7f\"", "-0"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := Parse("f", text)
		valid := json.Valid(text)
		if err != nil {
			e, ok := err.(*Error)
			if !ok || e.Line < 1 || e.Line > 1+bytes.Count(text, []byte("\n")) || e.Col < 1 || e.Col > len(text)+1 || e.Msg == "" {
				t.Fatalf("%#v", err)
			}
			stricter := strings.Contains(e.Msg, "given twice") || strings.Contains(e.Msg, "nested too deeply") || strings.Contains(e.Msg, "values")
			if valid && utf8.Valid(text) && !stricter {
				t.Fatalf("%q: %v; encoding/json reads it", text, err)
			}
			return
		}
		if !valid {
			t.Fatalf("%q was read; encoding/json refuses it", text)
		}
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := n.plain(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %#v, want %#v", text, got, want)
		}
		for _, err := range []error{n.ErrorInside(len(n.text)/2, "x"), n.Errorf("x")} {
			if e := err.(*Error); e.Line < 1 || e.Col < 1 || fmt.Sprint(e) == "" {
				t.Fatalf("%#v", e)
			}
		}
	})
}
