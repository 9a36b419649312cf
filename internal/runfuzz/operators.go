package runfuzz

import (
	"slices"
	"strconv"
	"strings"
)

// operators are the changes, with their weights. Those that usually leave the text valid are
// frequent, because a text that is refused tests only the parser and the verifier.
var operators = []func(*work){
	remove, duplicate, swapLines, take, splice, guard, number, form, modifier,
	register, register, anyRegister, swapOperands, takeOperand, target, anyWord, declaration, directive, character, retarget,
}

var weights = []int{
	8, 6, 6, 8, 8, 6, 14, 12, 8,
	10, 10, 3, 8, 5, 4, 2, 6, 2, 1, 2,
}

var totalWeight = func() (n int) {
	for _, w := range weights {
		n += w
	}
	return n
}()

func remove(w *work) {
	if i := w.instruction(nil); i >= 0 {
		w.lines = slices.Delete(w.lines, i, i+1)
	}
}

func duplicate(w *work) {
	if i := w.instruction(nil); i >= 0 {
		w.insert(i, w.lines[i])
	}
}

func swapLines(w *work) {
	i, j := w.instruction(nil), w.instruction(nil)
	if i >= 0 && j >= 0 {
		w.lines[i], w.lines[j] = w.lines[j], w.lines[i]
	}
}

// take inserts an instruction of another text.
func take(w *work) { w.spliceLines(1) }

// splice inserts some consecutive instructions of another text.
func splice(w *work) { w.spliceLines(2 + w.r.IntN(7)) }

func (w *work) spliceLines(n int) {
	at := w.instruction(nil)
	if at < 0 {
		return
	}
	from := w.donor()
	i := w.r.IntN(len(from.lines))
	var ls []line
	for ; i < len(from.lines) && len(ls) < n; i++ {
		if l := from.lines[i]; l.op >= 0 {
			ls = append(ls, w.adapt(l, from))
		} else if len(ls) > 0 && n > 1 && strings.Contains(l.raw, "}") {
			break // the end of the function
		}
	}
	w.insert(at, ls...)
}

// guard adds, removes or negates a guard.
func guard(w *work) {
	i := w.instruction(nil)
	if i < 0 {
		return
	}
	l := w.lines[i]
	rest := strings.Join(l.words[l.op:], "")
	p := "%p1"
	if ps := w.text.all[".pred"]; len(ps) > 0 {
		p = ps[w.r.IntN(len(ps))]
	}
	switch w.r.IntN(3) {
	case 0:
		w.lines[i] = newLine(rest)
	case 1:
		w.lines[i] = newLine("@" + p + " " + rest)
	default:
		w.lines[i] = newLine("@!" + p + " " + rest)
	}
}

// number replaces a number by one at a boundary, or by one near it.
func number(w *work) {
	i := w.r.IntN(len(w.lines))
	w.replace(i, func(s string) bool { return isDigit(s[0]) }, func(s string) string {
		n, err := strconv.ParseInt(s, 0, 64)
		if err != nil || w.r.IntN(2) == 0 {
			return numbers[w.r.IntN(len(numbers))]
		}
		switch w.r.IntN(6) {
		case 0:
			n++
		case 1:
			n--
		case 2:
			n *= 2
		case 3:
			n /= 2
		case 4:
			n ^= 1 << w.r.IntN(63)
		default:
			n = -n
		}
		return strconv.FormatInt(n, 10)
	})
}

// form replaces an opcode by another form of the instruction, or by that of another instruction.
func form(w *work) {
	i := w.instruction(nil)
	if i < 0 {
		return
	}
	l := w.lines[i]
	name, _, _ := strings.Cut(l.words[l.op], ".")
	forms := w.forms[name]
	if len(forms) == 0 || w.r.IntN(8) == 0 {
		forms = w.forms[w.names[w.r.IntN(len(w.names))]]
	}
	words := slices.Clone(l.words)
	words[l.op] = forms[w.r.IntN(len(forms))]
	w.lines[i] = joined(words)
}

// modifier removes, replaces or adds a modifier of an opcode.
func modifier(w *work) {
	i := w.instruction(nil)
	if i < 0 {
		return
	}
	l := w.lines[i]
	parts := strings.Split(l.words[l.op], ".")
	n := w.r.IntN(len(parts))
	other := modifiers[w.r.IntN(len(modifiers))]
	switch w.r.IntN(5) {
	case 0:
		if len(parts) > 1 {
			parts = slices.Delete(parts, n, n+1)
		}
	case 1, 2:
		parts[n] = other
	case 3:
		j := w.r.IntN(len(parts))
		parts[n], parts[j] = parts[j], parts[n]
	default:
		parts = slices.Insert(parts, n+1, other)
	}
	words := slices.Clone(l.words)
	words[l.op] = strings.Join(parts, ".")
	w.lines[i] = joined(words)
}

// register replaces a register by another one of the same class.
func register(w *work) {
	if i := w.instruction(nil); i >= 0 {
		w.replace(i, w.isRegister, func(s string) string {
			same := w.text.all[w.text.regs[s]]
			return same[w.r.IntN(len(same))]
		})
	}
}

func (w *work) isRegister(s string) bool { return w.text.regs[s] != "" }

// anyRegister replaces a register by any other one, by a special register or by a number.
func anyRegister(w *work) {
	i := w.instruction(nil)
	if i < 0 {
		return
	}
	w.replace(i, w.isRegister, func(string) string {
		switch w.r.IntN(4) {
		case 0:
			return specials[w.r.IntN(len(specials))]
		case 1:
			return numbers[w.r.IntN(len(numbers))]
		}
		return w.text.byName[w.r.IntN(len(w.text.byName))]
	})
}

// swapOperands exchanges two operands of an instruction.
func swapOperands(w *work) {
	i := w.instruction(func(l line) bool { return len(l.operands()) > 1 })
	if i < 0 {
		return
	}
	l := w.lines[i]
	all := l.operands()
	a, b := all[w.r.IntN(len(all))], all[w.r.IntN(len(all))]
	if a[0] > b[0] {
		a, b = b, a
	}
	if a == b {
		return
	}
	w.lines[i] = joined(slices.Concat(l.words[:a[0]], l.words[b[0]:b[1]], l.words[a[1]:b[0]], l.words[a[0]:a[1]], l.words[b[1]:]))
}

// takeOperand replaces, removes or adds an operand of an instruction.
func takeOperand(w *work) {
	has := func(l line) bool { return len(l.operands()) > 0 }
	i, j := w.instruction(has), w.instruction(has)
	if i < 0 || j < 0 {
		return
	}
	l, other := w.lines[i], w.lines[j]
	ours, theirs := l.operands(), other.operands()
	a, b := ours[w.r.IntN(len(ours))], theirs[w.r.IntN(len(theirs))]
	switch w.r.IntN(4) {
	case 0:
		w.lines[i] = joined(slices.Concat(l.words[:a[0]], l.words[min(a[1]+1, len(l.words)):]))
	case 1:
		w.lines[i] = joined(slices.Concat(l.words[:a[1]], []string{",", " "}, other.words[b[0]:b[1]], l.words[a[1]:]))
	default:
		w.lines[i] = joined(slices.Concat(l.words[:a[0]], other.words[b[0]:b[1]], l.words[a[1]:]))
	}
}

// target adds a branch to a random label, which often makes a loop.
func target(w *work) {
	i := w.instruction(nil)
	if i < 0 || len(w.text.labels) == 0 {
		return
	}
	l := w.text.labels[w.r.IntN(len(w.text.labels))]
	prefix := ""
	if ps := w.text.all[".pred"]; len(ps) > 0 && w.r.IntN(4) > 0 {
		prefix = "@" + ps[w.r.IntN(len(ps))] + " "
	}
	w.insert(i, newLine(prefix+"bra "+l+";"))
}

// anyWord replaces a word by one of any text.
func anyWord(w *work) {
	i := w.r.IntN(len(w.lines))
	from := w.donor()
	words := from.lines[w.r.IntN(len(from.lines))].words
	if len(words) == 0 {
		return
	}
	w.replace(i, func(s string) bool { return strings.TrimSpace(s) != "" }, func(string) string { return words[w.r.IntN(len(words))] })
}

// declaration changes a type or a size in a line that is not an instruction.
func declaration(w *work) {
	for range 8 {
		i := w.r.IntN(len(w.lines))
		if l := w.lines[i]; l.op >= 0 || !strings.Contains(l.raw, ".") {
			continue
		}
		if w.r.IntN(4) == 0 {
			w.replace(i, func(s string) bool { return isDigit(s[0]) }, func(string) string { return numbers[w.r.IntN(len(numbers))] })
			return
		}
		w.replace(i, func(s string) bool { return s[0] == '.' && len(s) > 1 }, func(string) string {
			return "." + modifiers[w.r.IntN(len(modifiers))]
		})
		return
	}
}

// directive inserts a directive, a scope or a variable.
func directive(w *work) {
	w.insert(w.r.IntN(len(w.lines)+1), newLine(directives[w.r.IntN(len(directives))]))
}

// retarget gives the text another target or PTX version, which may lack some of its instructions.
func retarget(w *work) {
	for i, l := range w.lines {
		for _, h := range headers {
			if strings.HasPrefix(l.raw, h[0]) && w.r.IntN(2) == 0 {
				w.lines[i] = newLine(h[0] + " " + h[1+w.r.IntN(len(h)-1)])
			}
		}
	}
}

var headers = [][]string{
	strings.Fields(".target sm_50 sm_70 sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a sm_100a sm_100f sm_103a sm_120a"),
	strings.Fields(".version 6.0 7.0 7.8 8.0 8.6 9.0"),
}

// character damages the text itself: it removes or repeats a character, or cuts a line off.
func character(w *work) {
	i := w.r.IntN(len(w.lines))
	s := w.lines[i].raw
	if s == "" {
		return
	}
	at := w.r.IntN(len(s))
	switch w.r.IntN(4) {
	case 0:
		s = s[:at] + s[at+1:]
	case 1:
		s = s[:at+1] + s[at:]
	case 2:
		s = s[:at]
	default:
		s = s[:at] + string([]byte{byte(w.r.IntN(256))}) + s[at:]
	}
	w.lines[i] = newLine(s)
}

var numbers = strings.Fields("0 1 -1 2 3 4 7 8 15 16 17 31 32 33 63 64 127 128 255 256 1024 4095 4096 65535 65536 16777216 2147483647 2147483648 -2147483648 " +
	"4294967295 4294967296 1099511627776 9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551615 18446744073709551616 " +
	"0f3F800000 0fFFFFFFFF 0f00000001 0f7F800000 0d7FF0000000000000 0d0000000000000001 0x7fffffff 0xffffffff 0U 4294967295U")

var modifiers = strings.Fields("b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 tf32 e4m3 e5m2 e4m3x2 pred " +
	"global shared local param const shared::cta shared::cluster param::entry param::func v2 v4 v8 x1 x2 x4 sync aligned relaxed acquire release acq_rel volatile weak mmio " +
	"cta cluster gpu sys rn rz rm rp rni rzi ftz sat wide hi lo cc uni idx add min max and or xor exch cas inc dec trans noinc m8n8 m16n8k16 m16n8k8 row col " +
	"bulk tensor async group mbarrier commit_group wait_group read proxy alias 1d 2d 3d 4d 5d tile im2col up down bfly any all ballot eq ne lt nan xorsign abs approx full " +
	"align extern visible weak reg func entry")

var specials = strings.Fields("%tid.x %tid %ntid.y %ctaid.x %nctaid.z %laneid %warpid %nwarpid %lanemask_lt %lanemask_ge %clock %clock64 %globaltimer " +
	"%cluster_ctarank %cluster_nctarank %clusterid.x %smid %nsmid %gridid %dynamic_smem_size %total_smem_size %envreg3 %pm0 WARP_SZ")

var directives = []string{
	".reg .b128 %wide;", ".reg .v4 .f32 %four;", ".reg .v2 .b16 %two;", ".reg .pred %p<40>;", ".reg .b32 %r<99999>;",
	".shared .align 16 .b8 more[1024];", ".extern .shared .b8 dynamic[];", ".local .b64 stack[64];", ".local .align 1024 .b8 frame[100000];",
	".global .u32 counter = 7;", ".const .f32 table[4] = {1.0, 2.0, 3.0};", ".global .b8 huge[9223372036854775807];", ".global .u64 self = self;",
	".maxntid 1;", ".reqntid 32, 1, 1;", ".minnctapersm 4", ".maxnreg 16", ".reqnctapercluster 2", ".explicitcluster", ".noreturn",
	"{", "}", ".loc 1 1 1", ".file 1 \"a\x1b[31m.cu\"", ".pragma \"nounroll\";", ".branchtargets done;", ".callprototype _ (.param .b32 _);",
	".func f(.reg .b32 %a) { ret; }", ".visible .entry other() { trap; }", "call f;", "ret;", "exit;", "trap;", "brkpt;", "bar.sync 0;", "bar.warp.sync 3;",
	"stacksave.u64 %base;", "stackrestore.u64 %base;", "alloca.u64 %base, 100;", "griddepcontrol.wait;", "barrier.cluster.arrive;", "barrier.cluster.wait;",
	".version 3.0", ".target sm_80", ".target sm_100a", ".address_size 32", "/*", "*/", "//", "\\", "\"", ".section .debug_str { }",
}
