package difffuzz

import (
	"fmt"
	"strings"
)

// Text returns a module with the kernels under the given names.
func Text(ks []*Kernel, names []string) string {
	var p printer
	p.line(".version %s", ks[0].Version)
	p.line(".target %s", ks[0].Target)
	p.line(".address_size 64")
	for i, k := range ks {
		p.kernel(k, names[i], k.layout(), false)
	}
	return p.String()
}

// traced returns a module with one kernel that also stores the result of each instruction,
// and the layout of these results.
func traced(k *Kernel, name string) (string, *layout) {
	l := k.layout()
	var p printer
	for range 2 { // the first pass finds the size of the trace
		p = printer{}
		p.line(".version %s", k.Version)
		p.line(".target %s", k.Target)
		p.line(".address_size 64")
		p.kernel(k, name, l, true)
		l.points, l.traceSize = p.points, max(p.at, 8)
	}
	return p.String(), l
}

// printer writes PTX.
type printer struct {
	strings.Builder
	k         *Kernel
	l         *layout
	name      string
	labels    int
	nilpCount int     // how often %nilp was set
	trace     bool    // store every result
	at        int     // offset of the next result
	points    []point // the stored results
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// put is line for the body of a kernel: names that must be unique in a module get the
// kernel's name as a prefix.
func (p *printer) put(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	s = strings.ReplaceAll(s, "CST", "cst_"+p.name)
	s = strings.ReplaceAll(s, "FN", "fn_"+p.name+"_")
	s = strings.ReplaceAll(s, "PAR", "par")
	s = strings.ReplaceAll(s, threadsWord, itoa(p.k.Threads()))
	p.line("\t%s", s)
}

func (p *printer) kernel(k *Kernel, name string, l *layout, trace bool) {
	p.k, p.l, p.name, p.trace, p.nilpCount = k, l, name, trace, 0
	p.line("")
	if l.words["CST"] {
		p.line(".const .align 16 .b8 cst_%s[%d] = {%s};", name, paramSize, bytesList(fill(threadSeed(k.Fill, 1<<21), paramSize)))
	}
	walk(k.Body, func(n *Node) {
		for _, f := range n.Funcs {
			p.line("%s", strings.ReplaceAll(f, "FN", "fn_"+name+"_"))
		}
	})
	p.line(".visible .entry %s(%s)", name, strings.Join(p.params(), ", "))
	p.line(".maxntid %d, %d, %d", k.Block.X, k.Block.Y, k.Block.Z)
	if l.cluster {
		p.line(".reqnctapercluster 1, 1, 1")
	}
	p.line("{")
	p.declare()
	p.threads()
	p.memories()
	p.load()
	p.nodes(k.Body)
	p.store()
	p.put("ret;")
	p.line("}")
}

func (p *printer) params() []string {
	list := []string{".param .u64 in", ".param .u64 out"}
	if p.l.usesMem() {
		list = append(list, ".param .u64 mem")
	}
	if p.l.words["PAR"] {
		list = append(list, fmt.Sprintf(".param .align 16 .b8 par[%d]", paramSize))
	}
	if p.trace {
		list = append(list, ".param .u64 trace")
	}
	return list
}

func bytesList(b []byte) string {
	s := make([]string, len(b))
	for i, v := range b {
		s[i] = fmt.Sprint(v)
	}
	return strings.Join(s, ", ")
}

// declare declares registers and shared memory.
func (p *printer) declare() {
	used := map[byte]bool{}
	for _, r := range append(p.l.in, p.l.out...) {
		used[r[1]] = true
	}
	for _, c := range classes {
		switch {
		case !used[c.letter]:
		case c.letter == 'p':
			p.put(".reg .b32 %%is<%d>;", c.count)
		default:
			p.put(".reg %s %%%c<%d>;", c.decl, c.letter, c.count)
		}
	}
	p.put(".reg .b64 %%ro, %%in, %%to, %%out, %%x, %%nild;")
	p.put(".reg .b32 %%t, %%c, %%g, %%w, %%nilr;")
	p.put(".reg .b16 %%nilh;")
	for _, b := range bases {
		if p.l.words[b.reg] {
			p.put(".reg %s %s;", b.decl, b.reg)
		}
	}
	for _, v := range []struct {
		reg, name   string
		align, size int
	}{
		{"%own", "s_own", 16, p.k.Threads() * ownSize},
		{"%com", "s_com", 16, commonSize},
		{"%wx", "s_warp", 128, p.k.Threads() / 32 * warpSize},
		{"%bx", "s_block", 16, p.k.Threads() * exchangeSize},
		{"%mb", "s_mbar", 8, p.k.Threads() * 8},
		{"%bb", "s_bbar", 8, 16},
		{"%mat", "s_matrix", 1024, p.l.matrix},
	} {
		if p.l.words[v.reg] {
			p.put(".shared .align %d .b8 %s[%d];", v.align, v.name, max(v.size, 16))
		}
	}
	if p.l.words["%loc"] {
		p.put(".local .align 16 .b8 stack[%d];", ownSize)
	}
	if p.l.words["%own"] || p.l.words["%loc"] || p.l.words["%com"] {
		p.put(".reg .b32 %%k<4>;")
	}
	if p.l.words["%com"] {
		p.put(".reg .pred %%few;")
	}
	if p.trace {
		p.put(".reg .b64 %%trace;")
	}
}

// bases are the registers with the addresses of a thread's memories.
var bases = []struct{ reg, decl string }{
	{"%lane", ".b32"}, {"%own", ".b32"}, {"%com", ".b32"}, {"%wx", ".b32"}, {"%bx", ".b32"}, {"%mb", ".b32"},
	{"%bb", ".b32"}, {"%mat", ".b32"}, {"%loc", ".b64"}, {"%mem", ".b64"}, {"%gcom", ".b64"}, {"%pol", ".b64"},
}

// threads writes the code that computes the thread's index and the addresses of its
// records.
func (p *printer) threads() {
	b := p.k.Block.Norm()
	p.put("ld.param.u64 %%ro, [in];")
	p.put("ld.param.u64 %%out, [out];")
	p.put("mov.u32 %%t, %%tid.x;")
	if b.Z > 1 {
		p.put("mov.u32 %%w, %%tid.z;")
		p.put("mad.lo.u32 %%t, %%w, %d, %%t;", b.X*b.Y)
	}
	if b.Y > 1 {
		p.put("mov.u32 %%w, %%tid.y;")
		p.put("mad.lo.u32 %%t, %%w, %d, %%t;", b.X)
	}
	p.put("mov.u32 %%c, %%ctaid.x;")
	p.put("mad.lo.u32 %%g, %%c, %d, %%t;", p.k.Threads())
	p.put("mad.wide.u32 %%in, %%g, %d, %%ro;", p.l.inSize)
	p.put("and.b64 %%nild, %%in, 15;") // 0, but ptxas does not know this, nor that all lanes have the same value
	p.put("cvt.u32.u64 %%nilr, %%nild;")
	p.put("cvt.u16.u64 %%nilh, %%nild;")
	p.put("mad.wide.u32 %%out, %%c, %d, %%out;", p.k.blockOut(p.l))
	p.put("mad.wide.u32 %%to, %%t, %d, %%out;", p.l.outSize)
	if p.trace {
		p.put("ld.param.u64 %%trace, [trace];")
		p.put("mad.wide.u32 %%trace, %%g, %d, %%trace;", p.l.traceSize)
	}
}

// memories writes the code that sets the bases of the memories and their initial content.
func (p *printer) memories() {
	w := p.l.words
	if w["%lane"] {
		p.put("mov.u32 %%lane, %%laneid;")
	}
	if p.l.usesMem() {
		p.put("ld.param.u64 %%x, [mem];")
		p.put("mad.wide.u32 %%x, %%c, %d, %%x;", p.k.blockMem())
	}
	if w["%mem"] {
		p.put("mad.wide.u32 %%mem, %%t, %d, %%x;", memSize)
	}
	if w["%gcom"] {
		p.put("add.u64 %%gcom, %%x, %d;", p.k.Threads()*memSize)
	}
	if w["%pol"] {
		p.put("createpolicy.fractional.L2::evict_last.b64 %%pol;")
	}
	for _, v := range []struct{ reg, name string }{{"%bx", "s_block"}, {"%bb", "s_bbar"}, {"%mat", "s_matrix"}, {"%com", "s_com"}} {
		if w[v.reg] {
			p.put("mov.u32 %s, %s;", v.reg, v.name)
		}
	}
	if w["%mb"] {
		p.put("mov.u32 %%mb, s_mbar;")
		p.put("mad.lo.u32 %%mb, %%t, 8, %%mb;")
	}
	if w["%wx"] {
		p.put("mov.u32 %%wx, s_warp;")
		p.put("shr.u32 %%w, %%t, 5;")
		p.put("mad.lo.u32 %%wx, %%w, %d, %%wx;", warpSize)
	}
	if w["%own"] {
		p.put("mov.u32 %%own, s_own;")
		p.put("mad.lo.u32 %%own, %%t, %d, %%own;", ownSize)
		p.copy("ld.global", "%in", constantSize+p.l.fillAt, "st.shared", "%own", 0)
	}
	if w["%loc"] {
		p.put("mov.u64 %%loc, stack;")
		p.copy("ld.global", "%in", constantSize+p.l.fillAt, "st.local", "%loc", 0)
	}
	if w["%com"] {
		p.put("setp.lt.u32 %%few, %%t, 32;")
		p.put("mad.wide.u32 %%x, %%t, 8, %%ro;")
		p.put("mad.lo.u32 %%w, %%t, 8, %%com;")
		p.put("@%%few ld.global.v2.b32 {%%k0, %%k1}, [%%x];")
		p.put("@%%few st.shared.v2.b32 [%%w], {%%k0, %%k1};")
		p.put("bar.sync 0;")
	}
}

// copy writes the code that copies a thread's part of a memory.
func (p *printer) copy(load, from string, at int, store, to string, off int) {
	for i := 0; i < ownSize; i += 16 {
		p.put("%s.v4.b32 {%%k0, %%k1, %%k2, %%k3}, [%s+%d];", load, from, at+i)
		p.put("%s.v4.b32 [%s+%d], {%%k0, %%k1, %%k2, %%k3};", store, to, off+i)
	}
}

// load writes the code that loads the registers of the pool.
func (p *printer) load() {
	at := constantSize
	for _, r := range p.l.in {
		switch r[1] {
		case 'p':
			p.put("ld.global.b32 %s, [%%in+%d];", predicateWord(r), at)
		case 'q':
			p.put("{ .reg .b64 %%y; ld.global.b64 %%x, [%%in+%d]; ld.global.b64 %%y, [%%in+%d]; mov.b128 %s, {%%x, %%y}; }", at, at+8, r)
		default:
			p.put("ld.global.%s %s, [%%in+%d];", bits(r), r, at)
		}
		at += slot(r)
	}
}

// bits returns the type with which a register is loaded or stored.
func bits(reg string) string {
	return map[byte]string{'h': "b16", 'r': "b32", 'd': "b64"}[reg[1]]
}

// store writes the code that stores the results.
func (p *printer) store() {
	at := 0
	for _, r := range p.l.out {
		p.save(r, "%to", at)
		at += slot(r)
	}
	if p.l.sharedAt >= 0 {
		p.copy("ld.shared", "%own", 0, "st.global", "%to", p.l.sharedAt)
	}
	if p.l.localAt >= 0 {
		p.copy("ld.local", "%loc", 0, "st.global", "%to", p.l.localAt)
	}
	if p.l.words["%com"] {
		p.put("bar.sync 0;")
		p.put("add.u32 %%w, %%t, %%nilr;") // so that ptxas does not keep the first %few alive
		p.put("setp.lt.u32 %%few, %%w, 32;")
		p.put("mad.lo.u32 %%w, %%t, 8, %%com;")
		p.put("mad.wide.u32 %%x, %%t, 8, %%out;")
		p.put("@%%few ld.shared.v2.b32 {%%k0, %%k1}, [%%w];")
		p.put("@%%few st.global.v2.b32 [%%x+%d], {%%k0, %%k1};", p.k.Threads()*p.l.outSize)
	}
}

// save writes the code that stores a register, extended to the size of its slot.
func (p *printer) save(r, base string, at int) {
	switch r[1] {
	case 'p':
		p.put("cvt.u64.u32 %%x, %s;", predicateWord(r))
		p.put("st.global.b64 [%s+%d], %%x;", base, at)
	case 'q':
		p.put("{ .reg .b64 %%y; mov.b128 {%%x, %%y}, %s; st.global.b64 [%s+%d], %%x; st.global.b64 [%s+%d], %%y; }", r, base, at, base, at+8)
	case 'd':
		p.put("st.global.b64 [%s+%d], %s;", base, at, r)
	default:
		p.put("cvt.u64.u%s %%x, %s;", bits(r)[1:], r)
		p.put("st.global.b64 [%s+%d], %%x;", base, at)
	}
}
