package evidence

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/lab/gate"
	"github.com/GOATnote-Inc/attest/record"
)

// Trust is what a reader knows of a store, independently of who keeps it.
type Trust struct {
	Heads   []Head   // heads that the store had at some time
	Signers []string // public keys: entries must be signed by one of them
	Version string   // the version of attest: a record of this version must get the same verdict again
}

// Head is the hash of an entry. Seq is its number, or 0 if the number is not known.
type Head struct {
	Seq  int    `json:"seq"`
	Hash string `json:"hash"`
}

// Heads returns the heads that the store has had, the oldest first: the hash of every entry. The
// list only grows, so its history in git shows a store that was rewritten or cut.
func (s *Store) Heads() (heads []Head, problems []Problem) {
	entries, problems := s.Entries()
	for i := range entries {
		if _, hash, err := s.entry(entries[i].Seq); err == nil {
			heads = append(heads, Head{entries[i].Seq, hash})
		}
	}
	return heads, problems
}

// ParseHeads reads lines with a number and a hash, as WriteHeads writes them.
func ParseHeads(text string) (heads []Head, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		seq, err := strconv.Atoi(words[0])
		if len(words) != 2 || err != nil || seq < 1 || !isHash(words[1]) {
			return nil, fmt.Errorf("line %d is not a number and a hash: attest evidence heads writes such lines", n)
		}
		heads = append(heads, Head{seq, words[1]})
	}
	return heads, nil
}

// VerifyWith is Verify for a reader who does not trust the keeper of the store. It also computes
// the verdicts again from their records.
func (s *Store) VerifyWith(t Trust) *Check {
	v := s.verify()
	for _, j := range v.verdicts {
		if i := slices.IndexFunc(v.records, func(it *Item) bool { return it.Hash == j.Record }); i >= 0 {
			v.judgeAgain(j.Hash, j.Verdict, v.records[i].Record, t.Version)
		}
	}
	v.heads(t.Heads)
	v.signers(t.Signers)
	return &v.Check
}

// heads reports heads that the log does not have.
func (v *verification) heads(known []Head) {
	if len(known) == 0 {
		return
	}
	now, _ := v.store.Heads()
	for _, h := range known {
		i := slices.IndexFunc(now, func(n Head) bool { return n.Hash == h.Hash })
		switch {
		case i < 0:
			v.problem("log", "has no entry with the hash %s, which was its head before: entries were removed or rewritten", h.Hash)
		case h.Seq > 0 && now[i].Seq != h.Seq:
			v.problem("log", "has the head %s as entry %d, but it was entry %d before", h.Hash, now[i].Seq, h.Seq)
		}
	}
}

// signers reports entries that none of the keys has signed, neither here nor in the store from which
// they were imported. Entries before the first signature of this log are accepted: the signature covers the hash of
// the entry before, and with it the whole log up to there.
func (v *verification) signers(keys []string) {
	if len(keys) == 0 {
		return
	}
	entries, _ := v.store.Entries()
	ours := func(e *Entry) bool { return slices.Contains(keys, e.Signer) && signed(*e) }
	first := slices.IndexFunc(entries, func(e Entry) bool { return ours(&e) })
	imported := v.imported(entries, ours)
	var unknown []Problem
	for i := range entries {
		e := &entries[i]
		switch {
		case anySigned(e, ours):
			v.Signed++
		case i < first || imported[e.Seq]:
		case e.Signer == "":
			unknown = append(unknown, Problem{filepath.ToSlash(logFile(e.Seq)), "is not signed, although other entries are"})
		default:
			unknown = append(unknown, Problem{filepath.ToSlash(logFile(e.Seq)), fmt.Sprintf("is signed by %s…, which is not a trusted key", e.Signer[:min(12, len(e.Signer))])})
		}
	}
	if v.Signed == 0 {
		unknown = []Problem{{"log", fmt.Sprintf("has no entry that the key %s… signed", keys[0][:min(12, len(keys[0]))])}}
	}
	v.Problems = append(v.Problems, unknown...)
}

// signature reports a signature that does not fit its entry.
func (v *verification) signature(e *Entry) {
	if (e.Signer != "" || e.Signature != "") && !signed(*e) {
		v.problem(logFile(e.Seq), "has a signature that does not fit: the entry was changed")
	}
}

// judgeAgain compares a verdict with its own gates, and with the verdict that its record gets today.
// Other versions of attest may judge by other rules, so a difference is a note there.
func (v *verification) judgeAgain(hash string, old *record.Verdict, r *record.Record, version string) {
	file := objectFile(hash)
	for _, g := range old.Gates {
		if (g.Status == record.Red || g.Status == record.Void) && old.Outcome != record.Reject {
			v.problem(file, "says %s, but its %s gate is %s", old.Outcome, g.Name, g.Status)
			return
		}
	}
	now := gate.Judge(r)
	if now.Outcome == old.Outcome {
		return
	}
	what := fmt.Sprintf("says %s, but its record is judged %s: %s", old.Outcome, now.Outcome, now.Why)
	if r.Build.Attest == version {
		v.problem(file, "%s", what)
		return
	}
	v.Notes = append(v.Notes, Problem{filepath.ToSlash(file), what})
}
