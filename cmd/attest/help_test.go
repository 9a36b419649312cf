package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
)

// TestHelpFitsTheScreen wants every line of a help text to fit into 100 columns. Lines that start with
// spaces are commands and tables, which cannot always be broken.
func TestHelpFitsTheScreen(t *testing.T) {
	seen := 0
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Long + "\n" + c.Example) {
			most := 100
			if strings.HasPrefix(line, "  ") {
				most = 130
			}
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > most {
				t.Errorf("%s: a line of %d columns: %s", c.CommandPath(), n, line)
			}
			seen++
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(&cli.Env{}))
	if seen < 500 {
		t.Errorf("only %d lines of help: the commands were not found", seen)
	}
}
