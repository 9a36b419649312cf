package check_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/parse"
)

var mutateAll = flag.Bool("mutate-all", false, "mutate the attention kernels as well, which takes a while")

// mutant is a kernel with one defect. Its key names the change and the instruction: "remove
// bar.sync 2" is the kernel without its second bar.sync.
type mutant struct {
	key  string
	line int
	text string
}

// mutations are the changes of instructions, by the name in the key. Each returns the texts that
// replace the line of the instruction.
var mutations = []struct {
	name  string
	apply func(in *ptx.Inst, line string) (instead string, ok bool)
}{
	{"remove", func(in *ptx.Inst, _ string) (string, bool) { return "", removable(in.Op) }},
	{"let through", func(in *ptx.Inst, _ string) (string, bool) { return "", in.Op.Name == "bra" && in.Guard.Sym != nil }},
	{"unguard", func(in *ptx.Inst, line string) (string, bool) {
		return unguarded.ReplaceAllString(line, ""), in.Guard.Sym != nil && (in.Op.Name == "ld" || in.Op.Name == "st" || in.Op.Name == "cp")
	}},
	{"wait for one less", func(in *ptx.Inst, line string) (string, bool) {
		return count.ReplaceAllStringFunc(line, raise(1)), in.Op.Has("wait_group")
	}},
	{"expect nothing", func(in *ptx.Inst, line string) (string, bool) {
		at := strings.LastIndex(line, ",")
		return strings.Replace(line[:max(at, 0)], ".expect_tx", "", 1) + ";", in.Op.Has("expect_tx") && in.Op.Has("arrive")
	}},
	{"expect one more", func(in *ptx.Inst, line string) (string, bool) {
		return count.ReplaceAllStringFunc(line, raise(16)), in.Op.Has("expect_tx")
	}},
	{"expect one less", func(in *ptx.Inst, line string) (string, bool) {
		return count.ReplaceAllStringFunc(line, raise(-16)), in.Op.Has("expect_tx")
	}},
	{"count one more", func(in *ptx.Inst, line string) (string, bool) {
		return count.ReplaceAllStringFunc(line, raise(1)), in.Op.Name == "mbarrier" && in.Op.Has("init")
	}},
	{"count one less", func(in *ptx.Inst, line string) (string, bool) {
		less := count.ReplaceAllStringFunc(line, raise(-1))
		return less, in.Op.Name == "mbarrier" && in.Op.Has("init") && !strings.HasSuffix(less, " 0;")
	}},
	{"other parity", func(in *ptx.Inst, line string) (string, bool) {
		at := strings.LastIndex(line, ",")
		if !in.Op.Has("parity") || at < 0 {
			return "", false
		}
		parity := strings.Trim(line[at+1:], " ;")
		return fmt.Sprintf("{ .reg .b32 %%flip; xor.b32 %%flip, %s, 1; %s, %%flip; }", parity, line[:at]), true
	}},
}

var (
	unguarded = regexp.MustCompile(`@!?%\w+ `)
	count     = regexp.MustCompile(`\d+;$`)
)

// raise adds to a number before a semicolon.
func raise(by int) func(string) string {
	return func(s string) string {
		n := 0
		fmt.Sscanf(s, "%d;", &n)
		return fmt.Sprintf("%d;", n+by)
	}
}

// removable are instructions that do nothing but order others.
func removable(op *ptx.Opcode) bool {
	switch op.Name {
	case "bar", "barrier", "fence", "membar":
		return true
	case "cp", "wgmma":
		return op.Has("wait_group") || op.Has("wait_all") || op.Has("commit_group") || op.Name == "wgmma" && op.Has("fence")
	case "mbarrier":
		return op.Has("init") || op.Has("arrive") && !op.Has("expect_tx")
	}
	return false
}

// mutants returns all mutants of a text that has one instruction per line.
func mutants(t *testing.T, text string) (all []mutant) {
	t.Helper()
	m, err := parse.Parse("kernel.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	seen := map[string]int{}
	for _, f := range m.Funcs() {
		for i, s := range f.Body {
			in, ok := s.(*ptx.Inst)
			if !ok {
				continue
			}
			seen[in.Op.Text]++
			at := in.Pos.Line - 1
			line := strings.TrimSpace(lines[at])
			if in.Op.Name == "bra" && !waits(f, i) && !forward(f, i) {
				continue // the end of a loop: without it less is done, and nothing is wrong
			}
			for _, mut := range mutations {
				instead, ok := mut.apply(in, line)
				if !ok {
					continue
				}
				changed := append([]string{}, lines...)
				changed[at] = instead
				all = append(all, mutant{
					fmt.Sprintf("%s %s %d", mut.name, in.Op.Text, seen[in.Op.Text]), int(in.Pos.Line), strings.Join(changed, "\n"),
				})
			}
		}
	}
	return all
}

// forward reports whether the branch at i of a body skips something.
func forward(f *ptx.Func, i int) bool {
	to := f.Body[i].(*ptx.Inst).Args[0].Sym
	for _, s := range f.Body[i:] {
		if l, ok := s.(*ptx.Label); ok && l.Sym == to {
			return true
		}
	}
	return false
}

// waits reports whether the branch at i of a body repeats a wait for an mbarrier.
func waits(f *ptx.Func, i int) bool {
	for ; i > 0; i-- {
		if in, ok := f.Body[i-1].(*ptx.Inst); ok {
			return in.Op.Name == "mbarrier" && in.Op.Has("parity")
		}
	}
	return false
}

// TestMutants: the checkers find an example from which a barrier, wait, fence, arrival or bound
// was removed, or the table says why the removed instruction is not needed.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and long")
	}
	for _, w := range examples {
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			findOut(t, w, mutants(t, w.text(t)))
		})
	}
}

// TestAttentionMutants removes the synchronisation of the attention kernels. It leaves their
// branches: they skip whole tiles, or choose between ways to compute the same result.
func TestAttentionMutants(t *testing.T) {
	if !*mutateAll {
		t.Skip("takes a while: -mutate-all")
	}
	for _, w := range presets {
		t.Run(w.name(), func(t *testing.T) {
			t.Parallel()
			findOut(t, w, slices.DeleteFunc(mutants(t, w.text(t)), func(m mutant) bool { return strings.HasPrefix(m.key, "let through") }))
		})
	}
}

// findOut runs mutants of a kernel and compares those without findings with the table.
func findOut(t *testing.T, w workload, all []mutant) {
	t.Helper()
	if len(all) == 0 {
		t.Error("there is nothing to take away")
	}
	survivors := map[string]bool{}
	for _, m := range all {
		found := watch(t, m.text, w.launches(t), ramp, 0)
		if caught(found) {
			continue
		}
		survivors[m.key] = true
		if redundant[w.name()][m.key] == "" {
			t.Errorf("%s (line %d) goes unnoticed: %v", m.key, m.line, found.defects)
		}
	}
	for key := range redundant[w.name()] {
		if !survivors[key] {
			t.Errorf("%s is listed as redundant, but is found out, or no longer there", key)
		}
	}
	t.Logf("%d mutants, %d redundant", len(all), len(survivors))
}

// caught reports whether a run shows a defect.
func caught(w watched) bool {
	for i := range w.defects {
		if w.defects[i].Severity == finding.Error {
			return true
		}
	}
	return w.fault != nil
}

// noEarlierTile is why a block that has one tile of queries need not wait before it
// writes them.
const noEarlierTile = "nobody has read Q before it is written"

// redundant are the mutants without a defect that a checker could find, by kernel and key, with
// the reason.
var redundant = map[string]map[string]string{
	"stage3a": {
		"remove bar.warp.sync 1": "shuffles of the whole warp stand between the reads of the scores and the writes of P",
	},
	"stage3b": {
		"remove bar.warp.sync 1": noEarlierTile,
		"remove bar.warp.sync 2": "two barriers of the block stand between the writes of Q and its reads",
	},
	"stage4": {
		"remove bar.warp.sync 1": noEarlierTile,
		"remove bar.warp.sync 2": "two barriers of the block stand between the writes of Q and its reads",
	},
	"stage5": {
		"remove bar.warp.sync 1": noEarlierTile,
	},
	"stage5-persistent": {
		"remove bar.warp.sync 1": "the warp has met since it read Q: before it freed the last tile",
	},
	"matmul": {
		"let through bra 1": "it skips the loop when there are no columns, and there are",
	},
	"reduce": {
		"let through bra 3": "after a butterfly all lanes hold the sum: they all store the same",
		"let through bra 5": "atomic additions do not race: the sum is wrong, and that is all",
	},
	"ring": {
		"remove fence.mbarrier_init.release.cluster 1": "a warning: the rules ask for it, and it is widely left out",
		"remove fence.proxy.async.shared::cta 1":       "a warning: reads before a bulk write; the rules ask for it, and it is widely left out",
	},
	"wgmma": {
		"remove fence.mbarrier_init.release.cluster 1": "a warning: the rules ask for it, and it is widely left out",
	},
}
