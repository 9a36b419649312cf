package difffuzz

import (
	"slices"
	"strings"
)

// nodes writes a piece of the body.
func (p *printer) nodes(ns []*Node) {
	for _, n := range ns {
		switch n.Kind {
		case If:
			p.branch(n)
		case Loop:
			p.loop(n)
		default:
			p.straight(n)
		}
		if n.Reconverge {
			p.put("bar.warp.sync 0xffffffff;")
		}
	}
}

func (p *printer) straight(n *Node) {
	preds := n.predicates()
	scoped := len(preds)+len(n.Regs) > 0
	if scoped {
		p.put("{")
	}
	if len(preds) > 0 {
		p.put(".reg .pred %s, %%nilp;", strings.Join(preds, ", "))
	}
	for _, r := range n.Regs {
		p.put("%s", r)
	}
	for _, r := range preds {
		p.put("setp.ne.b32 %s, %s, 0;", r, predicateWord(r))
	}
	for _, i := range n.Insts {
		p.put("%s", i)
	}
	p.opaque(n)
	for _, r := range preds {
		p.forget(r)
	}
	if scoped {
		p.put("}")
	}
	if p.trace {
		for _, i := range n.Insts {
			for _, r := range i.writes() {
				p.save(r, "%trace", p.at)
				p.points = append(p.points, point{i.String(), r, p.at})
				p.at += slot(r)
			}
		}
	}
}

// opaque hides the origin of results from ptxas. If a register is written as one type and
// read as another, ptxas sometimes makes wrong assumptions (D27): it converts a shift count
// that a float instruction wrote to an integer. Predicates are stored in their words after
// an exclusive or with a false predicate. Otherwise ptxas may merge a comparison whose
// result only sets the word with the branch around it, and lose its .ftz (D37).
func (p *printer) opaque(n *Node) {
	done, nilp := map[string]bool{}, false
	for _, i := range n.Insts {
		for _, r := range i.writes() {
			if done[r] {
				continue
			}
			if r[1] == 'p' {
				if !nilp {
					p.nilPredicate()
				}
				nilp = true
				p.put("xor.pred %s, %s, %%nilp;", r, r)
				p.put("selp.b32 %s, 1, 0, %s;", predicateWord(r), r)
			} else if typ := opaqueTypes[r[1]]; typ != "" {
				p.put("xor.%s %s, %s, %%nil%c;", typ, r, r, r[1])
			}
			done[r] = true
		}
	}
}

var opaqueTypes = map[byte]string{'h': "b16", 'r': "b32", 'd': "b64"}

// predicateWord returns the register that holds a predicate of the pool between nodes, as 0
// or 1. ptxas sometimes loses a predicate if many are live, or if one is set under a
// condition (D33, D35, D36). Therefore no predicate is live between nodes.
func predicateWord(pred string) string { return "%is" + pred[2:] }

// nilPredicate sets %nilp to false. It uses a different comparison each time, so that ptxas
// does not keep the predicate alive.
func (p *printer) nilPredicate() {
	p.nilpCount++
	p.put("setp.gt.u32 %%nilp, %%nilr, %d;", p.nilpCount%15) // ptxas knows only that %nilr is below 16
}

// forget hides from ptxas that a predicate has the same value as before. It adds zero,
// because ptxas would cancel two exclusive ors with the same register.
func (p *printer) forget(pred string) {
	p.put("add.u32 %s, %s, %%nilr;", predicateWord(pred), predicateWord(pred))
}

// predicates returns the predicates of the pool that a node's instructions use.
func (n *Node) predicates() (list []string) {
	for _, i := range n.Insts {
		for _, r := range pool.FindAllString(i.String(), -1) {
			if r[1] == 'p' && !slices.Contains(list, r) {
				list = append(list, r)
			}
		}
	}
	return list
}

func (p *printer) label() int {
	p.labels++
	return p.labels
}

func (p *printer) branch(n *Node) {
	id := p.label()
	if n.Cond == "" {
		p.put("{")
		p.put(".reg .pred %%side;")
		p.put(".reg .b32 %%y;")
		p.put("and.b32 %%y, %%lane, %d;", 1<<n.Lane)
		p.put("setp.eq.u32 %%side, %%y, 0;")
		p.put("@%%side bra $%s_else%d;", p.name, id)
		p.put("}")
	} else {
		reg := strings.TrimPrefix(n.Cond, "!")
		p.put("{")
		p.put(".reg .pred %%side;")
		p.put("setp.ne.b32 %%side, %s, 0;", predicateWord(reg))
		p.forget(reg)
		p.put("@%s bra $%s_else%d;", negated(strings.Replace(n.Cond, reg, "%side", 1)), p.name, id)
		p.put("}")
	}
	p.nodes(n.Body)
	if len(n.Else) > 0 {
		p.put("bra $%s_end%d;", p.name, id)
	}
	p.line("$%s_else%d:", p.name, id)
	p.nodes(n.Else)
	if len(n.Else) > 0 {
		p.line("$%s_end%d:", p.name, id)
	}
}

func negated(pred string) string {
	if pred[0] == '!' {
		return pred[1:]
	}
	return "!" + pred
}

func (p *printer) loop(n *Node) {
	id := p.label()
	p.put("{")
	p.put(".reg .pred %%more;")
	p.put(".reg .b32 %%i;")
	if n.From == "" {
		p.put("mov.u32 %%i, %d;", n.Count)
	} else {
		p.put("and.b32 %%i, %s, %d;", n.From, n.Count)
		p.put("add.u32 %%i, %%i, 1;")
	}
	p.line("$%s_loop%d:", p.name, id)
	p.nodes(n.Body)
	p.put("sub.u32 %%i, %%i, 1;")
	p.put("setp.ne.u32 %%more, %%i, 0;")
	p.put("@%%more bra $%s_loop%d;", p.name, id)
	p.put("}")
}
