package resources

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/ptx"
)

// assemble gets the figures from ptxas.
func (r *Report) assemble(ctx context.Context, text string, target ptx.Target, ptxas string) error {
	if ptxas == "" {
		return errNoPtxas
	}
	cmd := exec.CommandContext(ctx, ptxas, "-v", "-arch="+target.String(), "-o", os.DevNull, "-")
	cmd.Stdin = strings.NewReader(text)
	cmd.WaitDelay = 2 * time.Second // a wrapper's child may hold the pipe
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s for %s: %s", ptxas, target, firstComplaint(out.String(), err))
	}
	parsed := parseVerbose(out.String())
	r.Advice, r.Output = append(r.Advice, parsed.advice...), out.String()
	return r.each(func(u *Usage) error {
		found, ok := parsed.kernels[u.Kernel]
		if !ok {
			return fmt.Errorf("%s reports no figures for %s: is the form of its -v output unknown?", ptxas, u.Kernel)
		}
		found.Kernel, found.Target = u.Kernel, u.Target
		*u = *found
		return nil
	})
}

// firstComplaint returns the first error line. The last line only says that there was an
// error.
func firstComplaint(out string, err error) string {
	for line := range strings.Lines(out) {
		if m := problemPattern.FindStringSubmatch(line); m != nil {
			if m[1] != "" {
				return "line " + m[1] + ": " + m[2]
			}
			return m[2]
		}
	}
	if s := strings.TrimSpace(out); s != "" {
		return s
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Error()
	}
	return err.Error()
}

// The lines that ptxas writes, such as "ptxas info    : Used 10 registers, 376 bytes cmem[0]".
var (
	problemPattern = regexp.MustCompile(`^ptxas .*?(?:, line (\d+); )?(?:error|fatal)\s*: (.*)`)
	entryPattern   = regexp.MustCompile(`Compiling entry function '([^']*)'`)
	framePattern   = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	ofPattern      = regexp.MustCompile(`Function properties for (\S+)`)
	usedPattern    = regexp.MustCompile(`Used (\d+) registers`)
	barrierPattern = regexp.MustCompile(`used (\d+) barriers`)
	sharedPattern  = regexp.MustCompile(`(\d+)(?:\+\d+)? bytes smem`)
	constPattern   = regexp.MustCompile(`(\d+) bytes cmem\[\d+\]`)
	advicePattern  = regexp.MustCompile(`^ptxas .*?(?:, line (\d+); )?(info|warning)\s*: (?:\((C\d+)\) )?(.*)`)
	namePattern    = regexp.MustCompile(`(?:function|entry) '([^']+)'`)
)

// verbose is the output of ptxas -v.
type verbose struct {
	kernels map[string]*Usage
	advice  []Advice
}

// parseVerbose reads the output of ptxas -v, of CUDA 11 to 13.
func parseVerbose(out string) verbose {
	v := verbose{kernels: map[string]*Usage{}}
	current := &Usage{} // lines before the first kernel are about the module
	properties := ""    // the function whose frame comes next
	for line := range strings.Lines(out) {
		switch {
		case entryPattern.MatchString(line):
			current = &Usage{}
			v.kernels[entryPattern.FindStringSubmatch(line)[1]] = current
		case ofPattern.MatchString(line):
			properties = ofPattern.FindStringSubmatch(line)[1]
		case framePattern.MatchString(line):
			if v.kernels[properties] == current { // not a function that it calls
				n := framePattern.FindStringSubmatch(line)
				current.Stack, current.SpillStores, current.SpillLoads = ptxasFigure(n[1]), ptxasFigure(n[2]), ptxasFigure(n[3])
			}
		case usedPattern.MatchString(line):
			current.used(line)
		case strings.Contains(line, "Compile time =") || strings.Contains(line, "bytes gmem"):
		default:
			v.remark(line)
		}
	}
	return v
}

// used reads the line of registers and memory. A figure that the line does not have is 0,
// except for barriers, which older versions of ptxas do not report.
func (u *Usage) used(line string) {
	u.Registers = ptxasFigure(usedPattern.FindStringSubmatch(line)[1])
	u.Shared, u.Constant = ptxasFigure("0"), ptxasFigure("0")
	if m := sharedPattern.FindStringSubmatch(line); m != nil {
		u.Shared = ptxasFigure(m[1])
	}
	for _, m := range constPattern.FindAllStringSubmatch(line, -1) {
		u.Constant.Value += ptxasFigure(m[1]).Value
	}
	if m := barrierPattern.FindStringSubmatch(line); m != nil {
		u.Barriers = ptxasFigure(m[1])
	}
}

func (v *verbose) remark(line string) {
	m := advicePattern.FindStringSubmatch(line)
	if m == nil {
		return
	}
	a := Advice{Severity: m[2], Code: m[3], Message: strings.TrimSpace(m[4])}
	a.Line, _ = strconv.Atoi(m[1])
	if n := namePattern.FindStringSubmatch(a.Message); n != nil {
		a.Kernel = n[1]
	}
	v.advice = append(v.advice, a)
}

func ptxasFigure(s string) Figure {
	n, _ := strconv.Atoi(s) // the pattern lets only digits through
	return Figure{n, Ptxas}
}

var releaseLine = regexp.MustCompile(`release ([0-9.]+), (V[0-9.]+)`)

// Version returns the version that ptxas prints.
func Version(ctx context.Context, ptxas string) string {
	out, err := exec.CommandContext(ctx, ptxas, "--version").Output()
	if err != nil {
		return "unknown"
	}
	if v := releaseLine.FindSubmatch(out); v != nil {
		return string(v[1]) + " " + string(v[2])
	}
	return strings.TrimSpace(string(out))
}
