package check

import (
	"fmt"

	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
	"github.com/GOATnote-Inc/attest/ptx"
)

// undefExchanges are the rules of mov and of instructions that exchange values between lanes.
var undefExchanges = map[string]func(x *undefStep){
	"mov":       undefMove,
	"shfl":      (*undefStep).shuffle,
	"vote":      (*undefStep).vote,
	"redux":     (*undefStep).allLanes,
	"match":     (*undefStep).allLanes,
	"movmatrix": (*undefStep).allLanes,
	"mma":       (*undefStep).product,
	"wmma":      (*undefStep).allLanes,
	"wgmma":     (*undefStep).groupProduct,
}

// spoil makes the results undefined in lanes and defined in the others.
func (x *undefStep) spoil(lanes uint32) {
	x.origin()
	x.Lanes(func(l int) {
		u := uint64(0)
		if lanes>>l&1 != 0 {
			u = 1<<64 - 1
		}
		for i := range x.p.dst {
			x.put(&x.p.dst[i], l, u)
		}
	})
}

// undefined returns the lanes in which an operand of that name is undefined. An empty name
// stands for all operands.
func (x *undefStep) undefined(name string) (lanes uint32) {
	for i := range x.p.src {
		a := &x.p.src[i]
		if name != "" && a.param != name {
			continue
		}
		x.Lanes(func(l int) {
			if x.bits(a, l) != 0 {
				lanes |= 1 << l
			}
		})
	}
	return lanes
}

// allLanes is the rule of an exchange in which every result depends on all lanes.
func (x *undefStep) allLanes() {
	if x.undefined("") != 0 {
		x.spoil(x.Mask)
	} else {
		x.define()
	}
}

// vote is the rule of vote. A ballot has one bit per lane. The result of all and any may be
// decided by defined lanes.
func (x *undefStep) vote() {
	u := x.undefined("a")
	if x.undefined("membermask") != 0 {
		x.spoil(x.Mask)
		return
	}
	a := &x.p.src[0]
	var yes uint32
	x.Lanes(func(l int) { yes |= uint32(x.value(a, l)) << l })
	decided := false
	switch {
	case x.Op.Has("ballot"):
		x.origin()
		x.Lanes(func(l int) { x.put(&x.p.dst[0], l, uint64(u)) })
		return
	case x.Op.Has("any"):
		decided = yes&^u != 0
	case x.Op.Has("all"):
		decided = ^yes&x.Mask&^u != 0
	}
	if u == 0 || decided {
		x.define()
	} else {
		x.spoil(x.Mask)
	}
}

// metadata returns the lanes in which the metadata of a sparse product is undefined, of those whose
// metadata the product uses.
func (x *undefStep) metadata(name, selector string) (lanes uint32) {
	all := x.undefined(name)
	if all == 0 {
		return 0
	}
	var s layout.Shape
	var types []ptx.Type
	for _, mod := range x.Op.Mods {
		fmt.Sscanf(mod, "m%dn%dk%d", &s.M, &s.N, &s.K)
		if t := ptx.ParseType(mod); t != ptx.NoType {
			types = append(types, t)
		}
	}
	lanesOf(all, func(l int) {
		if layout.Selected(s, types[1].Bits(), l, int(x.Arg(selector).Val)) {
			lanes |= 1 << l
		}
	})
	return lanes
}

// product is the rule of mma. An undefined element of c makes the same element of d undefined;
// an undefined element of a or its metadata makes its row undefined, and one of b its column.
func (x *undefStep) product() {
	a, b := x.undefined("a")|x.metadata("e", "f"), x.undefined("b")
	var c []*undefArg
	for i := range x.p.src {
		if x.p.src[i].param == "c" {
			c = append(c, &x.p.src[i])
		}
	}
	quarters := x.Op.Has("m8n8k4") && !x.Op.Has("f64") // this shape has another layout
	if len(c) != len(x.p.dst) || quarters {
		x.allLanes()
		return
	}
	var spoilt uint32
	lanesOf(a, func(l int) { spoilt |= 0xf << (l &^ 3) })
	lanesOf(b, func(l int) { spoilt |= 0x11111111 << (l / 8) })
	x.origin()
	x.Lanes(func(l int) {
		var out [8]uint64
		for i := range c {
			out[i] = undefAll(x.bits(c[i], l))
			if spoilt>>l&1 != 0 {
				out[i] = 1<<64 - 1
			}
		}
		for i := range x.p.dst {
			x.put(&x.p.dst[i], l, out[i])
		}
	})
}

// groupProduct is the rule of wgmma. If scale-d is false, the old value of the accumulator is not
// used.
func (x *undefStep) groupProduct() {
	a, scale := x.undefined("a")|x.metadata("spMeta", "spSel"), x.undefined("scaleD")
	for _, name := range []string{"aDesc", "bDesc"} {
		for i := range x.p.src {
			if x.p.src[i].param == name {
				x.use(undefAddress, &x.p.src[i])
			}
		}
	}
	if a|scale != 0 {
		x.spoil(x.Mask)
		return
	}
	scaled := x.Arg("scaleD")
	x.origin()
	x.Lanes(func(l int) {
		if x.Value(scaled, l) != 0 {
			return
		}
		for i := range x.p.dst {
			x.put(&x.p.dst[i], l, 0)
		}
	})
}

// shuffle is the rule of shfl. A lane gets the value of its source lane. The value is undefined
// if the source lane does not take part.
func (x *undefStep) shuffle() {
	b, c := x.operandOf("b"), x.operandOf("c")
	if x.undefined("b")|x.undefined("c")|x.undefined("membermask") != 0 {
		x.spoil(x.Mask)
		return
	}
	x.origin()
	a := x.operandOf("a")
	mode := x.Match.Mod("mode")
	var out [32]uint64
	var absent, bad uint32
	x.Lanes(func(l int) {
		j, ok := shuffleSource(mode, l, uint32(x.value(b, l)), uint32(x.value(c, l)))
		switch {
		case !ok:
			out[l] = x.bits(a, l)
		case x.Mask>>j&1 != 0:
			out[l] = x.bits(a, j)
		case x.Together>>j&1 == 0:
			out[l] = 1<<64 - 1
			absent |= 1 << j
			bad |= 1 << l
		}
	})
	if bad != 0 && x.from.kind == "" { // in a sequence of shuffles the first one is the cause
		x.from = undefOrigin{kind: ShuffleInactive, id: x.ID, from: absent}
	}
	for i := range x.p.dst {
		d := &x.p.dst[i]
		x.Lanes(func(l int) {
			u := out[l]
			if d.o != nil && d.o.Kind == ptx.RegOperand && d.o.Sym.Type == ptx.Pred {
				u = 0 // the predicate says that the source is in range: it is always defined
			}
			x.put(d, l, u)
		})
	}
}

func (x *undefStep) operandOf(name string) *undefArg {
	for i := range x.p.src {
		if x.p.src[i].param == name {
			return &x.p.src[i]
		}
	}
	return nil
}
