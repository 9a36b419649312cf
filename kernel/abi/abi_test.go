package abi

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/internal/jsonpos"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
)

var shape = problem.Shape{B: 2, Hq: 8, Hkv: 2, Sq: 100, Skv: 300, D: 64}

// bind evaluates the expressions of a call for the test's shape.
func bind(t testing.TB, k *kernel.Kernel) (*kernel.Plan, error) {
	t.Helper()
	p, err := problem.FromFacts(k.Fixed)
	if err != nil {
		t.Fatal(err)
	}
	p.Shape = shape
	return k.Bind(p, kernel.Chip{SMs: 132}, kernel.Options{Values: expr.Env{"qs": expr.Float(0.5), "ks": expr.Float(1), "vs": expr.Float(1)}})
}

// document returns a valid file in which new replaces old.
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
		{`"entry": "k", `, ``, `f.json:1:1: `},
		{`e4m3`, `fp4`, `f.json:2:27: `},
		{`"format"`, `"fromat"`, `f.json:2:17: `},
		{`"u32": "S"`, `"u32": "T"`, `f.json:4:86: `},
		{`"u32": "S"`, `"u33": "S"`, `f.json:4:78: `},
		{`{"u32": "S"}`, `{"u32": "S", "i8": 1}`, `f.json:4:77: a parameter has exactly one of`},
		{`{"u32": "S"}`, `{"pointer": "workspace"}`, `a workspace needs "bytes"`},
		{`{"u32": "S"}`, `{"u32": 1, "zero": true}`, `only a workspace, o and lse have "zero"`},
		{`{"u32": "S"}`, `{"u32": 1, "bytes": 4}`, `only a workspace has "bytes"`},
		{`{"u32": "S"}`, `{"pointer": "p"}`, `q, k, v, k_new`},
		{`{"u32": "S"}`, `7`, `object`},
		{`{"pointer": "o"}, `, ``, `f.json:3:13: no parameter points to o`},
		{`"entry": "k"`, `"entry": "k", "bias": "f16"`, `"bias" is f16, but no parameter points to bias`},
		{`{"u32": "S"}`, `{"pointer": "rope_cos"}`, `"rope" is halves, but no parameter points to rope_sin`},
		{`"grid": [1]`, `"grid": 1`, `f.json:6:11: `},
		{`"grid": [1]`, `"grid": [1,1,1,1]`, `1 to 3`},
		{`"grid": [1]`, `"grid": [true]`, `expression`},
		{`"block": [128]`, `"block": [128], "block": [1]`, `"block"`},
		{`"entry": "k"`, `"entry": 1`, `string`},
		{`"entry": "k"`, `"entry": "k", "causal": 1`, `true or false`},
		{`{"u32": "S"}`, `{"tensormap": {"pointer": "k", "type": "u8", "dims": ["D", "S"], "box": [1]}}`, `the box has 1 extent, but the tensor has 2 dimensions`},
		{`{"u32": "S"}`, `{"tensormap": {"pointer": "k", "type": "u8", "dims": ["D", "S"], "strides": [1, 2], "box": [1, 1]}}`, `2 strides for 2 dimensions`},
		{`{"u32": "S"}`, `{"tensormap": {"pointer": "k"}}`, `"type"`},
		{`e4m3"`, `f16", "scaling": "per-head"`, `f16 has no scales`},
		{`e4m3"`, `e4m3", "scaling": "none"`, ``},
		{`{"u32": "S"}`, `{"pointer": "qs"}`, ``},
		{`e4m3"`, `e4m3", "scaling": "per-block", "scale_block": [16, 8]`, ``},
		{`e4m3"`, `e4m3", "scaling": "per-block", "scale_block": [16]`, `a list of two numbers`},
		{`e4m3"`, `e4m3", "scaling": "per-block", "scale_block": [16, 0]`, `f.json:2:`},
		{`e4m3"`, `e4m3", "scaling": "per-block"`, `a block has at least one`},
		{`e4m3"`, `e4m3", "scaling": "per-page"`, `the keys are not paged`},
		{`e4m3"`, `e4m3", "format_q": "e5m2"`, `f.json:2:`},
		{`e4m3"`, `e4m3", "format_q": "bf16"`, ``},
		{`"params": [`, `"format_q": "bf16", "params": [{"pointer": "qs"}, `, `qs is a scale, but Q is in bf16`},
		{`e4m3"`, `e4m3", "scale_block": [1, 1]`, `but scaling is per-head`},
		{`{"u32": "S"}`, `{"pointer": "page_table"}, {"u32": "max_pages"}`, ``},
		{"[128]\n}", "[128]\n} x", `f.json:7:3: there is more after the end`},
		{"[128]\n}", `[128]`, `the text ends too early`},
	} {
		_, err := Parse("f.json", []byte(document(c.old, c.new)))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	if _, err := Parse("f.json", []byte(strings.Replace(document(`{"u32": "S"}`, `{"pointer": "qs"}`), "e4m3", "f16", 1))); err == nil || !strings.Contains(err.Error(), "qs is a scale") {
		t.Errorf("a parameter for a scale with format f16: %v", err)
	}
}

const everything = `{
  "entry": "k", "format": "e4m3", "scaling": "per-tensor", "output": "f32", "layout": "BSHD", "causal": true,
  "params": [
    {"pointer": "q"}, {"pointer": "v"}, {"tensormap": {"pointer": "k", "type": "u8", "dims": ["D", "Skv*Hkv", "B"], "box": ["D", 64, 1], "swizzle": "64B", "fill": "nan"}},
    {"pointer": "o"}, {"pointer": "lse"}, {"pointer": "workspace", "bytes": "4*B*H"}, {"pointer": "workspace", "bytes": 0, "zero": true},
    {"pointer": "ks"}, {"u8": 255}, {"i16": -2}, {"f32": "scale*qs"}, {"f64": 0.5}, {"f16": 1}, {"i64": "-S"}
  ],
  "grid": ["cdiv(Sq, 64)", "H", "B"], "block": [128], "cluster": [1, 2], "shared": "D*1024"
}`

func TestBind(t *testing.T) {
	k, err := Parse("f.json", []byte(everything))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := bind(t, k)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]kernel.Memory{}
	for _, m := range plan.Memory {
		got[m.Name] = m
	}
	for name, bytes := range map[string]int64{
		"q": 2 * 8 * 100 * 64, "k": 2 * 2 * 300 * 64, "o": 4 * 2 * 8 * 100 * 64, "lse": 4 * 2 * 8 * 100, "workspace": 64, "workspace2": 1, "ks": 4,
	} {
		if got[name].Bytes != bytes {
			t.Errorf("%s has %d bytes, want %d", name, got[name].Bytes, bytes)
		}
	}
	if len(got) != 8 || got["workspace2"].Init != kernel.Zero || got["o"].Role != kernel.Output {
		t.Errorf("%+v", got)
	}
	if k, err := Parse("f.json", []byte(strings.NewReplacer(`"entry"`, `"deterministic": false, "entry"`, `"lse"`, `"lse", "zero": true`).Replace(everything))); err != nil ||
		k.Deterministic() || k.Operand("lse").Init != kernel.Zero || k.Operand("o").Init != kernel.AsIs {
		t.Errorf("bits that vary, and a log-sum-exp that starts with zeros: %+v, %v", k, err)
	}
	if !k.Deterministic() || k.Claims["deterministic"] != "" {
		t.Error("a kernel that does not declare it is not deterministic")
	}
	s := plan.Steps[0]
	if s.Grid != [3]int{2, 8, 2} || s.Block != [3]int{128, 1, 1} || s.Cluster != [3]int{1, 2, 1} || s.Shared != 65536 || len(s.Args) != 14 {
		t.Errorf("%+v", s)
	}
	if m := s.Args[2].Map; plan.Memory[s.Args[2].Memory].Name != "k" || !reflect.DeepEqual(m.Strides, []uint64{64, 64 * 600}) || m.Swizzle != 64 || !m.NaNFill {
		t.Errorf("%+v", m)
	}
	if v := s.Args[8].Value; len(v) != 1 || v[0] != 255 {
		t.Errorf("u8 is %v", v)
	}
	if x := math.Float32frombits(binary.LittleEndian.Uint32(s.Args[10].Value)); x != 0.0625 {
		t.Errorf("scale*qs is %v", x)
	}
	if x := int64(binary.LittleEndian.Uint64(s.Args[13].Value)); x != -100 {
		t.Errorf("-S is %d", x)
	}
	if !k.ArgsUse("qs", "ks", "vs") {
		t.Error("ArgsUse does not find the scales that are passed by value")
	}
}

func TestBindErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"grid": [1]`, `"grid": ["S-100"]`, "S-100 is 0"},
		{`{"u32": "S"}`, `{"u8": "S*10"}`, "does not fit"},
		{`{"u32": "S"}`, `{"u32": "-S"}`, "does not fit"},
		{`"block": [128]`, `"block": [128], "shared": -1`, "-1"},
	} {
		k, err := Parse("f.json", []byte(document(c.old, c.new)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bind(t, k); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
}

// TestFiles reads the examples, writes them in the whole form and reads them again.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	all := map[string][]byte{"everything": []byte(everything)}
	for _, name := range files {
		if all[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range all {
		roundTrip(t, name, text)
	}
}

func roundTrip(t testing.TB, name string, text []byte) {
	t.Helper()
	k, err := Parse(name, text)
	if err != nil {
		t.Error(err)
		return
	}
	whole, err := Write(k)
	if err != nil {
		t.Error(err)
		return
	}
	again, err := Parse(name, whole)
	if err != nil {
		t.Errorf("%s: Parse refuses what Write wrote: %v\n%s", name, err, whole)
		return
	}
	if k.Identity() != again.Identity() {
		t.Errorf("%s: the call changes when it is written and read again", name)
	}
}

// FuzzParse checks that Parse returns an error with a position in the file, or a call that
// stays the same when it is written and read again.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"triton_e5m2", "stage5-persistent", "split_merge"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(document("", "")))
	f.Add([]byte(everything))
	f.Fuzz(func(t *testing.T, text []byte) {
		k, err := Parse("f", text)
		if err != nil {
			var e *jsonpos.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Col < 1 {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		roundTrip(t, "f", text)
		p, err := problem.FromFacts(k.Fixed)
		if err != nil {
			return
		}
		p.Shape = shape
		k.Serves(p, kernel.Chip{})
		if plan, err := k.Bind(p, kernel.Chip{}, kernel.Options{}); err == nil {
			for _, m := range plan.Memory {
				if m.Bytes < 1 {
					t.Fatalf("%+v", m)
				}
			}
		}
	})
}

// TestSequences reads calls with sequences of different lengths: the operands say how they lie in
// memory, and the whole form keeps it.
func TestSequences(t *testing.T) {
	for _, c := range []struct{ operands, queries, keys, supports, memory string }{
		{"cu_seqlens_q cu_seqlens_k", "packed", "packed", "ragged", "q 1024 k 1536 cu_seqlens_q 12"},
		{"seqused_q seqused_k", "padded", "padded", "ragged", "q 2560 k 2560 seqused_k 8"},
		{"cu_seqlens_q seqused_k page_table", "packed", "paged", "ragged paged", "q 1024 k 2048 page_table 40"},
		{"kv_indptr kv_indices kv_last_page_len", "", "paged", "ragged paged", "q 2560 kv_indptr 12 kv_indices 16"},
		{"mask", "", "", "mask", "mask 200"},
	} {
		pointers := ""
		for _, o := range strings.Fields(c.operands) {
			pointers += `{"pointer": "` + o + `"}, `
		}
		k, err := Parse("f.json", []byte(document(`{"u32": "S"}`, pointers+`{"u32": "S"}`)))
		if err != nil {
			t.Fatal(err)
		}
		if k.Fixed["queries"] != c.queries || k.Fixed["keys"] != c.keys || !strings.HasSuffix(strings.Join(k.Supports, " "), c.supports) {
			t.Errorf("%s: fixed %v, supports %v", c.operands, k.Fixed, k.Supports)
		}
		p, err := problem.FromFacts(k.Fixed)
		if err != nil {
			t.Fatal(err)
		}
		p.Shape = problem.Square(2, 2, 10, 64)
		if p.Queries != "" {
			p.LengthsQ = "6,2"
		}
		if p.Keys != "" {
			p.LengthsKV = "2,10"
		}
		if p.Keys == problem.Paged {
			p.PageSize, p.Pages, p.TableWidth = 4, 4, 5
		}
		plan, err := k.Bind(p, kernel.Chip{}, kernel.Options{})
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(c.memory)
		for i := 0; i < len(words); i += 2 {
			at := slices.IndexFunc(plan.Memory, func(m kernel.Memory) bool { return m.Name == words[i] })
			if at < 0 || fmt.Sprint(plan.Memory[at].Bytes) != words[i+1] {
				t.Errorf("%s: %s wants %s bytes: %+v", c.operands, words[i], words[i+1], plan.Memory)
			}
		}
		text, err := Write(k)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse("again.json", text); err != nil || again.Identity() != k.Identity() {
			t.Errorf("%s: the whole form is another kernel: %v", text, err)
		}
	}
}
