package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func (x *evidenceStore) exportCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "export FILE",
		Short: "Write all evidence as one file, to bring it home",
		Long: `Write all records and verdicts as one file, a compressed tar of the directory: tar
unpacks it, and attest evidence import adds it to another directory, where hashes stay
the same. So a campaign on a machine without a checkout is brought home as one file.
Evidence with damage is refused. - is standard output.

JSON: {"records", "verdicts", "head", "bytes"}; head is the hash of the newest entry,
which verify shows too. It goes to standard error when the file is standard output.`,
		Example: `  attest evidence export h200.tar.gz
  ssh box attest/attest evidence export - --evidence attest/evidence > h200.tar.gz
  attest evidence import h200.tar.gz && attest evidence verify`,
		Args: oneFile("a file to write"),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := x.open()
			if err != nil {
				return err
			}
			var file bytes.Buffer
			n, err := s.Export(&file)
			var damage *evidence.Damage
			switch {
			case errors.As(err, &damage):
				return x.damaged(damage.Problems)
			case err != nil:
				return err
			case n.Records+n.Verdicts == 0:
				return fmt.Errorf("there is no evidence in %s", x.dir)
			}
			to := x.env
			if args[0] == "-" {
				to = &cli.Env{Out: x.env.Err, Err: x.env.Err, JSON: x.env.JSON}
				_, err = x.env.Write(file.Bytes())
			} else {
				err = atomicfile.Write(args[0], file.Bytes())
			}
			if err != nil {
				return err
			}
			if x.env.JSON {
				to.Encode(n)
				return nil
			}
			fmt.Fprintf(to, "%s and %s, %s, in %s\nhead %s\n", term.Count(n.Records, "record"), term.Count(n.Verdicts, "verdict"), term.Count(n.Bytes, "byte"), term.Clean(args[0]), n.Head)
			return nil
		},
	}
}

func (x *evidenceStore) importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import DIR|FILE…",
		Short: "Add what other directories of evidence, or exports, have",
		Long: `Add the records and verdicts of other directories of evidence, or of files that
attest evidence export or tar made of them, to this one, in the order given. - is
standard input. What is there already is not added again. Evidence with damage is
refused: nothing of it, nor of what comes after it, is added.

JSON, one object a directory or file: {"from", "records", "verdicts", "known"}: how many
were added, and how many were there already.`,
		Example: `  attest evidence import h200.tar.gz
  attest evidence import monday.tar.gz tuesday.tar.gz
  ssh box attest/attest evidence export - | attest evidence import -
  scp -r box:attest/evidence /tmp/box && attest evidence import /tmp/box`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return oneFile("a directory of evidence or an export")(c, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				dir, done, err := x.unpacked(name)
				if err != nil {
					return err
				}
				err = x.importFrom(name, dir)
				done()
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func oneFile(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("give %s; see %s --help", what, c.CommandPath())
		}
		return nil
	}
}

// unpacked is the directory of what is named: itself, or a passing one of an export.
func (x *evidenceStore) unpacked(name string) (dir string, done func(), err error) {
	in := x.env.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return name, func() {}, err
		}
		in = f
	}
	if dir, err = os.MkdirTemp("", "attest-evidence-"); err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	if err := evidence.Unpack(in, dir); err != nil {
		done()
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return dir, done, nil
}

// importFrom adds what a directory has, which is called by the name that was given.
func (x *evidenceStore) importFrom(name, dir string) error {
	from, err := evidence.Open(dir)
	if err != nil {
		return err
	}
	to, err := evidence.Open(x.dir)
	if err != nil {
		return err
	}
	n, err := to.Import(from)
	n.From = name
	var damage *evidence.Damage
	if errors.As(err, &damage) {
		return (&evidenceStore{env: x.env, dir: name}).damaged(damage.Problems)
	}
	if err != nil {
		return err
	}
	if x.env.JSON {
		x.env.Encode(n)
		return nil
	}
	fmt.Fprintf(x.env, "%s and %s added, %d already present\n", term.Count(n.Records, "record"), term.Count(n.Verdicts, "verdict"), n.Known)
	return nil
}
