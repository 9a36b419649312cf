package evidence_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
)

// keyed gives a store a key and returns the public one.
func keyed(t *testing.T, s *evidence.Store) (public string) {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	public, err := evidence.NewKey(key, s.Path())
	if err == nil {
		err = s.Sign(key)
	}
	if err != nil {
		t.Fatal(err)
	}
	return public
}

func imports(t *testing.T, to, from *evidence.Store) evidence.Imported {
	t.Helper()
	n, err := to.Import(from)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// rewrite lets the keeper of a store change its entries. All hashes are right again afterwards.
func rewrite(t *testing.T, s *evidence.Store, change func(e *evidence.Entry) (keep bool)) {
	t.Helper()
	entries, _ := s.Entries()
	previous, seq := "", 0
	for i := range entries {
		e := &entries[i]
		path := filepath.Join(s.Path(), "log", "0000000"+string(rune('0'+e.Seq))+".json")
		os.Remove(path)
		if !change(e) {
			continue
		}
		seq++
		e.Seq, e.Previous = seq, previous
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, '\n')
		previous = sum(text)
		put(t, filepath.Join(s.Path(), "log", "0000000"+string(rune('0'+seq))+".json"), string(text))
	}
	put(t, filepath.Join(s.Path(), "head.json"), `{"seq":`+string(rune('0'+seq))+`,"entry":"`+previous+`"}`+"\n")
}

// TestImportedSignatures wants the signatures of the first store to count in a store that imported it, directly
// or through a third one, and entries that it did not sign to be named.
func TestImportedSignatures(t *testing.T) {
	box, original := signing(t) // two unsigned entries, which the signed ones after them cover
	laptop := open(t, t.TempDir())
	add(t, laptop, "mine")
	importer := keyed(t, laptop)
	imports(t, laptop, box)
	check := func(s *evidence.Store, signers []string, signed int, problems ...string) {
		t.Helper()
		c := s.VerifyWith(evidence.Trust{Signers: signers})
		if c.Signed != signed || len(c.Problems) != len(problems) || len(c.Notes) != 0 {
			t.Fatalf("%d signed, want %d: %v, %v, want %v", c.Signed, signed, c.Problems, c.Notes, problems)
		}
		for i, p := range c.Problems {
			if p.String() != problems[i] {
				t.Errorf("%s, want %s", p, problems[i])
			}
		}
	}
	check(laptop, []string{original}, 2, "log/00000001.json: is not signed, although other entries are")
	check(laptop, []string{importer}, 4)
	add(t, laptop, "mine too")
	check(laptop, []string{original}, 2, "log/00000001.json: is not signed, although other entries are",
		"log/00000006.json: is signed by "+importer[:12]+"…, which is not a trusted key")
	third := open(t, t.TempDir()) // without a key
	imports(t, third, laptop)
	check(third, []string{importer}, 5)
	check(third, []string{original, importer}, 5)
	if n := imports(t, laptop, third); n.Known != 6 || n.Records != 0 {
		t.Errorf("back again: %+v", n)
	}
	if c := laptop.Verify(); !c.OK() || c.Entries != 6 {
		t.Errorf("%d entries, %v", c.Entries, c.Problems)
	}
}

// TestImportedOnceMore adds signatures to objects that a store has already without them, once.
func TestImportedOnceMore(t *testing.T) {
	box, original := signing(t)
	laptop := open(t, t.TempDir())
	imports(t, laptop, box)
	rewrite(t, laptop, func(e *evidence.Entry) bool { e.Origin = nil; return true }) // as older versions did
	trust := evidence.Trust{Signers: []string{original}}
	if c := laptop.VerifyWith(trust); c.OK() {
		t.Fatal("a store without signatures is accepted")
	}
	for range 2 {
		if n := imports(t, laptop, box); n.Known != 4 || n.Records != 0 {
			t.Fatalf("%+v", n)
		}
	}
	c := laptop.VerifyWith(trust)
	if c.Signed != 2 || c.Entries != 6 || c.Records != 4 {
		t.Errorf("%+v", c)
	}
	for _, p := range c.Problems {
		if p.Path > "log/00000004.json" {
			t.Error(p)
		}
	}
}

// TestForgedOrigin lets the keeper of an imported store change what was imported.
func TestForgedOrigin(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(e *evidence.Entry) bool
		want   string
	}{
		{"nothing", func(*evidence.Entry) bool { return true }, ""},
		{"another time of the original", func(e *evidence.Entry) bool { e.Origin.Time = e.Origin.Time.Add(1); return true }, "is about another object"},
		{"another place of the original", func(e *evidence.Entry) bool { e.Origin.Seq++; return true }, "has an origin with a signature that does not fit"},
		{"the signature removed", func(e *evidence.Entry) bool { e.Origin.Signer, e.Origin.Signature = "", ""; return true }, "has no entry that the key"},
		{"the origin removed", func(e *evidence.Entry) bool { e.Origin = nil; return true }, "has no entry that the key"},
		{"the last removed, and an unsigned one", func(e *evidence.Entry) bool {
			if e.Seq == 4 {
				return false
			}
			if e.Seq == 3 {
				e.Origin = nil
			}
			return true
		}, "has no entry that the key"},
		{"an unsigned one without its origin", func(e *evidence.Entry) bool {
			if e.Seq == 2 {
				e.Origin = nil
			}
			return true
		}, "log/00000001.json: is not signed"},
	} {
		box, original := signing(t)
		laptop := open(t, t.TempDir())
		imports(t, laptop, box)
		rewrite(t, laptop, c.change)
		v := laptop.VerifyWith(evidence.Trust{Signers: []string{original}})
		text := ""
		for _, p := range v.Problems {
			text += p.String() + "\n"
		}
		if !strings.Contains(text, c.want) || v.OK() != (c.want == "") {
			t.Errorf("%s: %v, want %q", c.name, v.Problems, c.want)
		}
	}
}

// TestStolenOrigin puts a valid signature beside another object.
func TestStolenOrigin(t *testing.T) {
	box, original := signing(t)
	laptop := open(t, t.TempDir())
	add(t, laptop, "stage9")
	imports(t, laptop, box)
	var stolen *evidence.Entry
	entries, _ := laptop.Entries()
	for i := range entries {
		if entries[i].Origin != nil {
			stolen = entries[i].Origin
		}
	}
	rewrite(t, laptop, func(e *evidence.Entry) bool {
		if e.Seq == 1 {
			e.Origin = stolen
		}
		return true
	})
	c := laptop.VerifyWith(evidence.Trust{Signers: []string{original}})
	if c.OK() || c.Problems[0].String() != "log/00000001.json: has an origin that is about another object" {
		t.Error(c.Problems)
	}
}

// TestCutOrigin notes that an entry between two signed ones of the first store was left out.
func TestCutOrigin(t *testing.T) {
	box, original := signing(t)
	add(t, box, "stage4")
	laptop := open(t, t.TempDir())
	imports(t, laptop, box)
	rewrite(t, laptop, func(e *evidence.Entry) bool { return e.Seq != 4 })
	want := "log/00000004.json: was imported, but not the entry before it in its first store, number 4"
	if c := laptop.VerifyWith(evidence.Trust{Signers: []string{original}}); len(c.Notes) == 0 || c.Notes[0].String() != want && c.Notes[1].String() != want {
		t.Errorf("%v, %v", c.Problems, c.Notes)
	}
}

// TestManyOrigins passes a record through many stores. The first signature stays.
func TestManyOrigins(t *testing.T) {
	s, original := signing(t)
	for range 12 {
		next := open(t, t.TempDir())
		keyed(t, next)
		imports(t, next, s)
		s = next
	}
	if c := s.VerifyWith(evidence.Trust{Signers: []string{original}}); !c.OK() || c.Signed != 2 {
		t.Errorf("%d signed, %v", c.Signed, c.Problems)
	}
	rewrite(t, s, func(e *evidence.Entry) bool {
		for range 20000 {
			e.Origin = &evidence.Entry{Origin: e.Origin}
			if e.Seq != 1 {
				return true
			}
		}
		return true
	})
	if c := s.VerifyWith(evidence.Trust{Signers: []string{original}}); c.OK() {
		t.Error("nested entries are accepted")
	}
}
