package version

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Info is the JSON of attest version.
type Info struct {
	Version  string   `json:"version"`
	Revision string   `json:"revision"` // of the source, "" when it is not known
	Modified bool     `json:"modified"` // the source differed from the revision
	Go       string   `json:"go"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Targets  []string `json:"targets"` // that the emulator runs
	Forms    int      `json:"instruction_forms"`
}

// This describes the running binary.
func This() Info {
	v := Info{Version: "(unknown)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Targets: Targets()}
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
	for _, f := range isa.Families {
		v.Forms += len(f.Forms)
	}
	return v
}

// Targets returns the names of the targets that the emulator runs, the least first.
func Targets() (names []string) {
	for _, t := range emu.Targets() {
		names = append(names, t.String())
	}
	return names
}

// String returns the version and the revision on one line, for attest --version.
func (v Info) String() string {
	if v.Revision == "" {
		return v.Version
	}
	return fmt.Sprintf("%s (revision %s)", v.Version, v.revision())
}

func (v Info) revision() string {
	if v.Modified {
		return v.Revision + ", modified"
	}
	return v.Revision
}

// WriteText writes one line per fact.
func (v Info) WriteText(w io.Writer) {
	t := term.Table{}
	t.Row("attest", v.Version)
	if v.Revision != "" {
		t.Row("revision", v.revision())
	}
	t.Row("go", fmt.Sprintf("%s %s/%s", v.Go, v.OS, v.Arch))
	t.Row("targets", fmt.Sprint(v.Targets))
	t.Row("instructions", fmt.Sprintf("%d forms", v.Forms))
	t.WriteTo(w)
}
