package runfuzz

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// word matches what a change replaces: names, registers, opcodes with their modifiers, numbers.
var word = regexp.MustCompile(`[%$.@!]?[A-Za-z_][A-Za-z0-9_.:]*|-?[0-9][0-9A-Za-z.]*`)

// Mutate returns a text with a few random changes. The same seed gives the same text. others are
// texts from which lines and words are taken.
func Mutate(text string, seed uint64, others []string) string {
	r := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	lines := strings.Split(text, "\n")
	for range 1 + r.IntN(4) {
		from := lines
		if len(others) > 0 && r.IntN(3) == 0 {
			from = strings.Split(others[r.IntN(len(others))], "\n")
		}
		lines = change(r, lines, from)
	}
	return strings.Join(lines, "\n")
}

// change makes one change. from has the lines from which words are taken.
func change(r *rand.Rand, lines, from []string) []string {
	i, j := r.IntN(len(lines)), r.IntN(len(from))
	out := append([]string(nil), lines...)
	switch r.IntN(8) {
	case 0: // remove a line
		return append(out[:i], out[i+1:]...)
	case 1: // add a line
		return append(out[:i:i], append([]string{from[j]}, lines[i:]...)...)
	case 2: // move a line
		k := r.IntN(len(out))
		out[i], out[k] = out[k], out[i]
	case 3: // another guard
		out[i] = []string{"@%p1 ", "@!%p ", "@%p2 ", "@!%p3 "}[r.IntN(4)] + strings.TrimSpace(out[i])
	case 4: // another number
		out[i] = replace(r, out[i], func(w string) bool { return w[0] == '-' || w[0] >= '0' && w[0] <= '9' }, func(string) string {
			return numbers[r.IntN(len(numbers))]
		})
	case 5: // another modifier
		out[i] = replace(r, out[i], func(w string) bool { return strings.Contains(w, ".") }, func(w string) string {
			parts := strings.Split(w, ".")
			n := r.IntN(len(parts))
			switch r.IntN(3) {
			case 0:
				parts = append(parts[:n], parts[n+1:]...)
			case 1:
				parts[n] = modifiers[r.IntN(len(modifiers))]
			default:
				parts = append(parts, modifiers[r.IntN(len(modifiers))])
			}
			return strings.Join(parts, ".")
		})
	default: // another word
		words := word.FindAllString(from[j], -1)
		if len(words) == 0 {
			return lines
		}
		out[i] = replace(r, out[i], func(string) bool { return true }, func(string) string { return words[r.IntN(len(words))] })
	}
	return out
}

// replace replaces one of the words of a line for which want holds.
func replace(r *rand.Rand, line string, want func(string) bool, with func(string) string) string {
	var at [][]int
	for _, m := range word.FindAllStringIndex(line, -1) {
		if want(line[m[0]:m[1]]) {
			at = append(at, m)
		}
	}
	if len(at) == 0 {
		return line
	}
	m := at[r.IntN(len(at))]
	return line[:m[0]] + with(line[m[0]:m[1]]) + line[m[1]:]
}

var numbers = strings.Fields("0 1 -1 2 3 4 8 15 16 17 31 32 33 63 64 128 255 256 1024 65535 65536 2147483647 -2147483648 " +
	"4294967295 4294967296 9223372036854775807 18446744073709551615 0f3F800000 0fFFFFFFFF 0d7FF0000000000000")

var modifiers = strings.Fields("b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64 tf32 e4m3 e5m2 e4m3x2 pred " +
	"global shared local param const shared::cta shared::cluster v2 v4 v8 x1 x2 x4 sync aligned relaxed acquire release acq_rel volatile weak " +
	"cta cluster gpu sys rn rz rm rp ftz sat wide hi lo cc uni idx add min max and or xor exch cas inc dec trans noinc m8n8 m16n8k16 row col " +
	"bulk tensor async group mbarrier commit_group wait_group read proxy alias")
