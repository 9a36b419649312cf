package build

import "github.com/GOATnote-Inc/attest/ptx"

// constant makes a literal operand.
func (k *Kernel) constant(kind ptx.OperandKind, v int64) *val {
	return &val{k: k, op: ptx.Operand{Kind: kind, Val: v}}
}

// constBitsOf puts bits into a register, for types that PTX has no literals of.
func constBitsOf[T Value](k *Kernel, bits int64) T {
	o := ptx.Operand{Kind: ptx.ImmOperand, Val: bits, Flags: ptx.Hex}
	return emit1[T](k, movOf[T](), nil, &val{k: k, op: o})
}

// Pred is a constant predicate.
func (k *Kernel) Pred(v bool) Pred {
	bit := int64(0)
	if v {
		bit = 1
	}
	return emit1[Pred](k, "mov.pred", nil, &val{k: k, op: ptx.ImmOp(bit)})
}

// special copies a special register to a new register.
func special[T Value](k *Kernel, name string) T {
	s := ptx.Special(name)
	o := ptx.Operand{Kind: ptx.SpecialOperand, Sym: s}
	return emit1[T](k, "mov."+s.Type.String(), nil, &val{k: k, op: o})
}

// param declares a scalar parameter and loads it.
func param[T Value](k *Kernel, name string) T {
	var zero T
	t := memType(zero.Type())
	sym := k.newParam(&ptx.Var{Space: ptx.Param, Type: t}, name)
	return emit1[T](k, "ld.param."+t.String(), nil, &address{k: k, sym: sym})
}

// ParamGlobal declares a kernel parameter that points to values of type T in global memory.
// It is a function and not a method for each type: packages that use build would compile the
// methods of all pointer types.
func ParamGlobal[T Value](k *Kernel, name string) Global[T] {
	sym := k.newParam(&ptx.Var{Space: ptx.Param, Type: ptx.U64}, name)
	generic := emit1[U64](k, "ld.param.u64", nil, &address{k: k, sym: sym})
	return GlobalAt[T](emit1[U64](k, "cvta.to.global.u64", nil, generic))
}

func (k *Kernel) newParam(v *ptx.Var, name string) *ptx.Symbol {
	if k.scope.parent != nil {
		k.errorf("parameter %q is declared inside %s: declare it at the top of the kernel", name, k.scope.what)
	}
	k.params = append(k.params, v)
	return k.declare(v, name)
}

// TensorMap is a tensor map: 128 bytes that describe a tensor to the copy engine. The
// kernel gets it by value.
type TensorMap struct {
	addr U64
}

// ParamTensorMap declares a tensor map parameter. Needs sm_90.
func (k *Kernel) ParamTensorMap(name string) TensorMap {
	sym := k.newParam(&ptx.Var{Space: ptx.Param, Align: 64, Type: ptx.B8, Dims: []int64{128}}, name)
	inParam := emit1[U64](k, "mov.b64", nil, symArg{sym})
	return TensorMap{emit1[U64](k, "cvta.param.u64", nil, inParam)}
}

// Addr is the generic address of the tensor map, for prefetch.tensormap.
func (t TensorMap) Addr() Generic[B8] {
	return &Ptr[B8, U64, genericSpace]{address{k: t.addr.k, base: t.addr.val}}
}

func (t TensorMap) operand(k *Kernel) (ptx.Operand, bool) { return t.Addr().operand(k) }

// at is the operand [tensor map, {coordinates}].
func (t TensorMap) at(coords Coords) arg { return tensorAt{t, coords} }

type tensorAt struct {
	t      TensorMap
	coords Coords
}

// elems are the coordinates as operands.
func (a tensorAt) elems() vec {
	var list vec
	switch cs := a.coords.(type) {
	case []U32:
		return vecOf(cs)
	case []Int:
		for _, c := range cs {
			list = append(list, in(ptx.U32, c))
		}
	}
	return list
}

// dims is how many dimensions a box has.
func dims(coords Coords) int { return len(tensorAt{coords: coords}.elems()) }

func (a tensorAt) operand(k *Kernel) (ptx.Operand, bool) {
	o, ok := a.t.operand(k)
	if !ok {
		return o, false
	}
	elems := a.elems()
	if len(elems) == 0 {
		k.errorf("%s: the coordinates of a box are a []U32 or an []Int of 1 to 5, not a %T", k.doing, a.coords)
		return o, false
	}
	c, ok := elems.operand(k)
	o.Elems = []ptx.Operand{c}
	return o, ok
}

// SharedArray declares an array of n values of type T in shared memory.
func SharedArray[T Value](k *Kernel, name string, n int) Shared[T] {
	var zero T
	if n < 1 {
		k.errorf("shared array %q has %d elements: give it at least one", name, n)
	}
	t := memType(zero.Type())
	v := &ptx.Var{Space: ptx.Shared, Align: max(t.Bytes(), sharedAlign), Type: t, Dims: []int64{int64(n)}}
	k.shared = append(k.shared, v)
	return &Ptr[T, U32, sharedSpace]{address{k: k, sym: k.declare(v, name), space: "shared"}}
}

// sharedAlign is the alignment of shared arrays: enough for 16-byte vectors,
// cp.async and bulk copies of linear data.
const sharedAlign = 16

// DynamicShared is the shared memory whose size the launch decides, aligned to align bytes
// (1024 suits every swizzle of the copy engine). A kernel has one such array, and
// [SharedAs] divides it.
func (k *Kernel) DynamicShared(align int) Shared[B8] {
	if k.dynamic == nil {
		k.dynamic = &ptx.Var{Linkage: ptx.Extern, Space: ptx.Shared, Align: align, Type: ptx.B8, Dims: []int64{ptx.Unsized}}
		k.declare(k.dynamic, "dynamic_shared")
	}
	if align < 1 || align&(align-1) != 0 {
		k.errorf("%d is not an alignment of shared memory: use a power of two", align)
	}
	k.dynamic.Align = max(k.dynamic.Align, align)
	return &Ptr[B8, U32, sharedSpace]{address{k: k, sym: k.dynamic.Sym, space: "shared"}}
}

// SharedAlign raises the alignment of the static shared array p above the usual 16 bytes.
func SharedAlign[T Value](p Shared[T], align int) Shared[T] {
	if s := p.a.sym; s != nil && s.Var != nil {
		s.Var.Align = max(s.Var.Align, align)
	}
	return p
}
