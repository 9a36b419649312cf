package kernel_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

func exprs(texts ...string) (list []expr.Expr) {
	for _, t := range texts {
		list = append(list, expr.Must(t))
	}
	return list
}

const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry split(.param .u64 q, .param .u64 part, .param .u32 n) { ret; }
.visible .entry merge(.param .u64 part, .param .u64 o) { ret; }
`

// splitMerge is a kernel of two launches with a workspace between them.
func splitMerge() *kernel.Kernel {
	return &kernel.Kernel{
		Name: "split.ptx", PTX: text, Op: "attention",
		Fixed: map[string]string{"D": "64", "format": "f16", "mask": "none"}, Supports: []string{problem.CrossLengths},
		Require: []kernel.Rule{{Holds: expr.Must("Skv >= parts"), Why: "each part needs a key"}, {Holds: expr.Must("B <= 8")}},
		Let:     []kernel.Binding{{Name: "parts", Value: expr.Must("min(4, cdiv(Skv, 64))")}, {Name: "rows", Value: expr.Must("B*H*Sq")}},
		Operands: []kernel.Operand{
			{Name: "q", Type: "f16", Role: kernel.Input, Dims: exprs("B", "H", "Sq", "D"), Strides: exprs("2*H*Sq*D", "Sq*D", "D", "1")},
			{Name: "part", Type: "f32", Role: kernel.Workspace, Dims: exprs("parts", "rows", "D"), Init: kernel.Zero},
			{Name: "o", Type: "f32", Role: kernel.Output, Dims: exprs("rows", "D")},
		},
		Launches: []kernel.Launch{
			{Entry: "split", Args: []kernel.Arg{{Pointer: "q"}, {Pointer: "part"}, {Type: "u32", Value: expr.Must("parts")}},
				Grid: exprs("min(rows*parts, SMs*BlocksPerSM)"), Block: exprs("64"), Shared: expr.Must("D*8")},
			{Entry: "merge", Args: []kernel.Arg{{Pointer: "part"}, {Pointer: "o"}}, Grid: exprs("rows"), Block: exprs("D", "1"), When: expr.Must("parts > 1"), Dependent: true},
		},
		Claims: map[string]string{"p": "f32"}, Structure: map[string]int{"tile_kv": 64},
	}
}

func f16(b, h, sq, skv int) problem.Attention {
	return problem.Attention{Shape: problem.Shape{B: b, Hq: h, Hkv: h, Sq: sq, Skv: skv, D: 64}, Format: problem.F16}
}

func TestBind(t *testing.T) {
	k := splitMerge()
	if err := k.Check(); err != nil {
		t.Fatal(err)
	}
	plan, err := k.Bind(f16(2, 3, 5, 200), kernel.Chip{SMs: 4}, kernel.Options{Resident: func(s kernel.Step) int {
		if s.Entry != "split" || s.Block != [3]int{64, 1, 1} || s.Shared != 512 {
			t.Errorf("residency is asked for %+v", s)
		}
		return 7
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []kernel.Memory{
		{Name: "q", Role: kernel.Input, Bytes: 2 * (1*2*3*5*64 + 2*5*64 + 4*64 + 63 + 1), // strides leave a hole between batches
			Strides: &kernel.Strides{Size: 2, Dims: []int64{2, 3, 5, 64}, By: []int64{2 * 3 * 5 * 64, 5 * 64, 64, 1}}},
		{Name: "part", Role: kernel.Workspace, Init: kernel.Zero, Bytes: 4 * 4 * 30 * 64},
		{Name: "o", Role: kernel.Output, Bytes: 4 * 30 * 64},
	}
	if !reflect.DeepEqual(plan.Memory, want) {
		t.Errorf("%+v, want %+v", plan.Memory, want)
	}
	if len(plan.Steps) != 2 || plan.Steps[0].Grid != [3]int{28, 1, 1} || plan.Steps[1].Grid != [3]int{30, 1, 1} || !plan.Steps[1].Dependent {
		t.Errorf("%+v", plan.Steps)
	}
	if plan, err = k.Bind(f16(1, 1, 1, 10), kernel.Chip{}, kernel.Options{}); err != nil || len(plan.Steps) != 1 {
		t.Errorf("one part is merged: %+v, %v", plan, err)
	}
}

func TestServes(t *testing.T) {
	k := splitMerge()
	for _, c := range []struct {
		change func(*problem.Attention)
		chip   kernel.Chip
		want   string
	}{
		{func(*problem.Attention) {}, kernel.Chip{}, ""},
		{func(p *problem.Attention) { p.Skv = 900 }, kernel.Chip{Target: ptx.SM90a, SharedMax: 512}, ""},
		{func(p *problem.Attention) { p.D = 128 }, kernel.Chip{}, "D is 128: this kernel is written for 64"},
		{func(p *problem.Attention) { p.Format, p.Scaling = problem.E4M3, "" }, kernel.Chip{}, "format is e4m3: this kernel is written for f16"},
		{func(p *problem.Attention) { p.Causal = true }, kernel.Chip{}, "mask is causal: this kernel is written for none"},
		{func(p *problem.Attention) { p.LSE = true }, kernel.Chip{}, "the problem uses lse, which this kernel does not support: it supports cross-lengths"},
		{func(p *problem.Attention) { p.Hq, p.Hkv = 4, 2 }, kernel.Chip{}, "the problem uses grouped-heads"},
		{func(p *problem.Attention) { p.Scale = 0.5 }, kernel.Chip{}, "the problem uses scale"},
		{func(p *problem.Attention) { p.B = 9 }, kernel.Chip{}, "the kernel needs B <= 8 (B is 9)"},
		{func(*problem.Attention) {}, kernel.Chip{Target: ptx.SM89}, "sm_89 does not run code for sm_90"},
		{func(*problem.Attention) {}, kernel.Chip{Target: ptx.SM90, SharedMax: 511}, "512 bytes of shared memory, the chip has 511"},
	} {
		p := f16(1, 2, 5, 7)
		c.change(&p)
		err := k.Serves(p, c.chip)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, want %q", p, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	for want, change := range map[string]func(*kernel.Kernel){
		"no launch":                            func(k *kernel.Kernel) { k.Launches = nil },
		`no operand is called "p"`:             func(k *kernel.Kernel) { k.Launches[0].Args[0].Pointer = "p" },
		"3 parameters, the call describes 2":   func(k *kernel.Kernel) { k.Launches[0].Args = k.Launches[0].Args[:2] },
		`no entry "none": it has split, merge`: func(k *kernel.Kernel) { k.Launches[1].Entry = "none" },
		"two operands are called":              func(k *kernel.Kernel) { k.Operands[1].Name = "q" },
		`type "f17" is not known`:              func(k *kernel.Kernel) { k.Operands[0].Type = "f17" },
		`role "" is not known`:                 func(k *kernel.Kernel) { k.Operands[0].Role = "" },
		"1 stride for 4 dimensions":            func(k *kernel.Kernel) { k.Operands[0].Strides = exprs("1") },
		"names no operation":                   func(k *kernel.Kernel) { k.Op = "" },
		"exactly one of":                       func(k *kernel.Kernel) { k.Launches[0].Args[0] = kernel.Arg{} },
	} {
		k := splitMerge()
		change(k)
		if err := k.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestJSON wants a kernel to survive being written and read: it crosses processes.
func TestJSON(t *testing.T) {
	k := splitMerge()
	written, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	var again kernel.Kernel
	if err := json.Unmarshal(written, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(k, &again) {
		t.Errorf("%+v, want %+v", again, k)
	}
}

func TestStrides(t *testing.T) {
	s := &kernel.Strides{Size: 2, Dims: []int64{2, 3}, By: []int64{1, 4}} // a transposed matrix with gaps
	elements := []byte{1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6}
	memory := []byte{1, 1, 4, 4, 9, 9, 9, 9, 2, 2, 5, 5, 9, 9, 9, 9, 3, 3, 6, 6}
	if got := s.Spread(elements, 20, 9); !reflect.DeepEqual(got, memory) {
		t.Errorf("%v, want %v", got, memory)
	}
	if got := s.Compact(memory); !reflect.DeepEqual(got, elements) {
		t.Errorf("%v, want %v", got, elements)
	}
}
