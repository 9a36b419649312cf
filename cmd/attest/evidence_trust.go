package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/archive"
)

func evidenceVerify(x *archive.Archive) *cobra.Command {
	var k archive.Known
	var exported string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check every hash, every link of the chain and every verdict",
		Long: `Check every hash and every link of the chain, and judge every record again.

  attest evidence verify

A verdict that its own gates or its record do not support is a problem. Other versions of
attest judge by other rules, so for their records a different verdict is a note. Each damaged
file is listed with what is wrong with it, and the exit code is 1. Files of a run that was
killed are harmless; they are listed as notes.

You need not trust whoever keeps the store. The head is the hash of the newest entry. If you
note it, --head finds out later whether an entry before it was changed or removed. --heads
does the same with a file of attest evidence heads, which may be in git. --signer accepts
only entries that a key has signed, here or in the store from which they were imported: whoever
rewrites the chain needs that key.

With --export, check a file of attest export instead: whether its kernels are what their hashes
say, whether the store has a record and a verdict for each of them, and whether the code around
them is what attest writes. The exit code is 1 if a kernel was changed, was rejected or has no
record.

JSON: {"entries", "records", "verdicts", "remarks", "scores", "texts", "head", "signed",
"problems": [{"path", "what"}], "notes": [{"path", "what"}]}.
With --export: {"kind", "attest", "code": same, changed or other version, "kernels": [{"name",
"config", "identity", "state": measured, rejected, changed or no record, "record"}]}.`,
		Example: `  attest evidence verify
  attest evidence verify --evidence ~/h200 --json | jq -r .head
  attest evidence verify --head HASH --signer KEY
  attest evidence verify --heads evidence.heads
  attest evidence verify --export attest_attention.py`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if exported != "" {
				return verifyExport(x.Env, exported, x.Dir)
			}
			return x.Verify(k)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&k.Heads, "head", nil, "the `hash` of an entry that the chain must have")
	f.StringVar(&k.File, "heads", "", "a `file` of attest evidence heads whose entries the chain must have")
	f.StringSliceVar(&k.Signers, "signer", nil, "the public `key` that must have signed the entries; several keys with commas")
	f.StringVar(&exported, "export", "", "a `file` of attest export to check instead of the store")
	return c
}

func evidenceHeads(x *archive.Archive) *cobra.Command {
	return &cobra.Command{
		Use:   "heads",
		Short: "Print the heads that the store has had, for a file in git",
		Long: `Print the number and the hash of every entry: the heads that the store has had, the oldest
first.

  attest evidence heads > evidence.heads

The list only grows. Keep it in a git repository whose history the keeper of the store cannot
change. attest evidence verify --heads then finds a chain that was rewritten or cut.

JSON, one object per entry: {"seq", "hash"}.`,
		Example: `  attest evidence heads > evidence.heads && git commit -m heads evidence.heads
  attest evidence verify --heads evidence.heads`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return x.Heads() },
	}
}

func evidenceKeygen(x *archive.Archive) *cobra.Command {
	return &cobra.Command{
		Use:   "keygen [FILE]",
		Short: "Make a key that signs what is added to the evidence",
		Long: `Make an ed25519 key and print the public key.

  attest evidence keygen

From then on every command that adds to the evidence signs its entries. The private key is
written to FILE, or to attest/evidence.key in the folder for configurations, where all
commands look for it. ATTEST_KEY names another file. The key must not lie in the store,
because stores are published. An existing key is never replaced.

Publish the public key. attest evidence verify --signer KEY accepts only what it has signed.

JSON: {"key", "public"}: the file, and the public key.`,
		Example: `  attest evidence keygen
  ATTEST_KEY=ci.key attest gate`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return x.Keygen(strings.Join(args, ""))
		},
	}
}
