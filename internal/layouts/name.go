package layouts

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/numeric/tensor/layout"
)

// instruction is a matrix instruction with its shapes, by the type of its factors.
type instruction struct {
	name  string
	types []string // the first is the default where a shape exists for several
	shape []layout.Shape
}

// instructions are the forms whose fragments can be shown.
var instructions = []instruction{
	{"mma", []string{"f16", "bf16"}, []layout.Shape{{M: 16, N: 8, K: 16}, {M: 16, N: 8, K: 8}}},
	{"mma", []string{"tf32"}, []layout.Shape{{M: 16, N: 8, K: 8}, {M: 16, N: 8, K: 4}}},
	{"mma", []string{"e4m3", "e5m2", "s8", "u8"}, []layout.Shape{{M: 16, N: 8, K: 32}, {M: 16, N: 8, K: 16}}},
	{"mma", []string{"s8", "u8"}, []layout.Shape{{M: 8, N: 8, K: 16}}},
	{"mma", []string{"s4", "u4"}, []layout.Shape{{M: 16, N: 8, K: 64}, {M: 16, N: 8, K: 32}, {M: 8, N: 8, K: 32}}},
	{"mma", []string{"b1"}, []layout.Shape{{M: 16, N: 8, K: 256}, {M: 16, N: 8, K: 128}, {M: 8, N: 8, K: 128}}},
	{"mma", []string{"f64"}, []layout.Shape{{M: 8, N: 8, K: 4}, {M: 16, N: 8, K: 4}, {M: 16, N: 8, K: 8}, {M: 16, N: 8, K: 16}}},
	{"mma.sp", []string{"f16", "bf16"}, []layout.Shape{{M: 16, N: 8, K: 32}, {M: 16, N: 8, K: 16}}},
	{"mma.sp", []string{"tf32"}, []layout.Shape{{M: 16, N: 8, K: 16}, {M: 16, N: 8, K: 8}}},
	{"mma.sp", []string{"e4m3", "e5m2", "s8", "u8"}, []layout.Shape{{M: 16, N: 8, K: 64}}},
	{"mma.sp", []string{"s8", "u8"}, []layout.Shape{{M: 16, N: 8, K: 32}}},
	{"mma.sp", []string{"s4", "u4"}, []layout.Shape{{M: 16, N: 8, K: 128}, {M: 16, N: 8, K: 64}}},
	{"wmma", []string{"f16", "bf16"}, []layout.Shape{{M: 16, N: 16, K: 16}, {M: 32, N: 8, K: 16}, {M: 8, N: 32, K: 16}}},
	{"wmma", []string{"s8", "u8"}, []layout.Shape{{M: 16, N: 16, K: 16}, {M: 32, N: 8, K: 16}, {M: 8, N: 32, K: 16}}},
	{"wmma", []string{"tf32"}, []layout.Shape{{M: 16, N: 16, K: 8}}},
	{"wmma", []string{"f64"}, []layout.Shape{{M: 8, N: 8, K: 4}}},
	{"wgmma", []string{"f16", "bf16"}, wgmmaShapes(16)},
	{"wgmma", []string{"tf32"}, wgmmaShapes(8)},
	{"wgmma", []string{"e4m3", "e5m2"}, wgmmaShapes(32)},
	{"wgmma", []string{"s8", "u8"}, wgmmaIntegers(32)},
	{"wgmma.sp", []string{"f16", "bf16"}, wgmmaShapes(32)},
	{"wgmma.sp", []string{"tf32"}, wgmmaShapes(16)},
	{"wgmma.sp", []string{"e4m3", "e5m2"}, wgmmaShapes(64)},
	{"wgmma.sp", []string{"s8", "u8"}, wgmmaIntegers(64)},
}

// wgmmaShapes are the shapes with every number of columns.
func wgmmaShapes(k int) (list []layout.Shape) {
	for n := 8; n <= 256; n += 8 {
		list = append(list, layout.Shape{M: 64, N: n, K: k})
	}
	return list
}

// wgmmaIntegers are the shapes for integers: above 32 columns only multiples of 16.
func wgmmaIntegers(k int) []layout.Shape {
	return slices.DeleteFunc(wgmmaShapes(k), func(s layout.Shape) bool { return s.N > 32 && s.N%16 != 0 })
}

// bitsOf is the size of an element of each type.
var bitsOf = map[string]int{"f16": 16, "bf16": 16, "tf32": 32, "f64": 64, "e4m3": 8, "e5m2": 8,
	"s8": 8, "u8": 8, "s4": 4, "u4": 4, "b1": 1}

var shapeToken = regexp.MustCompile(`^m(\d{1,3})n(\d{1,3})k(\d{1,3})$`)

// Find returns the picture of a layout by its name: an instruction with its shape, as in
// mma.m16n8k16 or in the whole opcode of PTX, ldmatrix.x4, or a swizzle as in swizzle.128b.
func Find(name string) (*Picture, error) {
	tokens := strings.Split(strings.ReplaceAll(strings.TrimSpace(name), "::", "."), ".")
	switch tokens[0] {
	case "ldmatrix", "stmatrix", "movmatrix":
		return findMove(tokens)
	case "swizzle":
		return findSwizzle(tokens)
	case "mma", "wmma", "wgmma":
		return findProduct(tokens)
	}
	return nil, fmt.Errorf("no layout %q: use an instruction with its shape, such as mma.m16n8k16, wmma.m16n16k16, wgmma.m64n128k32 or ldmatrix.x4, or swizzle.128b; attest ptx layout lists all of them", name)
}

// findProduct is the picture of a product's fragments.
func findProduct(tokens []string) (*Picture, error) {
	name := tokens[0]
	if name != "wmma" && slices.Contains(tokens, "sp") {
		name += ".sp"
	}
	var shape layout.Shape
	var types []string
	for _, t := range tokens[1:] {
		if m := shapeToken.FindStringSubmatch(t); m != nil {
			shape.M, _ = strconv.Atoi(m[1])
			shape.N, _ = strconv.Atoi(m[2])
			shape.K, _ = strconv.Atoi(m[3])
		}
		if bitsOf[t] > 0 || t == "f32" || t == "s32" {
			types = append(types, t)
		}
	}
	if shape.M == 0 {
		return nil, fmt.Errorf("%s needs a shape: %s", name, strings.Join(Names(name), ", "))
	}
	found := typesOf(name, shape)
	factor, err := factorType(name, types, found)
	if err != nil {
		return nil, err
	}
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("%s has no shape %s: it has %s", name, shape, strings.Join(Names(name), ", "))
	case factor != "" && !slices.Contains(found, factor):
		return nil, fmt.Errorf("%s.%s has no .%s: use %s", name, shape, factor, strings.Join(found, ", "))
	}
	p := product(name, shape, cmp.Or(factor, found[0]))
	if factor == "" && !sameBits(found) {
		p.Notes = append(p.Notes, fmt.Sprintf("%s.%s also exists for %s: add the type to see it.",
			name, shape, strings.Join(found[1:], ", ")))
	}
	return p, nil
}

// factorType is the type of A's elements among those that a name has, "" when it has none.
// A whole opcode names D, A, B and, except for wgmma, C; wmma with f16 factors names only
// D and C.
func factorType(name string, types, possible []string) (string, error) {
	switch len(types) {
	case 0:
		return "", nil
	case 1:
		return types[0], nil
	case 2:
		if name == "wmma" {
			return "f16", nil
		}
	case 3, 4:
		return types[1], nil
	}
	return "", fmt.Errorf("%s with the types %s: name the type of the factors alone, one of %s",
		name, strings.Join(types, ", "), strings.Join(possible, ", "))
}

// typesOf are the types of factors that an instruction has a shape for.
func typesOf(name string, s layout.Shape) (types []string) {
	for _, in := range instructions {
		if in.name != name || !slices.Contains(in.shape, s) {
			continue
		}
		for _, t := range in.types {
			if !slices.Contains(types, t) {
				types = append(types, t)
			}
		}
	}
	return types
}

func sameBits(types []string) bool {
	for _, t := range types {
		if bitsOf[t] != bitsOf[types[0]] {
			return false
		}
	}
	return true
}

// Names are the layouts of an instruction, or all of them for "". wgmma's shapes for one
// type differ only in N, so each type has one name for all of them.
func Names(of string) (names []string) {
	add := func(n string) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for _, in := range instructions {
		if of != "" && of != in.name {
			continue
		}
		if strings.HasPrefix(in.name, "wgmma") {
			add(fmt.Sprintf("%s.m64nNk%d.%s", in.name, in.shape[0].K, in.types[0]))
			continue
		}
		for _, s := range in.shape {
			add(in.name + "." + s.String() + "." + in.types[0])
		}
	}
	if of == "" {
		names = append(names, "ldmatrix.x1", "ldmatrix.x2", "ldmatrix.x4", "ldmatrix.x4.trans",
			"swizzle.32b", "swizzle.64b", "swizzle.128b")
	}
	return names
}
