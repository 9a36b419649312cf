package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// productMethod is a method that takes shape, layouts and types as arguments.
type productMethod struct {
	doc       string
	signature string
	body      string
	forms     string // the prefix of its opcodes
}

// productMethods are the methods of the matrix products, one per mnemonic.
var productMethods = []productMethod{
	{
		"Mma is mma.sync: D = A·B + C on the fragments of a warp. It returns D.",
		"Mma(f MmaForm, a, b, c Regs, mods ...Mod) Fragment", "return k.mma(f, mods, a, b, c)", "mma.sync.aligned",
	}, {
		"WmmaMma is wmma.mma: D = A·B + C on fragments that WmmaLoad loaded. It returns D.",
		"WmmaMma(f MmaForm, a, b, c Regs, mods ...Mod) Fragment", "return k.wmma(f, mods, a, b, c)", "wmma.mma",
	}, {
		"WmmaLoadA is wmma.load.a: the warp's fragment of the matrix A at p. stride, which may be\n// left out, is the number of elements from one row or column to the next.",
		"WmmaLoadA(s Shape, l Layout, t ptx.Type, p Address, stride ...Int) Fragment", `return k.wmmaLoad("a", s, l, t, p, stride)`, "wmma.load.a",
	}, {
		"WmmaLoadB is wmma.load.b: the warp's fragment of the matrix B at p, like WmmaLoadA.",
		"WmmaLoadB(s Shape, l Layout, t ptx.Type, p Address, stride ...Int) Fragment", `return k.wmmaLoad("b", s, l, t, p, stride)`, "wmma.load.b",
	}, {
		"WmmaLoadC is wmma.load.c: the warp's fragment of the matrix C at p, like WmmaLoadA.",
		"WmmaLoadC(s Shape, l Layout, t ptx.Type, p Address, stride ...Int) Fragment", `return k.wmmaLoad("c", s, l, t, p, stride)`, "wmma.load.c",
	}, {
		"WmmaStoreD is wmma.store.d: it writes the warp's fragment d of the matrix D to p.",
		"WmmaStoreD(s Shape, l Layout, t ptx.Type, p Address, d Regs, stride ...Int)", "k.wmmaStore(s, l, t, p, d, stride)", "wmma.store.d",
	}, {
		"WgmmaMmaAsync is wgmma.mma_async: it starts D = A·B + D on the accumulator d of a\n// warpgroup, or D = A·B when scaleD is false. a is a descriptor or four registers.",
		"WgmmaMmaAsync(f WgmmaForm, d Regs, a Factor, bDesc U64, scaleD Pred, mods ...Mod)", "k.wgmma(f, d, a, bDesc, scaleD, mods)", "wgmma.mma_async",
	},
}

// writeProducts writes the methods of the matrix products with the table of their forms.
func writeProducts(w *bytes.Buffer) {
	for _, m := range productMethods {
		fmt.Fprintf(w, "// %s The forms:\n//\n", m.doc)
		for _, line := range formLines(m.forms) {
			fmt.Fprintf(w, "//\t%s\n", line)
		}
		fmt.Fprintf(w, "func (k *Kernel) %s { %s }\n\n", m.signature, m.body)
	}
	writeShapes(w)
}

// formLines are the forms of a mnemonic, one per line: modifiers, then what they need.
func formLines(prefix string) (lines []string) {
	for _, f := range isa.Forms(strings.Split(prefix, ".")[0]) {
		if f.Family.ReadOnly {
			continue
		}
		var words []string
		for i := range f.Slots {
			words = append(words, slotText(&f.Slots[i]))
		}
		text, ok := trimForm(f, prefix, words)
		if !ok {
			continue
		}
		for m := range f.Variants() {
			n := m.Needs()
			text = fmt.Sprintf("%-66s %s, PTX %s", text, n.Target, n.Version)
			break
		}
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return lines
}

// trimForm takes the words of the prefix, and those that every form has, out of a form.
func trimForm(f *isa.Form, prefix string, words []string) (string, bool) {
	for _, p := range strings.Split(prefix, ".")[1:] {
		i := slices.IndexFunc(words, func(w string) bool { return slices.Contains(strings.Split(strings.Trim(w, "()"), "|"), p) })
		if i < 0 {
			return "", false
		}
		words = slices.Delete(words, i, i+1)
	}
	words = slices.DeleteFunc(words, func(w string) bool {
		return w == "sync" || w == "aligned" || strings.HasPrefix(w, "[global")
	})
	return strings.Join(words, " "), true
}

// slotText spells the alternatives of a slot: those of wgmma's shapes as a range.
func slotText(s *isa.Slot) string {
	text := strings.Join(s.Alts, "|")
	if len(s.Alts) > 8 {
		text = s.Alts[0] + "…" + s.Alts[len(s.Alts)-1]
	}
	switch {
	case s.Opt:
		return "[" + text + "]"
	case len(s.Alts) > 1:
		return "(" + text + ")"
	}
	return text
}

// writeShapes writes a constant for each shape of mma and wmma.
func writeShapes(w *bytes.Buffer) {
	var shapes []string
	for _, op := range []string{"mma", "wmma"} {
		for _, f := range isa.Forms(op) {
			if f.Family.ReadOnly {
				continue
			}
			for _, s := range f.Slots {
				for _, alt := range s.Alts {
					var m, n, k int
					if _, err := fmt.Sscanf(alt, "m%dn%dk%d", &m, &n, &k); err == nil && !slices.Contains(shapes, alt) {
						shapes = append(shapes, alt)
					}
				}
			}
		}
	}
	w.WriteString("// The shapes of mma and wmma. That of wgmma follows from its accumulator and its types.\nconst (\n")
	for _, s := range shapes {
		fmt.Fprintf(w, "\t%s Shape = %q\n", strings.ToUpper(s[:1])+s[1:], s)
	}
	w.WriteString(")\n\n")
}
