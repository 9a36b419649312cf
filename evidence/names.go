package evidence

import (
	"strings"

	"github.com/GOATnote-Inc/attest/record"
)

// newNames are the names of kernels that older records know by another name. The files of
// these records stay as they are; [Store.Record] returns today's names.
var newNames = map[string]string{
	"hopper-halves":         "hopper-split-kv",
	"hopper-halves-cluster": "hopper-split-kv-cluster",
}

// newWords are the words of a configuration that older records spell differently: the old
// word, or its beginning up to a number, and the new one.
var newWords = [][2]string{{"turns-", "ping-pong-"}, {"halves", "split-in-block"}, {"sum-column", "sums-in-v"}}

// rename gives the kernels of an older record the names of today.
func rename(r *record.Record) {
	for _, k := range []*record.Kernel{&r.Kernel, r.Baseline} {
		if k == nil {
			continue
		}
		k.Name = nameToday(k.Name)
		if config, ok := k.Config["config"]; ok {
			k.Config["config"] = renameConfig(config)
		}
	}
}

// nameToday returns the name that a kernel has today.
func nameToday(name string) string {
	if n, ok := newNames[name]; ok {
		return n
	}
	return name
}

func renameConfig(config string) string {
	words := strings.Fields(config)
	for i, w := range words {
		for _, n := range newWords {
			if rest, ok := strings.CutPrefix(w, n[0]); ok && (rest == "" || strings.HasSuffix(n[0], "-")) {
				words[i] = n[1] + rest
			}
		}
	}
	return strings.Join(words, " ")
}
