package parse_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/GOATnote-Inc/attest/ptx/parse"
)

// hostileTexts returns texts on which a naive parser recurses, backtracks or allocates without
// limit.
func hostileTexts(n int) map[string]string {
	rep := strings.Repeat
	scopes := func(depth int, inner string) string { return rep("{", depth) + inner + rep("}", depth) }
	var names, ranges strings.Builder
	for i := range n {
		fmt.Fprintf(&names, "bra L_%d;", i)
		fmt.Fprintf(&ranges, "{.reg .b32 %%x<%d>;mov.u32 %%x%d,1;}", 4_000_000_000, i)
	}
	return map[string]string{
		"braces":               inBody(rep("{", n)),
		"closed braces":        inBody(rep("{", n) + rep("}", n)),
		"parentheses":          inBody("x " + rep("(", n)),
		"brackets":             inBody("x " + rep("[", n)),
		"vectors":              inBody("x " + rep("{", n) + rep("}", n) + ";"),
		"signs":                inBody("x " + rep("-", n) + "1;"),
		"negations":            inBody("x " + rep("! ", n) + "%p1;"),
		"pairs":                inBody("x " + rep("%p1|", n) + "%p1;"),
		"casts":                inBody("x " + rep("(.s64)", n) + "1;"),
		"ternaries":            inBody("x " + rep("1?1:", n) + "1;"),
		"sum":                  inBody("x " + rep("1+", n) + "1;"),
		"operands":             inBody("x " + rep("%r1,", n) + "%r1;"),
		"elements":             inBody("x {" + rep("%r1,", n) + "%r1};"),
		"modifiers":            inBody("x" + rep(".a", n) + ";"),
		"spaced modifiers":     inBody("x" + rep(" .a", n) + ";"),
		"long name":            inBody("x " + rep("a", n) + ";"),
		"digits":               inBody("x a" + rep("1", n) + ";"),
		"number":               inBody("x " + rep("1", n) + ";"),
		"comments":             inBody(rep("/**/", n)),
		"comments inside":      inBody("x " + rep("/**/", n) + "%r1;"),
		"open comments":        inBody(rep("/*", n)),
		"open strings":         head + rep(".file 1 \"\n", n),
		"long string":          head + ".file 1 \"" + rep("x", n),
		"semicolons":           inBody(rep(";", n)),
		"nothing right":        rep("# ", n),
		"initialisers":         head + ".global .u32 x = " + rep("{", n) + rep("}", n) + ";",
		"initial values":       head + ".global .u32 x[] = {" + rep("1,", n) + "1};",
		"dimensions":           head + ".global .u32 x" + rep("[1]", n) + ";",
		"parameters":           head + ".func f(" + rep(".param .u32 _,", n) + ".param .u32 _);",
		"functions":            head + rep(".func f();", n),
		"labels ahead":         inBody(scopes(90, names.String())),
		"labels at each level": inBody(rep("{bra A;", 90) + rep("}", 90) + names.String()),
		"ranges":               inBody(ranges.String()),
		"nested ranges":        inBody(rep("{.reg .b32 %x<2>;", 90) + rep("x %x3;", n) + rep("}", 90)),
		"scopes":               inBody(rep("{.reg .pred p; L: @p bra L;}", n)),
		"sections":             head + rep(".section .s { a: }", n),
		"aliases":              head + rep(".alias a, b;", n),
		"parameterised":        head + rep(".global .u32 x<65536>;", n),
		"locations":            inBody(rep(".loc 1 2 3", n)),
		"pragmas":              inBody(".pragma " + rep("\"x\",", n) + "\"x\";"),
		"attributes":           head + ".global .attribute" + rep("(.x", n) + " .u32 x;",
		"prototypes":           inBody("P: .callprototype " + rep("(", n)),
	}
}

func TestHostile(t *testing.T) {
	n := 200_000
	if testing.Short() {
		n = 20_000
	}
	for name, src := range hostileTexts(n) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := parse.Parse("x.ptx", src)
			// A linear parser takes milliseconds here, a quadratic parser minutes.
			if d := time.Since(start); d > 10*time.Second {
				t.Errorf("%d bytes took %v", len(src), d)
			}
			runtime.ReadMemStats(&after)
			if used, most := after.TotalAlloc-before.TotalAlloc, uint64(64<<20+100*len(src)); used > most {
				t.Errorf("%d bytes of text took %d MiB of memory", len(src), used>>20)
			}
			if err != nil {
				checkErrors(t, src, err)
			}
		})
	}
}

// TestGarbled checks that damaged copies of real texts give an error or a valid module, and
// never a panic.
func TestGarbled(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"", ";", "{", "}", "(", ")", "[", "]", ",", "|", "@", "!", ".", ":", "\"", "/*", "*/", "//", "\n", "%r1", "<", ">", "0x", "1.5", "_", "\x00", "\xff", ".reg", ".func", "ret"}
	for _, file := range corpus(t) {
		src := read(t, file)
		if len(src) > 40_000 {
			continue
		}
		for range 60 {
			at := rnd.IntN(len(src))
			cut := min(len(src), at+rnd.IntN(20))
			text := src[:at] + pieces[rnd.IntN(len(pieces))] + src[cut:]
			if rnd.IntN(3) == 0 {
				text = text[:at]
			}
			m, err := parse.Parse("x.ptx", text)
			if err != nil {
				checkErrors(t, text, err)
			} else if _, err := parse.Parse("x.ptx", m.String()); err != nil {
				t.Errorf("%s: the printed text does not parse: %v", file, err)
			}
		}
	}
}
