package launchfile

import (
	"bytes"
	"strings"
	"testing"
)

// TestParseErrors checks that each error names its position, its launch and its
// parameter.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{``, "l.json:1:1: the text ends too early"},
		{`{"entry": "k",}`, "l.json:1:15: "},
		{"{\n  \"entry\": \"k\"", "l.json:2:15: the text ends too early"},
		{`{"entry": "k"} 1`, "l.json:1:16: there is more"},
		{`[]`, "l.json:1:1: there is no launch"},
		{`3`, "l.json:1:1: launch 0: expected a launch, which is an object, found the number 3"},
		{`{"entry": "k", "entry": "j"}`, `l.json:1:16: field "entry" is given twice`},
		{`{"grid": [1]}`, `l.json:1:1: launch 0: a launch needs "entry"`},
		{`{"entry": 3}`, "l.json:1:11: launch 0: expected a string, found the number 3"},
		{"[{\"entry\": \"k\"},\n {\"entry\": \"j\", \"girth\": 1}]", `l.json:2:17: launch 1 (j): unknown field "girth" of a launch: the fields are entry, grid,`},
		{`{"entry": "k", "grid": [0]}`, "l.json:1:24: launch 0 (k): an extent is 0"},
		{`{"entry": "k", "grid": [1,2,3,4]}`, "l.json:1:24: launch 0 (k): expected one to three extents, found 4"},
		{`{"entry": "k", "block": [1.5]}`, "l.json:1:26: launch 0 (k): expected a whole number from 0 to 2147483647, found the number 1.5"},
		{`{"entry": "k", "block": [-1]}`, "expected a whole number from 0 to 2147483647, found the number -1"},
		{`{"entry": "k", "shared": "a lot"}`, `expected a whole number from 0 to 2147483647, found the string "a lot"`},
		{`{"entry": "k", "cooperative": 1}`, "expected true or false, found the number 1"},
		{`{"entry": "k", "params": {}}`, "expected a list of parameters, found an object"},
		{`{"entry": "k", "params": [1]}`, `launch 0 (k): parameter 0: expected an object such as {"i32": 1}, found the number 1`},
		{`{"entry": "k", "params": [{}]}`, "parameter 0: the kind of the parameter is missing: it needs one of buffer, zeros"},
		{`{"entry": "k", "params": [{"f33": 1}]}`, `l.json:1:28: launch 0 (k): parameter 0: unknown field "f33"`},
		{`{"entry": "k", "params": [{"i32": 1}, {"i32": 1, "u32": 2}]}`, `l.json:1:50: launch 0 (k): parameter 1: a parameter has "i32" and "u32"`},
		{`{"entry": "k", "params": [{"i32": 2147483648}]}`, "parameter 0: 2147483648 does not fit in i32"},
		{`{"entry": "k", "params": [{"i32": 1, "expect": "x"}]}`, `unknown field "expect"`},
		{`{"entry": "k", "params": [{"bytes": "abc"}]}`, "expected hexadecimal digits"},
		{`{"entry": "k", "params": [{"zeros": -4}]}`, "expected a whole number from 0 to 9223372036854775807, found the number -4"},
		{`{"entry": "k", "params": [{"zeros": 4, "expect": ""}]}`, `"expect" is empty`},
		{`{"entry": "k", "params": [{"zeros": 4, "expect": "x", "abs": 1}]}`, `a tolerance needs a "type"`},
		{`{"entry": "k", "params": [{"zeros": 4, "type": "f32", "abs": 1}]}`, `compare with "expect"`},
		{`{"entry": "k", "params": [{"zeros": 4, "expect": "x", "type": "f32", "rel": -1}]}`, "expected a number of at least 0, found the number -1"},
		{`{"entry": "k", "params": [{"zeros": 4, "expect": "x", "type": "float"}]}`, `unknown type "float": the types are i8,`},
		{`{"entry": "k", "params": [{"ref": "x"}]}`, `no earlier buffer has the name "x"`},
		{`{"entry": "k", "params": [{"zeros": 4, "name": "x"}, {"zeros": 4, "name": "x"}]}`, `parameter 1: there already is a buffer with the name "x"`},
		{`{"entry": "k", "params": [{"zeros": 4, "name": "x"}, {"ref": "x", "name": "y"}]}`, `a "ref" already names its buffer`},
		{tensorWith(`"typ": "f32"`), `unknown field "typ"`},
		{tensorWith(`"fill": "one"`), `unknown fill "one": use one of zero, nan`},
		{tensorWith(`"swizzle": "16B"`), `unknown swizzle "16B"`},
		{tensorWith(`"strides": [100]`), "stride 0 is 100 bytes; it must be a multiple of 16"},
		{tensorWith(`"steps": [1]`), "2 dimensions need 2 steps, not 1"},
		{strings.Replace(tensorWith(`"fill": "nan"`), `"buffer": 1`, `"buffer": 0`, 1), "the tensor map refers to parameter 0, which is not a buffer"},
		{strings.Replace(tensorWith(`"fill": "nan"`), `"buffer": 1`, `"buffer": {"u8": 1}`, 1), `a tensor lies in a buffer, not in "u8"`},
		{strings.Replace(tensorWith(`"fill": "nan"`), `"box": [16, 4], `, ``, 1), `a tensor map needs "box", or "im2col"`},
		{tensorWith(`"im2col": {}`), `im2col needs "lower"`},
		{tensorWith(`"im2col": {"lower": [0], "upper": [0], "channels": 16}`), `im2col needs "pixels"`},
		{tensorWith(`"im2col": {"lower": [0], "upper": [0], "channels": 16, "pixels": 4}`), "im2col copies pixels, which have no box"},
		{strings.Repeat("[", 100), "nested too deeply"},
	} {
		_, err := Parse("l.json", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.text, err, c.want)
		}
	}
	if _, err := Parse("l.json", []byte(tensorWith(`"swizzle": "64B"`))); err != nil {
		t.Error(err)
	}
}

// tensorWith returns a launch with a tensor map that has one more field.
func tensorWith(field string) string {
	return `{"entry": "k", "params": [{"tensormap": {"type": "f32", "buffer": 1, "dims": [64, 4], "box": [16, 4], ` + field + `}}, {"zeros": 1024}]}`
}

func TestDecode(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"x.bin", "1 2", "1 2"},
		{"x.f32", "1 2", "1 2"},
		{"f32.txt", "1 2", "1 2"}, // no type, only a name
		{"notes.txt", "1 2", "1 2"},
		{"x.u8.txt", "1 2 # three\n  3*2 7..9\n", "\x01\x02\x03\x03\x07\x08\x09"},
		{"x.i16.txt", "-1..1", "\xff\xff\x00\x00\x01\x00"},
		{"x.f16.txt", "1 0x1234", "\x00\x3c\x34\x12"},
		{"x.hex.txt", "00ff 12 # end", "\x00\xff\x12"},
	} {
		got, err := decode(c.name, []byte(c.text), 1<<30)
		if err != nil || !bytes.Equal(got, []byte(c.want)) {
			t.Errorf("%s %q is % x (%v), want % x", c.name, c.text, got, err, c.want)
		}
	}
	for name, text := range map[string]string{
		"a.u8.txt": "1\n256", "b.u8.txt": "1*x", "c.u8.txt": "5..1", "d.u8.txt": "0..99999999", "e.hex.txt": "123",
		"f.u8.txt": "1*99999999999", "i.u8.txt": "1*1048576 1", "j.u64.txt": "0..131072", "g.f32.txt": "1.5..2", "h.u64.txt": "-9223372036854775808..9223372036854775807",
	} {
		if got, err := decode(name, []byte(text), 1<<20); err == nil || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%s %q is % x with error %v, want an error with its line", name, text, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(tensorWith(`"swizzle": "64B"`)))
	f.Add([]byte(`[{"entry": "k", "grid": [1, 2], "params": [{"f16": "nan"}, {"zeros": 4, "name": "x"}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("l.json", text)
		if err == nil && len(file.Launches) == 0 {
			t.Error("no launch and no error")
		}
	})
}
