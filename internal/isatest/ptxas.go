package isatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/ptx"
	"github.com/GOATnote-Inc/attest/ptx/isa"
)

// Assembler is a ptxas with the PTX versions and targets that it supports.
type Assembler struct {
	Path    string
	Version ptx.Version  // the newest PTX version that it reads
	Targets []ptx.Target // the targets in ascending order; sm_90a comes after sm_90
}

// Find looks for ptxas on PATH and asks it what it supports.
func Find() (*Assembler, error) {
	path, err := exec.LookPath("ptxas")
	if err != nil {
		return nil, fmt.Errorf("no ptxas on PATH: %w", err)
	}
	a := &Assembler{Path: path}
	if err := a.askTargets(); err != nil {
		return nil, err
	}
	return a, a.askVersion()
}

var (
	targetPattern  = regexp.MustCompile(`'(sm_\d+[af]?)'`)
	versionPattern = regexp.MustCompile(`current version is '(\d+)\.(\d+)'`)
	errorPattern   = regexp.MustCompile(`(?m), line (\d+); (?:error|fatal)\s*: (.*)$`)
)

func (a *Assembler) askTargets() error {
	help, err := exec.Command(a.Path, "--help").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s --help: %w", a.Path, err)
	}
	for _, m := range targetPattern.FindAllStringSubmatch(string(help), -1) {
		t, err := ptx.ParseTarget(m[1])
		if err != nil {
			return err
		}
		if !slices.Contains(a.Targets, t) {
			a.Targets = append(a.Targets, t)
		}
	}
	if len(a.Targets) == 0 {
		return fmt.Errorf("%s --help names no architecture", a.Path)
	}
	sorted.By(a.Targets, func(s, t ptx.Target) int {
		return s.SM*256 + int(s.Feature) - t.SM*256 - int(t.Feature)
	})
	return nil
}

// askVersion assembles a text of a version that does not exist, because the error names the
// newest version that ptxas reads.
func (a *Assembler) askVersion() error {
	t := a.Targets[0]
	out, _ := a.run(".version 99.9\n.target "+t.String()+"\n", t, nil)
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return fmt.Errorf("%s does not say which PTX versions it reads: %s", a.Path, out)
	}
	a.Version.Major, _ = strconv.Atoi(m[1])
	a.Version.Minor, _ = strconv.Atoi(m[2])
	return nil
}

// Floor raises needs to the oldest target that the assembler still supports. It reports
// false if the needs are newer than the assembler.
func (a *Assembler) Floor(n isa.Needs) (isa.Needs, bool) {
	if least := a.Targets[0]; n.Target.SM < least.SM {
		n.Target = least
	}
	if v := n.Target.MinVersion(); n.Version.Less(v) {
		n.Version = v
	}
	return n, !a.Version.Less(n.Version) && slices.Contains(a.Targets, n.Target)
}

// run assembles the text with ptxas and returns the messages of ptxas.
func (a *Assembler) run(text string, t ptx.Target, flags []string) (string, error) {
	f, err := os.CreateTemp("", "isatest*.ptx")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	args := append([]string{"-arch", t.String(), "-o", os.DevNull, f.Name()}, flags...)
	out, err := exec.Command(a.Path, args...).CombinedOutput()
	return string(out), err
}

// Check assembles the variants for n. It returns the first error of each variant that ptxas
// refuses, by index. If ptxas crashes or refuses a declaration, no variant can be blamed;
// Check then splits the list in two and checks each half.
func (a *Assembler) Check(ms []isa.Match, n isa.Needs, flags ...string) (map[int]string, error) {
	mod := Kernel("variants", ms)
	mod.Version, mod.Target = n.Version, n.Target
	text := mod.String()
	out, err := a.run(text, n.Target, flags)
	if err == nil {
		return nil, nil
	}
	if !errors.As(err, new(*exec.ExitError)) {
		return nil, err
	}
	bad, ok := blame(text, out)
	switch {
	case ok:
		return bad, nil
	case len(ms) == 1:
		return map[int]string{0: strings.TrimSpace(out + " " + err.Error())}, nil
	}
	return a.halves(ms, n, flags)
}

// blame maps the lines of the errors to variants. It reports false if there are no errors,
// or if one of them belongs to no variant.
func blame(text, out string) (map[int]string, bool) {
	bad := map[int]string{}
	lines := strings.Split(text, "\n")
	for _, e := range errorPattern.FindAllStringSubmatch(out, -1) {
		line, _ := strconv.Atoi(e[1])
		v := VariantAt(lines, line)
		if v < 0 {
			return nil, false
		}
		if _, seen := bad[v]; !seen {
			bad[v] = e[2]
		}
	}
	return bad, len(bad) > 0
}

// halves checks the two halves of the list and combines the errors.
func (a *Assembler) halves(ms []isa.Match, n isa.Needs, flags []string) (map[int]string, error) {
	mid := len(ms) / 2
	bad, err := a.Check(ms[:mid], n, flags...)
	if err != nil {
		return nil, err
	}
	upper, err := a.Check(ms[mid:], n, flags...)
	if err != nil {
		return nil, err
	}
	if bad == nil {
		bad = map[int]string{}
	}
	for i, msg := range upper {
		bad[mid+i] = msg
	}
	return bad, nil
}
