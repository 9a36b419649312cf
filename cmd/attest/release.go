package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/release"
	"github.com/GOATnote-Inc/attest/internal/version"
)

func releaseCommand(env *cli.Env, root *cobra.Command) *cobra.Command {
	m := &release.Maker{}
	c := &cobra.Command{
		Use:   "release VERSION",
		Short: "Build the archives of a release from a clone",
		Long: `Build the archives of a release: attest for linux and darwin, amd64 and arm64, each with the
licence, manual pages and completions, a list of the modules in the binaries (CycloneDX), and
checksums.txt.

  attest release v1.2.3

Run it in a clone, at the commit of the release. The same commit, version of attest and version of
Go give the same bytes. attest --on takes a binary from an archive that lies beside attest.

JSON: {"out", "files"}.`,
		Example: "  attest release v1.2.3 --out dist\n  attest release v1.2.3-rc1 --target linux/amd64",
		Args:    arguments(1, "one VERSION"),
		RunE: func(c *cobra.Command, args []string) error {
			source := version.SourceDir()
			if source == "" {
				return errors.New("this is not a clone of attest: run the command in one")
			}
			progress := env.StartProgress()
			defer progress.Stop()
			m.Version, m.Say = args[0], progress.Say
			var err error
			if m.Source, err = version.ModuleRoot(source); err != nil {
				return err
			}
			if m.Extra, err = releaseExtras(root); err != nil {
				return err
			}
			files, err := m.Make(c.Context())
			if err != nil {
				return err
			}
			progress.Print(func() {
				if env.JSON {
					env.Encode(map[string]any{"out": m.Out, "files": files})
					return
				}
				fmt.Fprintf(env, "%s in %s\n", english.Count(len(files), "file"), m.Out)
			})
			return nil
		},
	}
	c.Flags().StringVar(&m.Out, "out", "dist", "`folder` for the files")
	c.Flags().StringSliceVar(&m.Targets, "target", release.Targets, "systems and architectures")
	return c
}

// releaseExtras returns the manual pages and the completions of shells.
func releaseExtras(root *cobra.Command) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, c := range withChildren(root) {
		files[filepath.Join("man", "man1", pageName(c)+".1")] = []byte(manPage(c))
	}
	for name, write := range map[string]func(*bytes.Buffer) error{
		"attest.bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
		"_attest":     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
		"attest.fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, err
		}
		files[filepath.Join("completions", name)] = b.Bytes()
	}
	return files, nil
}
