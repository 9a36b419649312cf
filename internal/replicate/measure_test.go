package replicate

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// TestExplain distinguishes a crash, which the kernel caused, from an error that a user can
// mend.
func TestExplain(t *testing.T) {
	failed := exec.Command("sh", "-c", "exit 2").Run()
	for said, crash := range map[string]bool{
		"panic: runtime error: index out of range\n\ngoroutine 1": true,
		"fatal error: stack overflow":                             true,
		"runtime: out of memory\nfatal error: out of memory":      true,
		"attest: no GPU is there":                                 false,
	} {
		h := &head{}
		h.Write([]byte(said))
		err := h.explain("defects", failed)
		if e := (*Ended)(nil); errors.As(err, &e) && !e.Internal {
			t.Errorf("%q is not an internal error", said)
		}
		var ended *Ended
		if errors.As(err, &ended) != crash {
			t.Errorf("%q: %v", said, err)
		}
		if crash && (ended.Section != "defects" || !strings.Contains(ended.Why, "crashed (exit status 2): "+strings.Split(said, "\n")[0])) {
			t.Errorf("%q: %+v", said, ended)
		}
	}
}

// TestExplainInternal wants the first line of what a process says that fails by itself.
func TestExplainInternal(t *testing.T) {
	h := &head{}
	h.Write([]byte("attest: internal error: index out of range\nthe inputs are saved in /tmp/x"))
	var ended *Ended
	err := h.explain("defects", exec.Command("sh", "-c", "exit 3").Run())
	if !errors.As(err, &ended) || !ended.Internal || ended.Why != "internal error: index out of range" || ended.Section != "defects" {
		t.Errorf("%+v", err)
	}
}

// TestReadMessages wants the section of the last progress, and an error for text that is no message.
func TestReadMessages(t *testing.T) {
	rec, section, err := read(strings.NewReader(`{"progress":{"Section":"defects"}}`+"\n"+`{"record":{"schema":2}}`), nil)
	if rec == nil || section != "defects" || err != nil {
		t.Errorf("%v, %q, %v", rec, section, err)
	}
	if _, _, err := read(strings.NewReader("what a kernel printed"), nil); err == nil {
		t.Error("any text is a message")
	}
}

// TestMemory stops a process that holds too much.
func TestMemory(t *testing.T) {
	cmd := exec.Command("sleep", "10")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	ctx, stop := context.WithCancelCause(t.Context())
	watchMemory(ctx, cmd.Process.Pid, 1, stop)
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "--memory") {
		t.Error(err)
	}
}
