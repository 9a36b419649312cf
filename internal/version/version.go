package version

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Info is the JSON of attest version.
type Info struct {
	Version  string   `json:"version"`
	Revision string   `json:"revision"` // of the source, "" when it is not known
	Modified bool     `json:"modified"` // the source differed from the revision
	Note     string   `json:"note"`     // where Revision comes from, or why it is "", unless the binary holds it
	Go       string   `json:"go"`
	OS       string   `json:"os"`
	Arch     string   `json:"arch"`
	Targets  []string `json:"targets"` // the targets of the emulator
	Forms    int      `json:"instruction_forms"`
}

// This describes the running binary by what the binary itself holds. go build and go install
// write the revision into a binary, go run does not.
func This() Info {
	v := Info{Version: "(unknown)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Targets: Targets()}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.read(info)
	}
	for _, f := range isa.Families {
		v.Forms += len(f.Forms)
	}
	return v
}

// pseudo matches a version that Go derives from a commit: its time and the first 12 digits of its
// hash.
var pseudo = regexp.MustCompile(`[.-]\d{14}-([0-9a-f]{12})(\+.*)?$`)

// read takes version and revision from what the Go tool recorded in the binary.
func (v *Info) read(info *debug.BuildInfo) {
	v.Version = info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	if m := pseudo.FindStringSubmatch(v.Version); m != nil && v.Revision == "" {
		v.Revision = m[1] // go install MODULE@VERSION records no vcs.revision
	}
}

// WithSource describes the running binary. Where the binary holds no revision, WithSource
// asks git for the revision of the folder that the binary was compiled from.
func WithSource(ctx context.Context) Info {
	v := This()
	if v.Revision == "" && !strings.HasPrefix(v.Version, "v") { // a release needs no revision
		v.ask(ctx, SourceDir())
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
	if r := v.revision(); r != "" {
		return fmt.Sprintf("%s (revision %s)", v.Version, r)
	}
	return v.Version
}

// revision returns the revision with its state and its note, or "" for a release.
func (v Info) revision() string {
	if v.Revision == "" && v.Note == "" {
		return ""
	}
	words := []string{cmp.Or(v.Revision, "unknown")}
	if v.Modified {
		words = append(words, "modified")
	}
	if v.Note != "" {
		words = append(words, v.Note)
	}
	return strings.Join(words, ", ")
}

// WriteText writes one line per fact.
func (v Info) WriteText(w io.Writer) {
	t := term.Table{}
	t.Row("attest", v.Version)
	if r := v.revision(); r != "" {
		t.Row("revision", r)
	}
	t.Row("go", fmt.Sprintf("%s %s/%s", v.Go, v.OS, v.Arch))
	t.Row("targets", strings.Join(v.Targets, ", "))
	t.Row("instructions", english.Count(v.Forms, "form"))
	t.WriteTo(w)
}
