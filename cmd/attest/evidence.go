package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/record"
)

func evidenceCommand(env *cli.Env) *cobra.Command {
	x := &evidenceStore{env: env}
	c := group("evidence", "Records and verdicts that were kept: list, show, verify, diff, export, import",
		`Records of what was measured, and the verdicts on them, are kept in a directory as
plain JSON files that are named by their SHA-256. A log chains them: each entry has
the hash of the one before it, so a file that was edited, removed or renamed is found.
Nothing is ever changed or removed by attest.

HASH is the hash of a record or a verdict, or its first letters.`,
		`  attest evidence list --outcome MERGE
  attest evidence show 3f9a
  attest evidence verify
  attest evidence diff 3f9a 81c0
  attest evidence export h200.tar.gz      one file, to bring home
  attest evidence import h200.tar.gz
  cat evidence/log/*.json | jq .          the log, without attest
  sha256sum evidence/objects/*/*.json     the names are the sums`)
	x.flag(c)
	c.AddCommand(x.listCommand(), x.showCommand(), x.verifyCommand(), x.diffCommand(), x.exportCommand(), x.importCommand())
	return c
}

// evidenceStore is what the commands on evidence share.
type evidenceStore struct {
	env   *cli.Env
	dir   string
	flags interface{ Changed(string) bool }
}

func (x *evidenceStore) flag(c *cobra.Command) {
	c.PersistentFlags().StringVar(&x.dir, "evidence", evidence.Dir, "the directory of evidence")
	x.flags = c.PersistentFlags()
}

// open opens the store. A directory that somebody named must exist: a typing error must
// not look like an empty store.
func (x *evidenceStore) open() (*evidence.Store, error) {
	if _, err := os.Stat(x.dir); errors.Is(err, fs.ErrNotExist) && x.flags.Changed("evidence") {
		return nil, fmt.Errorf("--evidence: there is no directory %s", x.dir)
	}
	return evidence.Open(x.dir)
}

// damaged tells the problems of a store, and gives the error that the command ends with.
func (x *evidenceStore) damaged(problems []evidence.Problem) error {
	for _, p := range problems {
		fmt.Fprintf(x.env.Err, "%s: %s: %s\n", term.Clean(x.dir), x.env.ErrStyle().Red("damaged"), term.Clean(p.String()))
	}
	if len(problems) > 0 {
		return cli.Exit(cli.Red)
	}
	return nil
}

func (x *evidenceStore) verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check every hash and every link of the chain",
		Long: `Read all of the evidence and check every hash and every link of the chain. A file
that is not as it was written is named, with what is wrong with it; the exit code is
then 1. Files that a killed run left behind are harmless, and mentioned.

The head is the hash of the newest entry. Whoever has noted it can tell later that
nothing before it was changed: the chain then still has an entry with that hash.

JSON: {"entries", "records", "verdicts", "head", "problems": [{"path", "what"}],
"notes": [{"path", "what"}]}.`,
		Example: "  attest evidence verify\n  attest evidence verify --evidence ~/h200 --json | jq -r .head",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := x.open()
			if err != nil {
				return err
			}
			c := s.Verify()
			if x.env.JSON {
				x.env.Encode(c)
				if !c.OK() {
					return cli.Exit(cli.Red)
				}
				return nil
			}
			for _, n := range c.Notes {
				fmt.Fprintf(x.env, "note: %s\n", term.Clean(n.String()))
			}
			if err := x.damaged(c.Problems); err != nil {
				fmt.Fprintf(x.env, "bad: %s; the other %s in order\n", term.Count(len(c.Problems), "problem"), term.Are(c.Entries, "entry"))
				return err
			}
			if c.Entries == 0 {
				fmt.Fprintf(x.env, "ok: there is no evidence in %s\n", term.Clean(x.dir))
				return nil
			}
			fmt.Fprintf(x.env, "ok: %s and %s, the chain is whole\nhead %s\n", term.Count(c.Records, "record"), term.Count(c.Verdicts, "verdict"), c.Head)
			return nil
		},
	}
}

func (x *evidenceStore) listCommand() *cobra.Command {
	var want evidenceFilter
	c := &cobra.Command{
		Use:   "list",
		Short: "What records there are, and their verdicts",
		Long: `List the records, oldest first, with their newest verdicts. What is damaged is told
on standard error, and makes the exit code 1; the rest is listed.

JSON, one object a record: {"hash", "seq", "time", "kernel", "ptx", "format", "target",
"device", "shapes", "outcome", "why", "verdict"}; outcome, why and verdict (a hash) are
"" for a record that was not judged.`,
		Example: "  attest evidence list\n  attest evidence list --kernel stage3b --shape mission\n  attest evidence list --outcome reject --json | jq -r .hash",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := want.check(); err != nil {
				return err
			}
			s, err := x.open()
			if err != nil {
				return err
			}
			return x.list(s.Load(), &want)
		},
	}
	f := c.Flags()
	f.StringVar(&want.kernel, "kernel", "", "only kernels whose name has this in it")
	f.StringVar(&want.outcome, "outcome", "", "only this outcome: "+strings.Join(outcomeNames(), ", "))
	f.StringVar(&want.shape, "shape", "", "only records with this shape: B,H,S,D or a name")
	return c
}

// evidenceLine is a line of the list.
type evidenceLine struct {
	Hash    string         `json:"hash"`
	Seq     int            `json:"seq"`
	Time    time.Time      `json:"time"`
	Kernel  string         `json:"kernel"`
	PTX     string         `json:"ptx"`
	Format  string         `json:"format"`
	Target  string         `json:"target"`
	Device  string         `json:"device"`
	Shapes  []string       `json:"shapes"`
	Outcome record.Outcome `json:"outcome"`
	Why     string         `json:"why"`
	Verdict string         `json:"verdict"`
}

func (x *evidenceStore) list(c *evidence.Contents, want *evidenceFilter) error {
	t := term.Table{Right: "l", Style: x.env.OutStyle()}
	t.Head("record", "date", "kernel", "format", "target", "device", "outcome", "why")
	n := 0
	for _, item := range c.Items {
		l := evidenceLine{
			Hash: item.Hash, Seq: item.Seq, Time: item.Build.Time, Kernel: item.Kernel.Name, PTX: item.Kernel.SHA256, Format: item.Kernel.Format,
			Target: item.Kernel.Target, Device: item.Build.Device.Name, Shapes: shapesOf(item.Record),
		}
		if j := item.Verdict(); j != nil {
			l.Outcome, l.Why, l.Verdict = j.Outcome, j.Why, j.Hash
		}
		if !want.takes(&l) {
			continue
		}
		n++
		if x.env.JSON {
			x.env.Encode(l)
			continue
		}
		t.Row(l.Hash[:10], l.Time.UTC().Format("2006-01-02 15:04"), term.Clean(l.Kernel), l.Format, l.Target, term.Clean(l.Device), dash(string(l.Outcome)), term.Clean(l.Why))
	}
	if !x.env.JSON {
		if n > 0 {
			t.WriteTo(x.env)
		} else if len(c.Items) > 0 {
			fmt.Fprintf(x.env, "none of %s matches\n", term.Count(len(c.Items), "record"))
		} else {
			fmt.Fprintf(x.env, "there is no evidence in %s\n", term.Clean(x.dir))
		}
	}
	return x.damaged(c.Check.Problems)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
