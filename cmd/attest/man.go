package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/version"
)

func manCommand(env *cli.Env, root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write a manual page for every command",
		Long: `Write a manual page for every command to a folder: attest.1, attest-gate.1, attest-ptx-check.1 …

  attest man ~/.local/share/man/man1 && man attest-gate

JSON: {"files"}.`,
		Example: "  attest man /usr/local/share/man/man1",
		Args:    arguments(1, "one FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			var files []string
			for _, c := range withChildren(root) {
				file := filepath.Join(args[0], pageName(c)+".1")
				if err := atomicfile.Write(file, []byte(manPage(c))); err != nil {
					return err
				}
				files = append(files, file)
			}
			if env.JSON {
				env.Encode(map[string][]string{"files": files})
			} else {
				fmt.Fprintf(env, "%s in %s\n", english.Count(len(files), "page"), args[0])
			}
			return nil
		},
	}
}

// withChildren returns a command and all commands below it that the help shows.
func withChildren(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			list = append(list, withChildren(child)...)
		}
	}
	return list
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage returns the manual page of a command.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			say(".SH %s\n.nf\n%s\n.fi", title, roff(text))
		}
	}
	say(`.TH "%s" 1 "" "attest %s" "attest"`, strings.ToUpper(pageName(c)), version.This().Version)
	say(".SH NAME\n%s \\- %s", roff(pageName(c)), roff(c.Short))
	section("SYNOPSIS", c.UseLine())
	text := c.Long
	if text == "" {
		text = c.Short
	}
	section("DESCRIPTION", text)
	section("OPTIONS", c.LocalFlags().FlagUsagesWrapped(80))
	section("OPTIONS OF ALL COMMANDS", c.InheritedFlags().FlagUsagesWrapped(80))
	section("EXAMPLES", c.Example)
	var others []string
	if c.HasParent() {
		others = append(others, pageName(c.Parent())+"(1)")
	}
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			others = append(others, pageName(child)+"(1)")
		}
	}
	section("SEE ALSO", strings.Join(others, ", "))
	return b.String()
}

// roff escapes text: backslashes, hyphens that must stay hyphens, and dots and quotes at the
// beginning of a line, which would be commands.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
