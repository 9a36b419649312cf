package evidence_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/ptx/normal"
	"github.com/GOATnote-Inc/attest/record"
)

var texts = flag.String("texts", "", "write identities.json from a folder of PTX texts, each named by its SHA-256, that old versions of attest generated")

// TestIdentities wants the published table to name texts of old records, each with the name
// of its kernel and with the identity of the kernel that is built today for the same name and
// problem, apart from the one constant of [beforeFix]. If the kernel has changed since, a newer record that holds the
// kernel must have the identity. With -texts it writes the table, with the texts whose normal form today's kernel
// has.
func TestIdentities(t *testing.T) {
	s := open(t, ".")
	c := s.Load()
	if *texts != "" {
		writeIdentities(t, c)
	}
	list, err := s.Identities()
	if err != nil || len(list) == 0 {
		t.Fatalf("%d identities: %v", len(list), err)
	}
	for _, i := range list {
		if err := checkIdentity(c, i); err != nil {
			t.Errorf("%s with the text %.12s…: %v", i.Kernel, i.SHA256, err)
		}
	}
}

// checkIdentity wants an old record with the kernel, and a problem of such a record for
// which the kernel that is built today has the identity.
func checkIdentity(c *evidence.Contents, i evidence.Identity) error {
	err := errors.New("no old record has it")
	held := slices.ContainsFunc(c.Items, func(x *evidence.Item) bool { return x.Kernel.Call != nil && x.Kernel.Identity == i.Identity })
	seen := map[record.Problem]bool{}
	for _, item := range c.Items {
		for _, k := range []*record.Kernel{&item.Kernel, item.Baseline} {
			if k == nil || k.Call != nil || k.SHA256 != i.SHA256 || k.Name != i.Kernel {
				continue
			}
			for _, p := range problemsOf(k, item.Record) {
				if held {
					return nil
				}
				if seen[p] {
					continue
				}
				seen[p] = true
				s, refused := lab.Preset(k.Name, p.Attention, kernel.Chip{})
				switch {
				case refused != nil:
					err = refused
				case s.Identity() == i.Identity, beforeFix(s.Kernel) == i.Identity:
					return nil
				default:
					err = fmt.Errorf("today's kernel for %v has the identity %s, not %s", p.Shape, s.Identity(), i.Identity)
				}
			}
		}
	}
	return err
}

// beforeFix returns the identity that a kernel had while the warps of a ping-pong handed over
// only after numbers above zero, and hung on some NaN: the text differs in that constant.
func beforeFix(k *kernel.Kernel) string {
	old := *k
	old.PTX = regexp.MustCompile(`(setp\.geu\.f32 .*), 0fFF7FFFFF;`).ReplaceAllString(k.PTX, "$1, 0f00000000;")
	return old.Identity()
}

func writeIdentities(t *testing.T, c *evidence.Contents) {
	t.Helper()
	list, seen := []evidence.Identity{}, map[string]bool{}
	for _, item := range c.Items {
		for _, k := range []*record.Kernel{&item.Kernel, item.Baseline} {
			if k == nil || k.Call != nil || seen[k.SHA256] {
				continue
			}
			if id := today(t, k, item.Record); id != "" {
				seen[k.SHA256] = true
				list = append(list, evidence.Identity{Kernel: k.Name, SHA256: k.SHA256, Identity: id})
			}
		}
	}
	text, err := json.MarshalIndent(list, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("identities.json", append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// today returns the identity of the kernel of today that has the normal form of an old text,
// or "".
func today(t *testing.T, k *record.Kernel, r *record.Record) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*texts, k.SHA256))
	if err != nil {
		return ""
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != k.SHA256 {
		t.Fatalf("%s is not named by its hash", k.SHA256)
	}
	old, err := normal.Text(k.Name, string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problemsOf(k, r) {
		s, err := lab.Preset(k.Name, p.Attention, kernel.Chip{})
		if err != nil {
			continue
		}
		if now, err := normal.Text(k.Name, s.PTX); err == nil && now == old {
			return s.Identity()
		}
	}
	return ""
}

// problemsOf returns the problems that a record has a kernel for: one for each shape that
// was timed, because the choice of a design depends on the shape.
func problemsOf(k *record.Kernel, r *record.Record) []record.Problem {
	problems := []record.Problem{k.Problem}
	if r.Performance != nil {
		for _, one := range r.Performance.Shapes {
			p := k.Problem
			p.Shape = one.Shape
			problems = append(problems, p)
		}
	}
	return problems
}

// TestIdentify wants a record of schema 1 to get its identity from the table, and a damaged
// table to be reported.
func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	r := recordtest.New("stage1")
	hash, err := open(t, dir).AddRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Repeat("ab", 32)
	line, err := json.Marshal([]evidence.Identity{{Kernel: "stage1", SHA256: r.Kernel.SHA256, Identity: id}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "identities.json")
	for _, c := range []struct {
		table, want string
		ok          bool
	}{{string(line), id, true}, {string(bytes.ReplaceAll(line, []byte(id), []byte("x"))), "", false}, {"[", "", false}} {
		if err := os.WriteFile(file, []byte(c.table), 0o644); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		back, err := s.Record(hash)
		if err != nil || back.Kernel.Identity != c.want {
			t.Errorf("%s: %q, %v", c.table, back.Kernel.Identity, err)
		}
		if check := s.Verify(); check.OK() != c.ok {
			t.Errorf("%s: %v", c.table, check.Problems)
		}
	}
}

// TestRenamed: a record with an old name of a kernel and old words of its configuration is
// read with today's, and its file stays as it is.
func TestRenamed(t *testing.T) {
	s := open(t, t.TempDir())
	r := recordtest.New("hopper-halves-cluster")
	r.Kernel.Config = map[string]string{"config": "64x128 stages-2 turns-128 halves polynomial-16 sum-column"}
	hash, err := s.AddRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	back, err := s.Record(hash)
	if err != nil {
		t.Fatal(err)
	}
	if want := "64x128 stages-2 ping-pong-128 split-in-block polynomial-16 sums-in-v"; back.Kernel.Name != "hopper-split-kv-cluster" || back.Kernel.Config["config"] != want {
		t.Errorf("%s, %q", back.Kernel.Name, back.Kernel.Config["config"])
	}
	if file, err := s.Object(hash); err != nil || !bytes.Contains(file, []byte(`"hopper-halves-cluster"`)) {
		t.Errorf("%s, %v", file, err)
	}
}
