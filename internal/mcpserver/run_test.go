package mcpserver

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestLimits runs programs that never end, need much memory or print much.
func TestLimits(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	for _, c := range []struct{ name, script, why, out string }{
		{"time", "sleep 20 & sleep 20", "longer than 1s", ""},
		{"output", "head -c 3000000 /dev/zero | tr '\\0' x", "", "(cut after 1048576 bytes)"},
		{"memory", "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 20", "more than 64 MiB", ""},
	} {
		if _, err := os.Stat("/proc/self/stat"); err != nil && c.name == "memory" {
			continue // the system does not tell the memory of a process
		}
		s := &Server{Program: shell, Timeout: time.Second, Memory: 64 << 20}
		if c.name == "memory" {
			s.Timeout = 20 * time.Second
		}
		out, errs := &limitedBuffer{}, &limitedBuffer{}
		start := time.Now()
		_, why := s.process(t.Context(), t.TempDir(), []string{"-c", c.script}, out, errs)
		if !strings.Contains(why, c.why) || (why == "") != (c.why == "") || !strings.HasSuffix(out.String(), c.out) {
			t.Errorf("%s: %q, %d bytes, %s", c.name, why, len(out.String()), errs)
		}
		if time.Since(start) > 15*time.Second {
			t.Errorf("%s: the processes were not ended", c.name)
		}
	}
}

func TestJobsRefuse(t *testing.T) {
	many := map[string]string{}
	for i := range 20 {
		many[strings.Repeat("x", i+1)] = ""
	}
	for name, describe := range map[string]func() (*job, error){
		"folder":     (&execInput{Files: map[string]string{"a/b": ""}}).job,
		"many files": (&execInput{Files: many}).job,
		"large text": (&checkInput{PTX: strings.Repeat(" ", mostText+1)}).job,
		"flag":       (&gateInput{Kernel: Kernel{Name: "-x"}}).job,
		"path":       (&gateInput{Kernel: Kernel{Name: "a/b.ptx"}}).job,
		"both":       (&gateInput{Kernel: Kernel{Name: "stage1", PTX: "x"}}).job,
		"no call":    (&gateInput{Kernel: Kernel{PTX: "x"}}).job,
		"plan":       (&gateInput{Kernel: Kernel{Name: "stage1"}, Plan: "--plan"}).job,
		"shape":      (&diffInput{Kernel: Kernel{Name: "stage1"}, Shape: "--json"}).job,
		"against":    (&diffInput{Kernel: Kernel{Name: "stage1"}, Against: "/etc/x.ptx"}).job,
		"chip":       (&shapeInput{Kernel: Kernel{Name: "stage1"}, Chip: "-o"}).profile,
		"kinds":      (&execInput{Check: "-all"}).job,
	} {
		if j, err := describe(); err == nil {
			t.Errorf("%s: %q", name, j.args)
		}
	}
	j, err := (&diffInput{Kernel: Kernel{Name: "stage1"}, Against: "stage2", Shape: "1,1,40,64"}).job()
	if want := "diff stage1 stage2 --device emu --seed 0 --shape 1,1,40,64 --json"; err != nil || strings.Join(j.args, " ") != want {
		t.Errorf("%q, %v", j, err)
	}
}
