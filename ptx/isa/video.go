package isa

import (
	"slices"
	"strings"
)

// video lists the video instructions. Hardware from Maxwell on does not have them; assemblers
// translate them into other instructions.
var video = &Family{
	Name:  "video",
	Doc:   "integer arithmetic on selected bytes and halves of registers",
	Forms: slices.Concat(videoScalar, videoShifts, videoMad, videoSet, videoPairs), ReadOnly: true,
}

var videoTypes = options(set("dtype", "u32 s32"), set("atype", "u32 s32"), set("btype", "u32 s32"),
	set("op2", "add min max"), set("mode", "clamp wrap"), set("cmp", "eq ne lt le gt ge"), set("scale", "shr7 shr15"), sm(20), isa(20))

// scalarForms returns the three forms of a scalar video instruction: plain, with a second operation
// on c, and with a result that is merged into c. The last argument is the type of c
// and of the result.
func scalarForms(op, mods, b, c string) []*Form {
	sum := strings.Replace(mods, "{.sat}", "{.sat}.op2", 1)
	if op == "vshl" || op == "vshr" || op == "vset" {
		sum = mods + ".op2"
	}
	return []*Form{
		form(op+mods+" =d:"+c+", a:atype~part, b:"+b+"~part", videoTypes),
		form(op+sum+" =d:"+c+", a:atype~part, b:"+b+"~part, c:"+c, videoTypes),
		form(op+mods+" =d:"+c+"~part!, a:atype~part, b:"+b+"~part, c:"+c, videoTypes),
	}
}

var videoScalar = slices.Concat(
	inst("d = a + b of selected parts", scalarForms("vadd", ".dtype.atype.btype{.sat}", "btype", "dtype")...),
	inst("d = a - b of selected parts", scalarForms("vsub", ".dtype.atype.btype{.sat}", "btype", "dtype")...),
	inst("d = |a - b| of selected parts", scalarForms("vabsdiff", ".dtype.atype.btype{.sat}", "btype", "dtype")...),
	inst("d = min(a, b) of selected parts", scalarForms("vmin", ".dtype.atype.btype{.sat}", "btype", "dtype")...),
	inst("d = max(a, b) of selected parts", scalarForms("vmax", ".dtype.atype.btype{.sat}", "btype", "dtype")...),
)

var videoShifts = slices.Concat(
	inst("d = a << b of selected parts", scalarForms("vshl", ".dtype.atype.u32{.sat}.mode", "u32", "dtype")...),
	inst("d = a >> b of selected parts", scalarForms("vshr", ".dtype.atype.u32{.sat}.mode", "u32", "dtype")...),
)

var videoMad = inst("d = a · b + c of selected parts, with .po plus 1, shifted right by .shr7 or .shr15",
	form("vmad.dtype.atype.btype{.sat}{.scale} =d:dtype, a:atype~part-, b:btype~part-, c:dtype~-", videoTypes),
	form("vmad.dtype.atype.btype.po{.sat}{.scale} =d:dtype, a:atype~part, b:btype~part, c:dtype", videoTypes))

var videoSet = inst("d = 1 if a and b compare so, else 0", scalarForms("vset", ".atype.btype.cmp", "btype", "u32")...)

// pairForms returns the forms of an instruction on two halves or four bytes: results that are merged
// into c, and the sum of the results and c.
func pairForms(op, n string) []*Form {
	args := " =d:dtype~mask" + n + ", a:atype~pick" + n + ", b:btype~pick" + n + ", c:dtype"
	o := options(videoTypes, sm(30), isa(30))
	return []*Form{
		form(op+n+".dtype.atype.btype{.sat}"+args, o),
		form(op+n+".dtype.atype.btype.add"+args, o),
	}
}

func setForms(n string) []*Form {
	args := " =d:u32~mask" + n + ", a:atype~pick" + n + ", b:btype~pick" + n + ", c:u32"
	o := options(videoTypes, sm(30), isa(30))
	return []*Form{form("vset"+n+".atype.btype.cmp"+args, o), form("vset"+n+".atype.btype.cmp.add"+args, o)}
}

var videoPairs = func() (all []*Form) {
	for _, v := range []struct{ n, parts string }{{"2", "two halves"}, {"4", "four bytes"}} {
		for _, o := range []struct{ op, what string }{
			{"vadd", "sums"}, {"vsub", "differences"}, {"vavrg", "averages"}, {"vabsdiff", "absolute differences"}, {"vmin", "minima"}, {"vmax", "maxima"},
		} {
			all = append(all, inst("d = the "+o.what+" of "+v.parts+"; with .add their sum + c", pairForms(o.op, v.n)...)...)
		}
		all = append(all, inst("d = 1 where "+v.parts+" compare so, else 0; with .add their number + c", setForms(v.n)...)...)
	}
	return all
}()
