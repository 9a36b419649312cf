package marks

import (
	"fmt"
	"path"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// Param is the name of the parameter that [Insert] adds to an entry: the address of the buffer.
const Param = "attest_marks"

// Insert adds marks to an entry of a module that is already written, so that kernels need no code for them. A mark stands
// after each wait: for a barrier, an mbarrier, copies or products; and before the end. Its name is what the warp has waited
// for and the source line, or the PTX line. The entry gets one more parameter, [Param], and each warp records up to limit marks.
// A mark inside a part that the first lane of a warp does not execute is not recorded.
func Insert(m *ptx.Module, entry string, limit int) (*Marks, error) {
	f := m.Func(entry)
	switch {
	case f == nil || !f.Entry:
		return nil, fmt.Errorf("the module has no entry %s to mark", entry)
	case limit <= 0:
		return nil, fmt.Errorf("%d marks per warp: use at least 1", limit)
	}
	for _, p := range f.Params {
		if p.Sym.Name == Param {
			return nil, fmt.Errorf("the entry %s has marks already", entry)
		}
	}
	in := &inserter{Marks: &Marks{limit: limit}, module: m, waits: map[*ptx.Symbol]string{}, after: map[*ptx.Symbol]string{}}
	body := append(in.begin(), in.statements(f.Body)...)
	if len(in.names) == 0 {
		return nil, fmt.Errorf("the entry %s has no place to mark: it never waits and never ends", entry)
	}
	f.Params = append(f.Params, &ptx.Var{Sym: &ptx.Symbol{Name: Param, Kind: ptx.VarSymbol}, Space: ptx.Param, Type: ptx.U64})
	f.Body = body
	return in.Marks, nil
}

// inserter adds marks to the statements of a body.
type inserter struct {
	*Marks
	module *ptx.Module
	source string
	// waits are the predicates of waits for mbarriers that may have to be repeated, with the name of the mark.
	waits map[*ptx.Symbol]string
	// after are labels behind which a mark stands, because a branch leads there when a wait has ended.
	after map[*ptx.Symbol]string
}

// begin returns statements that compute the warp's place in the buffer and write its start.
func (in *inserter) begin() []ptx.Stmt {
	return statements(`.reg .b32 %mark_a, %mark_b, %mark_c
.reg .b64 %mark_at, %mark_end, %mark_word
.reg .pred %mark_first, %mark_on
mov.u32 %mark_a, %ctaid.z
mov.u32 %mark_b, %nctaid.y
mov.u32 %mark_c, %ctaid.y
mad.lo.u32 %mark_a, %mark_a, %mark_b, %mark_c
mov.u32 %mark_b, %nctaid.x
mov.u32 %mark_c, %ctaid.x
mad.lo.u32 %mark_a, %mark_a, %mark_b, %mark_c
mov.u32 %mark_b, %ntid.x
mov.u32 %mark_c, %ntid.y
mul.lo.u32 %mark_b, %mark_b, %mark_c
mov.u32 %mark_c, %ntid.z
mul.lo.u32 %mark_b, %mark_b, %mark_c
add.u32 %mark_b, %mark_b, 31
shr.u32 %mark_b, %mark_b, 5
mul.lo.u32 %mark_a, %mark_a, %mark_b
mov.u32 %mark_b, %tid.z
mov.u32 %mark_c, %ntid.y
mul.lo.u32 %mark_b, %mark_b, %mark_c
mov.u32 %mark_c, %tid.y
add.u32 %mark_b, %mark_b, %mark_c
mov.u32 %mark_c, %ntid.x
mul.lo.u32 %mark_b, %mark_b, %mark_c
mov.u32 %mark_c, %tid.x
add.u32 %mark_b, %mark_b, %mark_c
shr.u32 %mark_b, %mark_b, 5
add.u32 %mark_a, %mark_a, %mark_b
ld.param.u64 %mark_at, [` + Param + `]
cvta.to.global.u64 %mark_at, %mark_at
mul.wide.u32 %mark_word, %mark_a, ` + fmt.Sprint(in.words()*wordBytes) + `
add.u64 %mark_at, %mark_at, %mark_word
add.u64 %mark_end, %mark_at, ` + fmt.Sprint(in.words()*wordBytes) + `
mov.u32 %mark_a, %laneid
setp.eq.u32 %mark_first, %mark_a, 0
mov.u32 %mark_a, %smid
cvt.u64.u32 %mark_word, %mark_a
@%mark_first st.global.u64 [%mark_at+` + fmt.Sprint(wordSM*wordBytes) + `], %mark_word
mov.u64 %mark_word, %globaltimer
@%mark_first st.global.u64 [%mark_at+` + fmt.Sprint(wordTime*wordBytes) + `], %mark_word
mov.u64 %mark_word, %clock64
@%mark_first st.global.u64 [%mark_at+` + fmt.Sprint(wordClock*wordBytes) + `], %mark_word
add.u64 %mark_at, %mark_at, ` + fmt.Sprint(header*wordBytes))
}

// mark returns the statements of a mark. Only the first lane moves its place forward.
func (in *inserter) mark(name string) []ptx.Stmt {
	return statements(fmt.Sprintf(`setp.lt.and.u64 %%mark_on, %%mark_at, %%mark_end, %%mark_first
mov.u64 %%mark_word, %%clock64
and.b64 %%mark_word, %%mark_word, %d
or.b64 %%mark_word, %%mark_word, %d
@%%mark_on st.global.u64 [%%mark_at], %%mark_word
@%%mark_on add.u64 %%mark_at, %%mark_at, %d`, uint64(1)<<clockBits-1, uint64(in.number(name))<<clockBits, wordBytes))
}

// statements returns a body with marks.
func (in *inserter) statements(body []ptx.Stmt) (list []ptx.Stmt) {
	for _, s := range body {
		switch s := s.(type) {
		case *ptx.Loc:
			in.source = path.Base(in.module.FileName(s.File)) + fmt.Sprintf(":%d", s.Line)
		case *ptx.Label:
			list = append(list, s)
			if name, ok := in.after[s.Sym]; ok {
				list = append(list, in.mark(name)...)
			}
			continue
		case *ptx.Inst:
			list = append(list, in.instruction(s)...)
			continue
		}
		list = append(list, s)
	}
	return list
}

// instruction returns an instruction with its mark, if it gets one.
func (in *inserter) instruction(s *ptx.Inst) []ptx.Stmt {
	switch name := s.Op.Name; {
	case (name == "ret" || name == "exit") && s.Guard.Sym == nil:
		return append(in.mark("end"), s)
	case s.Op.Has("try_wait") || s.Op.Has("test_wait"):
		in.waits[s.Args[0].Sym] = in.title("mbarrier", s)
	case name == "bra":
		return in.branch(s)
	case waited(s.Op) != "":
		return append([]ptx.Stmt{s}, in.mark(in.title(waited(s.Op), s))...)
	}
	return []ptx.Stmt{s}
}

// branch marks the end of a loop that waits for an mbarrier: behind a branch back to the wait, or behind the label to which a
// branch leads when the wait has ended.
func (in *inserter) branch(s *ptx.Inst) []ptx.Stmt {
	name, ok := in.waits[s.Guard.Sym]
	if s.Guard.Sym == nil || !ok {
		return []ptx.Stmt{s}
	}
	delete(in.waits, s.Guard.Sym)
	if s.Guard.Neg {
		return append([]ptx.Stmt{s}, in.mark(name)...)
	}
	in.after[s.Args[len(s.Args)-1].Sym] = name
	return []ptx.Stmt{s}
}

// waited returns what an instruction lets a warp wait for, in words, or "".
func waited(op *ptx.Opcode) string {
	switch {
	case op.Name == "wgmma" && op.Has("wait_group"):
		return "products"
	case op.Name == "cp" && (op.Has("wait_group") || op.Has("wait_all")):
		return "copies"
	case op.Name == "barrier" && op.Has("cluster") && op.Has("wait"):
		return "cluster"
	case (op.Name == "bar" || op.Name == "barrier") && (op.Has("sync") || op.Has("red")) && !op.Has("warp") && !op.Has("cluster"):
		return "barrier"
	case op.Name == "griddepcontrol" && op.Has("wait"):
		return "launch before"
	}
	return ""
}

// title names the mark of an instruction.
func (in *inserter) title(what string, s *ptx.Inst) string {
	if in.source != "" {
		return what + " " + in.source
	}
	return fmt.Sprintf("%s line %d", what, s.Pos.Line)
}

// statements returns instructions and declarations of registers, one per line.
func statements(text string) (list []ptx.Stmt) {
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == ".reg" {
			kind, names, _ := strings.Cut(rest, " ")
			d := &ptx.RegDecl{Type: ptx.ParseType(strings.TrimPrefix(kind, "."))}
			for name := range strings.SplitSeq(names, ", ") {
				d.Names = append(d.Names, ptx.RegName{Prefix: name})
			}
			list = append(list, d)
			continue
		}
		i := &ptx.Inst{}
		if guard, ok := strings.CutPrefix(word, "@"); ok {
			i.Guard.Sym = &ptx.Symbol{Name: guard, Kind: ptx.RegSymbol}
			word, rest, _ = strings.Cut(rest, " ")
		}
		i.Op = ptx.NewOpcode(word)
		for arg := range strings.SplitSeq(rest, ", ") {
			i.Args = append(i.Args, ptx.Operand{Kind: ptx.StringOperand, Flags: ptx.Word, Sym: &ptx.Symbol{Name: arg}})
		}
		list = append(list, i)
	}
	return list
}
