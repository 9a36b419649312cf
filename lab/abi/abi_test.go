package abi

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/problem"
)

var vars = Vars{Shape: problem.Shape{B: 2, Hq: 8, Hkv: 2, Sq: 100, Skv: 300, D: 64}, SMs: 132, BlocksPerSM: 2, Qs: 0.5}

func TestEnv(t *testing.T) {
	for text, want := range map[string]float64{
		"B": 2, "H": 8, "Hkv": 2, "Sq": 100, "S": 100, "Skv": 300, "D": 64, "SMs*BlocksPerSM": 264,
		"scale": 0.125, "2*scale": 0.25, "scale*1.5": 0.1875, "1/D": 1.0 / 64, "qs+1": 1.5, "ks": 0, "vs": 0,
	} {
		if got, err := expr.Must(text).Float(vars.Env()); got != want || err != nil {
			t.Errorf("%s is %v, %v; want %v", text, got, err, want)
		}
	}
	scaled := vars
	scaled.Scale = 3
	if got, err := expr.Must("scale").Float(scaled.Env()); got != 3 || err != nil {
		t.Errorf("scale is %v, %v; want 3", got, err)
	}
	for name := range vars.Env() {
		if !slices.Contains(names, name) {
			t.Errorf("%s has a value, but files may not use it", name)
		}
	}
}

// document returns a correct ABI file in which one text is replaced.
func document(old, new string) string {
	return strings.Replace(`{
  "entry": "k", "format": "e4m3",
  "params": [
    {"pointer": "q"}, {"pointer": "k"}, {"pointer": "v"}, {"pointer": "o"}, {"u32": "S"}
  ],
  "grid": [1], "block": [128]
}`, old, new, 1)
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"entry": "k", `, ``, `f.json:1:1: an ABI has no field "entry"`},
		{`e4m3`, `fp4`, `f.json:2:27: expected one of u8, u8-legacy, e4m3, e5m2, f16, bf16, found the string "fp4"`},
		{`"format"`, `"fromat"`, `f.json:2:17: unknown field "fromat" of an ABI: the fields are block, causal,`},
		{`"u32": "S"`, `"u32": "T"`, `f.json:4:86: unknown name T: the known names are B, H, Hkv, Sq, Skv, S, D, SMs, BlocksPerSM, scale, qs, ks, vs`},
		{`"u32": "S"`, `"u33": "S"`, `f.json:4:78: unknown field "u33" of a parameter`},
		{`{"u32": "S"}`, `{"u32": "S", "i8": 1}`, `f.json:4:77: a parameter needs exactly one of`},
		{`{"u32": "S"}`, `{"pointer": "workspace"}`, `a workspace needs "bytes"`},
		{`{"u32": "S"}`, `{"u32": 1, "zero": true}`, `only a workspace`},
		{`{"u32": "S"}`, `{"pointer": "p"}`, `expected one of q, k, v, qs, ks, vs, o, lse, workspace, found the string "p"`},
		{`{"u32": "S"}`, `7`, `f.json:4:77: expected a parameter, which is an object, found the number 7`},
		{`{"pointer": "o"}, `, ``, `f.json:3:3: no parameter points to o`},
		{`"grid": [1]`, `"grid": 1`, `f.json:6:11: expected a list of 1 to 3 expressions, found the number 1`},
		{`"grid": [1]`, `"grid": [1,1,1,1]`, `expected a list of 1 to 3 expressions, found 4`},
		{`"grid": [1]`, `"grid": [true]`, `f.json:6:12: expected an expression, which is a string or a number, found true`},
		{`"block": [128]`, `"block": [128], "block": [1]`, `"block" is given twice`},
		{`"entry": "k"`, `"entry": 1`, `expected a string, found the number 1`},
		{`"entry": "k"`, `"entry": "k", "causal": 1`, `true or false`},
		{`"entry": "k"`, `"entry": "k", "scaling": "none", "params": []`, `given twice`},
		{`{"u32": "S"}`, `{"tensormap": {"pointer": "k", "type": "u8", "dims": ["D", "S"], "box": [1]}}`, `the number of extents of the box is 1 and the number of dimensions is 2`},
		{`{"u32": "S"}`, `{"tensormap": {"pointer": "k", "type": "u8", "dims": ["D", "S"], "strides": [1, 2], "box": [1, 1]}}`, `the number of strides is 2 and the number of dimensions is 2`},
		{`{"u32": "S"}`, `{"tensormap": {"pointer": "k"}}`, `a tensor map has no field "type"`},
		{`e4m3"`, `f16", "scaling": "per-head"`, `f16 is not scaled`},
		{`e4m3"`, `e4m3", "scaling": "none"`, ``},
		{`{"u32": "S"}`, `{"pointer": "qs"}`, ``},
		{`[128]
}`, `[128]
} x`, `f.json:7:3: there is more after the end`},
		{`[128]
}`, `[128]`, `the text ends too early`},
		{`[128]
}`, strings.Repeat("[", 20), `nested too deeply`},
	} {
		_, err := Parse("f.json", []byte(document(c.old, c.new)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	if _, err := Parse("f.json", []byte(strings.Replace(document(`{"u32": "S"}`, `{"pointer": "qs"}`), "e4m3", "f16", 1))); err == nil || !strings.Contains(err.Error(), "there are no scales") {
		t.Errorf("a scale of halves: %v", err)
	}
}

// maker keeps the last description of a tensor map.
type maker struct{ desc device.TensorDesc }

func (m *maker) TensorMap(d device.TensorDesc) (device.TensorMap, error) {
	m.desc = d
	return device.TensorMap{7}, nil
}

func TestLaunch(t *testing.T) {
	a, err := Parse("f.json", []byte(`{
	  "entry": "k", "format": "e4m3", "scaling": "per-tensor", "output": "f32", "layout": "BSHD", "causal": true,
	  "params": [
	    {"pointer": "q"}, {"pointer": "v"}, {"tensormap": {"pointer": "k", "type": "u8", "dims": ["D", "Skv*Hkv", "B"], "box": ["D", 64, 1], "swizzle": "64B", "fill": "nan"}},
	    {"pointer": "o"}, {"pointer": "lse"}, {"pointer": "workspace", "bytes": "4*B*H"}, {"pointer": "workspace", "bytes": 0, "zero": true},
	    {"pointer": "ks"}, {"u8": 255}, {"i16": -2}, {"f32": "scale*qs"}, {"f64": 0.5}, {"f16": 1}, {"i64": "-S"}
	  ],
	  "grid": ["cdiv(Sq, 64)", "H", "B"], "block": [128], "cluster": [1, 2], "shared": "D*1024"
	}`))
	if err != nil {
		t.Fatal(err)
	}
	list, err := a.Operands(vars)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	var text []string
	for i, o := range list {
		at[o.Name] = uint64(i + 1)
		text = append(text, o.Name+":"+json.Number(string(rune('0'+o.Role))).String())
	}
	if got := strings.Join(text, " "); got != "q:0 v:0 k:0 o:1 lse:1 workspace:2 workspace2:2 ks:0" {
		t.Errorf("operands %s", got)
	}
	if list[0].Bytes != 2*8*100*64 || list[2].Bytes != 2*2*300*64 || list[3].Bytes != 4*2*8*100*64 || list[4].Bytes != 4*2*8*100 || list[5].Bytes != 64 || list[7].Bytes != 4 || !list[6].Zero {
		t.Errorf("%+v", list)
	}
	m := &maker{}
	l, err := a.Launch(vars, at, m)
	if err != nil {
		t.Fatal(err)
	}
	if l.Grid != device.D(2, 8, 2) || l.Block != device.D(128) || l.Cluster != device.D(1, 2) || l.Shared != 65536 || len(l.Params) != 14 {
		t.Errorf("%+v", l)
	}
	if d := m.desc; d.Addr != at["k"] || len(d.Strides) != 2 || d.Strides[0] != 64 || d.Strides[1] != 64*600 || d.Swizzle != device.Swizzle64B || !d.NaNFill {
		t.Errorf("%+v", d)
	}
	if l.Params[2][0] != 7 || len(l.Params[8]) != 1 || l.Params[8][0] != 255 || binary.LittleEndian.Uint16(l.Params[9]) != 0xfffe || binary.LittleEndian.Uint64(l.Params[5]) != at["workspace"] ||
		math.Float32frombits(binary.LittleEndian.Uint32(l.Params[10])) != 0.0625 || len(l.Params[11]) != 8 || len(l.Params[12]) != 2 || int64(binary.LittleEndian.Uint64(l.Params[13])) != -100 {
		t.Errorf("%v", l.Params)
	}
	if !a.LSE() || !a.ByValue() {
		t.Error("LSE or ByValue is false")
	}
}

func TestLaunchErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"grid": [1]`, `"grid": ["S-100"]`, "S-100 is 0"},
		{`{"u32": "S"}`, `{"u8": "S*10"}`, "does not fit"},
		{`{"u32": "S"}`, `{"u32": "-S"}`, "does not fit"},
		{`{"u32": "S"}`, `{"f32": "1/(S-100)"}`, "division by zero"},
		{`"block": [128]`, `"block": [128], "shared": -1`, "is -1"},
	} {
		a, err := Parse("f.json", []byte(document(c.old, c.new)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Launch(vars, nil, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

// TestFiles reads the example files, writes them and reads them again.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Parse(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := a.Check(); err != nil {
			t.Errorf("written and read again: %v", err)
		}
	}
}

// FuzzParse demands an error with a position, or an ABI that survives being written
// and read again.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"triton_e5m2", "stage5-persistent"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(document("", "")))
	f.Add([]byte(document(`{"u32": "S"}`, `{"tensormap": {"pointer": "k", "type": "u8", "dims": ["D", "S"], "box": [1, 1]}}`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := Parse("f", text)
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Line < 1 || e.Col < 1 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := a.Check(); err != nil {
			t.Fatalf("written and read again: %v", err)
		}
		a.Serves(vars.Shape)
		if list, err := a.Operands(vars); err == nil {
			for _, o := range list {
				if o.Bytes < 0 {
					t.Fatalf("%+v", o)
				}
			}
		}
		a.Launch(vars, nil, &maker{})
	})
}
