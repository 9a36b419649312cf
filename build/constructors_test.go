package build

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/isatest"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
	"github.com/GOATnote-Inc/attest/ptx/verify"
)

// TestConstructors calls every constructor of every type with arbitrary operands, and checks
// that it emits an instruction of the table. If ptxas is on PATH, it must assemble all of them,
// each for the oldest target and version that its instruction needs.
func TestConstructors(t *testing.T) {
	as, err := isatest.Find()
	if err != nil {
		t.Logf("the instructions are compared only with the table: %v", err)
	}
	byNeeds := map[string][]*call{}
	for _, c := range constructors(t) {
		if msg := c.try(); msg != "" {
			t.Errorf("%s: %s", c.name, msg)
			continue
		}
		needs := fmt.Sprint(c.version, c.target)
		byNeeds[needs] = append(byNeeds[needs], c)
	}
	if err != nil || t.Failed() {
		return
	}
	for needs, cs := range byNeeds {
		t.Run(needs, func(t *testing.T) {
			t.Parallel()
			assembleCalls(t, as, cs)
		})
	}
}

// assembleCalls assembles the instructions of all calls as one module.
func assembleCalls(t *testing.T, as *isatest.Assembler, cs []*call) {
	if as.Version.Less(cs[0].version) {
		t.Skipf("ptxas reads PTX up to %s", as.Version)
	}
	k := newCallKernel()
	for _, c := range cs {
		c.run(k)
	}
	withRegisters(k)
	m := k.assemble()
	m.Version, m.Target = cs[0].version, cs[0].target
	if err := as.Assemble(m, "-O0"); err != nil {
		t.Error(err)
	}
}

// withRegisters replaces immediates by registers where the table allows both, because only
// registers have types that ptxas can check.
func withRegisters(k *Kernel) {
	for _, s := range k.body {
		in, ok := s.(*ptx.Inst)
		if !ok {
			continue
		}
		m, err := isa.Resolve(in)
		if err != nil {
			continue
		}
		at, _ := m.Bind(in.Args)
		for p, a := range at {
			q := &m.Form.Params[p]
			if a >= 0 && q.Kind == isa.Value && in.Args[a].IsConst() {
				in.Args[a] = ptx.RegOp(newReg(m.Type(q)))
			}
		}
	}
}

// call is one constructor, its arguments and what its instruction needs.
type call struct {
	name    string
	method  reflect.Method
	guess   guess
	version ptx.Version
	target  ptx.Target
}

// notConstructors lists the methods of Kernel that are not constructors of one instruction.
var notConstructors = strings.Fields(`AsU32 Mma WmmaMma WmmaLoadA WmmaLoadB WmmaLoadC WmmaStoreD WgmmaMmaAsync Name Target Version Comment PTX Module Strict Warnings
	If Loop While Until Break Continue Switch Return
	MaxNTid ReqNTid MinNCTAPerSM MaxNReg ReqNCTAPerCluster ExplicitCluster MaxClusterRank DynamicShared`)

func constructors(t *testing.T) (cs []*call) {
	kernel := reflect.TypeFor[*Kernel]()
	for i := range kernel.NumMethod() {
		m := kernel.Method(i)
		declares := strings.HasPrefix(m.Name, "Param") || strings.HasPrefix(m.Name, "Shared")
		if !declares && !slices.Contains(notConstructors, m.Name) {
			cs = append(cs, &call{name: "Kernel." + m.Name, method: m})
		}
	}
	for _, z := range valueTypes {
		typ := reflect.TypeOf(z)
		for i := range typ.NumMethod() {
			if m := typ.Method(i); m.Name != "Type" && m.Name != "Var" {
				cs = append(cs, &call{name: typ.Name() + "." + m.Name, method: m})
			}
		}
	}
	if len(cs) < 1000 {
		t.Fatalf("found only %d constructors", len(cs))
	}
	return cs
}

var valueTypes = []Value{Pred{}, B8{}, U8{}, S8{}, B16{}, U16{}, S16{}, F16{}, BF16{}, E4M3x2{}, E5M2x2{}, B32{}, U32{}, S32{},
	F32{}, F16x2{}, BF16x2{}, U16x2{}, S16x2{}, TF32{}, B64{}, U64{}, S64{}, F64{}, B128{}}

func newCallKernel() *Kernel {
	k := New("calls", ptx.SM90a)
	k.version = ptx.Version{Major: 8, Minor: 8}
	return k
}

// guess holds the values of arguments that do not follow from their Go types: the constants, the
// length of slices, and whether addresses are in the wider window (the shared memory of another
// block, or generic).
type guess struct {
	constant, length int
	remote           bool
}

// try looks for arguments that the constructor accepts and records what the instruction needs.
// If all guesses fail, it returns the reason of the first.
func (c *call) try() (why string) {
	for _, constant := range []int{1, 16, 64, 128, 8, 0} {
		for _, length := range []int{2, 16, 3, 4, 5, 1} {
			for _, remote := range []bool{false, true} {
				c.guess = guess{constant, length, remote}
				k := newCallKernel()
				c.run(k)
				if len(k.errs) == 0 {
					c.note(k)
					return ""
				}
				if why == "" {
					why = k.errs[0].Msg
				}
			}
		}
	}
	return why
}

// note records the oldest target and version of the call's instructions, but at least sm_80,
// which is the oldest target that attest supports.
func (c *call) note(k *Kernel) {
	needs, _ := verify.MinTarget(k.assemble())
	c.version, c.target = needs.Version, needs.Target
	if c.target.SM < 80 {
		c.target = ptx.SM80
	}
	if v := c.target.MinVersion(); c.version.Less(v) {
		c.version = v
	}
}

// run calls the constructor on k.
func (c *call) run(k *Kernel) {
	typ := c.method.Func.Type()
	var args []reflect.Value
	mods := []Mod{Eq, And} // a comparison, and what combines it with a predicate
	for i := range typ.NumIn() {
		if typ.IsVariadic() && i == typ.NumIn()-1 {
			continue
		}
		if typ.In(i) == reflect.TypeFor[Mod]() {
			args = append(args, reflect.ValueOf(mods[0]))
			mods = mods[1:]
			continue
		}
		args = append(args, c.arg(k, typ.In(i)))
	}
	c.method.Func.Call(args)
}

// arg returns an argument of the type.
func (c *call) arg(k *Kernel, t reflect.Type) reflect.Value {
	switch t {
	case reflect.TypeFor[*Kernel]():
		return reflect.ValueOf(k)
	case reflect.TypeFor[SharedAddr]():
		if c.guess.remote {
			return reflect.ValueOf(&Ptr[B64, U32, clusterSpace]{address{k: k, base: fresh(k, U32{}).base(), space: "shared::cluster"}})
		}
		return reflect.ValueOf(SharedAt[B64](fresh(k, U32{}).(U32)))
	case reflect.TypeFor[Address]():
		if c.guess.remote {
			return reflect.ValueOf(&Ptr[B64, U64, genericSpace]{address{k: k, base: fresh(k, U64{}).base()}})
		}
		fallthrough
	case reflect.TypeFor[GlobalAddr]():
		return reflect.ValueOf(GlobalAt[B64](fresh(k, U64{}).(U64)))
	case reflect.TypeFor[TensorMap]():
		return reflect.ValueOf(TensorMap{fresh(k, U64{}).(U64)})
	case reflect.TypeFor[int](), reflect.TypeFor[Int](), reflect.TypeFor[Float]():
		return reflect.ValueOf(c.guess.constant)
	case reflect.TypeFor[Coords]():
		return c.arg(k, reflect.TypeFor[[]U32]())
	}
	switch t.Kind() {
	case reflect.Array:
		return c.fill(k, reflect.New(t).Elem())
	case reflect.Slice:
		return c.fill(k, reflect.MakeSlice(t, c.guess.length, c.guess.length))
	case reflect.Pointer: // *Var[T]
		get, _ := t.MethodByName("Get")
		return c.arg(k, get.Type.Out(0)).MethodByName("Var").Call(nil)[0]
	case reflect.Struct:
		return reflect.ValueOf(fresh(k, reflect.Zero(t).Interface().(Value)))
	}
	return reflect.Zero(t) // the Go value of a constant
}

func (c *call) fill(k *Kernel, list reflect.Value) reflect.Value {
	for i := range list.Len() {
		list.Index(i).Set(c.arg(k, list.Type().Elem()))
	}
	return list
}

// fresh returns a value of zero's type in a new register.
func fresh(k *Kernel, zero Value) Value {
	return zero.make(&val{k, ptx.RegOp(newReg(zero.Type())), k.scope})
}
