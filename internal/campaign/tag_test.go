package campaign

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/record"
)

// repository makes the current folder a git repository with one commit.
func repository(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_SYSTEM": os.DevNull,
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
	} {
		t.Setenv(name, value)
	}
	if err := os.WriteFile("k.ptx", []byte("1"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "first"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
}

func judged(outcomes ...record.Outcome) (list []*GateResult) {
	for _, o := range outcomes {
		list = append(list, &GateResult{Kernel: record.Kernel{Name: "stage3b"}, Record: "abc", Verdict: &record.Verdict{Outcome: o}})
	}
	return list
}

// TestTag sets a tag when, and only when, every verdict is MERGE.
func TestTag(t *testing.T) {
	repository(t)
	ctx := t.Context()
	g := &Gate{Tag: "v1"}
	if err := g.checkTag(ctx); err != nil {
		t.Fatal(err)
	}
	for _, o := range record.Outcomes() {
		if o == record.Merge {
			continue
		}
		line, err := g.setTag(ctx, judged(record.Merge, o))
		if err != nil || !strings.HasPrefix(line, "not tagged: stage3b is "+string(o)) || git(ctx, "tag") != "" {
			t.Errorf("%s: %q, %v, tags %q", o, line, err, git(ctx, "tag"))
		}
	}
	if line, err := g.setTag(ctx, judged(record.Merge)); err != nil || line != "tagged    v1" || git(ctx, "tag") != "v1" {
		t.Errorf("%q, %v, tags %q", line, err, git(ctx, "tag"))
	}
	if text := git(ctx, "tag", "-l", "-n9", "v1"); !strings.Contains(text, "stage3b abc") {
		t.Errorf("the tag says %q", text)
	}
}

func TestTagIsRefused(t *testing.T) {
	repository(t)
	ctx := t.Context()
	exec.Command("git", "tag", "old").Run()
	for tag, want := range map[string]string{"old": "exists already", "a b": "not a name", "-d": "not a name"} {
		if err := (&Gate{Tag: tag}).checkTag(ctx); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", tag, err, want)
		}
	}
	if err := os.WriteFile("k.ptx", []byte("2"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (&Gate{Tag: "v1"}).checkTag(ctx); err == nil || !strings.Contains(err.Error(), "commit them first") {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if err := (&Gate{Tag: "v1"}).checkTag(ctx); err == nil || !strings.Contains(err.Error(), "not in a git repository") {
		t.Error(err)
	}
}
