package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mostOutput is the largest output of a call in bytes. Longer output is cut.
const mostOutput = 1 << 20

// do runs a job in a process of its own. It returns what the command printed and whether it
// failed. A verdict or a finding is not a failure.
func (s *Server) do(ctx context.Context, j *job) (text string, failed bool, err error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
	dir, err := os.MkdirTemp("", "attest-mcp-*")
	if err != nil {
		return "", false, err
	}
	defer os.RemoveAll(dir)
	for name, content := range j.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return "", false, err
		}
	}
	args := slices.Clone(j.args)
	if args[0] == "gate" {
		args = append(args, "--evidence", s.Evidence)
	}
	out, errs := &limitedBuffer{}, &limitedBuffer{}
	code, why := s.process(ctx, dir, args, out, errs)
	switch {
	case why != "":
		return why + "\n" + errs.String(), true, nil
	case code > 1: // the command could not run
		return errs.String() + out.String(), true, nil
	}
	return out.String() + errs.String(), false, nil
}

// process runs attest and returns its exit code, or why it was ended.
func (s *Server) process(ctx context.Context, dir string, args []string, out, errs *limitedBuffer) (code int, why string) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, fmt.Errorf("the call took longer than %v and was ended", s.Timeout))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := exec.CommandContext(ctx, s.Program, args...)
	c.Args[0] = "attest"
	c.Dir = dir
	c.Env = []string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=/usr/bin:/bin", "NO_COLOR=1", "GOMEMLIMIT=" + strconv.FormatInt(s.Memory, 10)}
	c.Stdout, c.Stderr = out, errs
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // also ends the processes that gate started
	c.WaitDelay = time.Second
	if err := c.Start(); err != nil {
		return 0, err.Error()
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
				if n := groupMemory(c.Process.Pid); n > s.Memory {
					end(fmt.Errorf("the call needed more than %d MiB of memory and was ended", s.Memory>>20))
				}
			}
		}
	}()
	err := c.Wait()
	close(done)
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause.Error()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), ""
	}
	if err != nil {
		return 0, err.Error()
	}
	return 0, ""
}

// groupMemory returns the bytes in memory of all processes of a group, or 0 where the system does
// not tell.
func groupMemory(group int) (total int64) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// The name of the program is in parentheses and may hold spaces.
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest) // state, parent, group, …; field 21 is the resident pages
		if len(fields) > 21 && fields[2] == strconv.Itoa(group) {
			pages, _ := strconv.ParseInt(fields[21], 10, 64)
			total += pages * int64(os.Getpagesize())
		}
	}
	return total
}

// limitedBuffer keeps the beginning of an output.
type limitedBuffer struct {
	b   bytes.Buffer
	cut bool
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	room := mostOutput - l.b.Len()
	if len(p) > room {
		l.b.Write(p[:room])
		l.cut = true
		return len(p), nil
	}
	return l.b.Write(p)
}

func (l *limitedBuffer) String() string {
	if l.cut {
		return l.b.String() + fmt.Sprintf("\n(cut after %d bytes)", mostOutput)
	}
	return l.b.String()
}
