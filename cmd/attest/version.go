package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

func versionCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "What this binary is",
		Long: `Say what this binary is: its version and revision, the Go that built it, and the
PTX it knows.

JSON: {"version", "revision", "modified", "go", "os", "arch", "targets",
"instruction_forms"}.`,
		Example: "  attest version\n  attest version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if env.JSON {
				env.Encode(v)
			} else {
				v.print(env)
			}
			return nil
		},
	}
}

type version struct {
	Version  string   `json:"version"`
	Revision string   `json:"revision"`
	Modified bool     `json:"modified"`
	Go       string   `json:"go"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Targets  []string `json:"targets"`
	Forms    int      `json:"instruction_forms"`
}

func thisVersion() version {
	v := version{Version: "(unknown)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Version = info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	for _, t := range []ptx.Target{ptx.SM80, ptx.SM86, ptx.SM89, ptx.SM90, ptx.SM90a} {
		v.Targets = append(v.Targets, t.String())
	}
	for _, f := range isa.Families {
		v.Forms += len(f.Forms)
	}
	return v
}

func (v *version) print(env *cli.Env) {
	t := term.Table{}
	t.Row("attest", v.Version)
	if v.Revision != "" {
		revision := v.Revision
		if v.Modified {
			revision += " (modified)"
		}
		t.Row("revision", revision)
	}
	t.Row("go", fmt.Sprintf("%s %s/%s", v.Go, v.OS, v.Arch))
	t.Row("targets", fmt.Sprint(v.Targets))
	t.Row("instructions", fmt.Sprintf("%d forms", v.Forms))
	t.WriteTo(env)
}
