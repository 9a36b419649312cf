package build

import "github.com/GOATnote-Inc/attest/ptx"

// newLabel makes a branch target, and place puts it into the code. It gets its name when
// the kernel is assembled.
func (k *Kernel) newLabel() *ptx.Symbol { return &ptx.Symbol{Kind: ptx.LabelSymbol} }

func (k *Kernel) place(l *ptx.Symbol) { k.body = append(k.body, &ptx.Label{Sym: l}) }

// bra emits a branch, guarded when p is not nil.
func (k *Kernel) bra(l *ptx.Symbol, p *Pred, neg bool) {
	in := &ptx.Inst{Op: k.opcode("bra", nil), Args: []ptx.Operand{ptx.SymOp(l)}}
	if p != nil {
		o, ok := p.operand(k)
		if !ok {
			return
		}
		in.Guard = ptx.Guard{Sym: o.Sym, Neg: neg != o.Neg}
	}
	k.emit(in)
}

// within runs body in a new scope.
func (k *Kernel) within(what string, body func()) {
	k.scope = &scope{parent: k.scope, what: what}
	body()
	k.scope = k.scope.parent
}

// Branch is an If, which an Else may follow.
type Branch struct {
	k   *Kernel
	end *ptx.Label
}

// If runs then in the threads where p holds.
func (k *Kernel) If(p Pred, then func()) Branch {
	end := k.newLabel()
	k.bra(end, &p, true)
	k.within("If", then)
	k.place(end)
	return Branch{k, k.body[len(k.body)-1].(*ptx.Label)}
}

// Else runs otherwise in the threads where the predicate of the If does not hold. It must
// follow its If directly.
func (b Branch) Else(otherwise func()) {
	k := b.k
	if k.body[len(k.body)-1] != ptx.Stmt(b.end) {
		k.errorf("Else does not directly follow its If")
		return
	}
	k.body = k.body[:len(k.body)-1]
	end := k.newLabel()
	k.bra(end, nil, false)
	k.place(b.end.Sym)
	k.within("Else", otherwise)
	k.place(end)
}

// loop holds the targets of Break and Continue.
type loop struct{ next, end *ptx.Symbol }

func (k *Kernel) looping(l *loop, what string, body func()) {
	k.loops = append(k.loops, l)
	k.within(what, body)
	k.loops = k.loops[:len(k.loops)-1]
}

// Loop runs body for i = from, from+step, … while i < to, compared as unsigned.
func (k *Kernel) Loop(from, to, step Int, body func(i U32)) {
	i := NewVar(k.AsU32(from))
	l := &loop{next: k.newLabel(), end: k.newLabel()}
	top := k.newLabel()
	k.within("Loop", func() {
		skip := i.Get().SetpGe(to)
		k.bra(l.end, &skip, false)
	})
	k.place(top)
	k.looping(l, "Loop", func() { body(i.Get()) })
	k.place(l.next)
	k.within("Loop", func() {
		i.Set(i.Get().Add(step))
		again := i.Get().SetpLt(to)
		k.bra(top, &again, false)
	})
	k.place(l.end)
}

// While runs body as long as cond holds. cond is evaluated before each round.
func (k *Kernel) While(cond func() Pred, body func()) {
	l := &loop{next: k.newLabel(), end: k.newLabel()}
	k.place(l.next)
	k.looping(l, "While", func() {
		p := cond()
		k.bra(l.end, &p, true)
		body()
	})
	k.bra(l.next, nil, false)
	k.place(l.end)
}

// Until repeats body until the predicate that it returns holds. It is the loop of a wait.
func (k *Kernel) Until(body func() Pred) {
	l := &loop{next: k.newLabel(), end: k.newLabel()}
	k.place(l.next)
	k.looping(l, "Until", func() {
		done := body()
		k.bra(l.next, &done, true)
	})
	k.place(l.end)
}

// Break leaves the innermost Loop, While or Until.
func (k *Kernel) Break() {
	if l := k.innermost("Break"); l != nil {
		k.bra(l.end, nil, false)
	}
}

// Continue starts the next round of the innermost Loop, While or Until.
func (k *Kernel) Continue() {
	if l := k.innermost("Continue"); l != nil {
		k.bra(l.next, nil, false)
	}
}

func (k *Kernel) innermost(what string) *loop {
	if len(k.loops) == 0 {
		k.errorf("%s outside of Loop, While and Until", what)
		return nil
	}
	return k.loops[len(k.loops)-1]
}

// Arm is one arm of a Switch.
type Arm struct {
	value uint32
	other bool
	body  func()
}

// Case is the arm taken when the value is v.
func Case(v uint32, body func()) Arm { return Arm{value: v, body: body} }

// Default is the arm taken when no Case matches.
func Default(body func()) Arm { return Arm{other: true, body: body} }

// Switch runs the arm that v selects. All threads of a warp must have the same v, such as
// the role of a warp or a warpgroup, because the branches are uniform.
func (k *Kernel) Switch(v U32, arms ...Arm) {
	end := k.newLabel()
	starts := make([]*ptx.Symbol, len(arms))
	fall := end
	seen := map[uint32]bool{}
	for i, a := range arms {
		starts[i] = k.newLabel()
		switch {
		case a.other && fall != end:
			k.errorf("Switch has two Defaults")
		case a.other:
			fall = starts[i]
		case seen[a.value]:
			k.errorf("Switch has two Cases for %d", a.value)
		}
		seen[a.value] = !a.other || seen[a.value]
	}
	for i, a := range arms {
		if !a.other {
			is := v.SetpEq(a.value)
			k.uniform(starts[i], &is)
		}
	}
	k.uniform(fall, nil)
	for i, a := range arms {
		k.place(starts[i])
		k.within("Case", a.body)
		k.uniform(end, nil)
	}
	k.place(end)
}

// uniform emits a bra.uni.
func (k *Kernel) uniform(l *ptx.Symbol, p *Pred) {
	k.bra(l, p, false)
	if in, ok := k.body[len(k.body)-1].(*ptx.Inst); ok && in.Op.Name == "bra" {
		in.Op = k.opcode("bra.uni", nil)
	}
}

// Return ends the threads that reach it.
func (k *Kernel) Return() { emit0(k, "ret", nil) }
