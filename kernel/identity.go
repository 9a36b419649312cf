package kernel

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/ptx/normal"
)

// Identity returns the name by which records know a kernel: the SHA-256 of the normal form
// of its text and its call, in hexadecimal. Source lines, comments, names of registers and
// the spelling of expressions do not change it; instructions, grids and workspaces do. A
// text that is not PTX is hashed unchanged.
func (k *Kernel) Identity() string {
	text, err := normal.Text(k.Name, k.PTX)
	if err != nil {
		text = k.PTX
	}
	call, err := json.Marshal(k.normalCall())
	if err != nil {
		panic("kernel: JSON cannot hold a call: " + err.Error()) // a call has only strings and numbers
	}
	h := sha256.New()
	h.Write([]byte(text))
	h.Write([]byte{0})
	h.Write(call)
	return hex.EncodeToString(h.Sum(nil))
}

// normalCall returns the parts of k that describe its call, with all expressions in normal
// form.
func (k *Kernel) normalCall() Kernel {
	call := Kernel{Op: k.Op, Fixed: k.Fixed, Let: slices.Clone(k.Let), Operands: slices.Clone(k.Operands), Launches: slices.Clone(k.Launches)}
	for i := range call.Let {
		call.Let[i].Value = call.Let[i].Value.Normal()
	}
	for i := range call.Operands {
		o := &call.Operands[i]
		o.Dims, o.Strides = normalExprs(o.Dims), normalExprs(o.Strides)
	}
	for i := range call.Launches {
		l := &call.Launches[i]
		l.Grid, l.Block, l.Cluster = normalExprs(l.Grid), normalExprs(l.Block), normalExprs(l.Cluster)
		l.Shared, l.When = l.Shared.Normal(), l.When.Normal()
		l.Args = slices.Clone(l.Args)
		for j := range l.Args {
			a := &l.Args[j]
			a.Value = a.Value.Normal()
			if a.Map != nil {
				m := *a.Map
				m.Dims, m.Strides, m.Box = normalExprs(m.Dims), normalExprs(m.Strides), normalExprs(m.Box)
				a.Map = &m
			}
		}
	}
	return call
}

func normalExprs(list []expr.Expr) []expr.Expr {
	list = slices.Clone(list)
	for i := range list {
		list[i] = list[i].Normal()
	}
	return list
}
