package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
)

// usageTemplate is the part of a help text below the description. Flags are wrapped, since
// their texts are longer than a terminal is wide.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$all := .Commands}}{{range $group := .Groups}}

{{.Title}}:{{range $all}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if not .AllChildCommandsHaveGroup}}

Commands:{{range $all}}{{if and (eq .GroupID "") (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of all commands:
{{.InheritedFlags.FlagUsagesWrapped 100 | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

{{.CommandPath}} COMMAND --help explains a command.{{end}}
`

// badValue matches what the flag library says about a value that it cannot read.
var badValue = regexp.MustCompile(`^invalid argument "(.*)" for "(?:-\w, )?(--[\w-]+)" flag: (.*)$`)

// flagError writes the error about a flag as the other errors are written: the flag with its
// value, what is wrong, and what is possible.
func flagError(c *cobra.Command, err error) error {
	m := badValue.FindStringSubmatch(err.Error())
	if m == nil {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	}
	value, flag, why := m[1], m[2], m[3]
	if f := c.Flag(strings.TrimPrefix(flag, "--")); f != nil {
		switch f.Value.Type() {
		case "uint", "uint64":
			why = "use a whole number, 0 or larger"
		case "int":
			why = "use a whole number"
		case "bool":
			why = "use true or false"
		case "duration":
			why = "use a number with a unit, such as 500ms, 20s or 5m"
		}
	}
	why = strings.TrimPrefix(why, "shape "+value+": ")
	if strings.HasSuffix(why, "?") {
		return fmt.Errorf("%s %s: %s", flag, value, why)
	}
	return fmt.Errorf("%s %s: %s; see %s --help", flag, value, why, c.CommandPath())
}

// noArgs refuses arguments of a command that takes none.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is given, but %s takes no arguments; see %s --help", args[0], c.CommandPath(), c.CommandPath())
	}
	return nil
}

// files checks the arguments of a command over files.
func files(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no FILE is given (- is standard input); see %s --help", c.CommandPath())
	}
	return nil
}

// group returns a command that only has other commands. Without one of them it shows its
// help and fails: a script that lost an argument must not look green.
func group(use, short, long, example string) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Long: long, Example: example}
	asGroup(c)
	return c
}

// asGroup makes a command refuse anything but its own commands.
func asGroup(c *cobra.Command) {
	c.SuggestionsMinimumDistance = 2
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := "see " + c.CommandPath() + " --help"
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %q?", near[0])
		}
		return fmt.Errorf("unknown command %q for %q; %s", args[0], c.CommandPath(), hint)
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		c.SetOut(c.ErrOrStderr())
		return errors.Join(c.Help(), cli.Exit(cli.Misuse))
	}
}
