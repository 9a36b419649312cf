package version

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for _, c := range []struct {
		info Info
		want string
	}{
		{Info{Version: "(devel)"}, "(devel)"},
		{Info{Version: "(devel)", Note: "not recorded"}, "(devel) (revision unknown, not recorded)"},
		{Info{Version: "v1.2.3", Revision: "5e12db8"}, "v1.2.3 (revision 5e12db8)"},
		{Info{Version: "v1.2.3", Revision: "5e12db8", Modified: true}, "v1.2.3 (revision 5e12db8, modified)"},
		{Info{Version: "(devel)", Revision: "5e12db8", Note: "of a folder"}, "(devel) (revision 5e12db8, of a folder)"},
	} {
		if got := c.info.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	const hash = "4f45a5f0c3d2b1a0918273645546372819a0b1c2"
	for _, c := range []struct {
		version  string
		settings []debug.BuildSetting
		revision string
		modified bool
	}{
		{"(devel)", nil, "", false},
		{"v0.0.0-20261116030000-4f45a5f0c3d2+dirty", []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.modified", Value: "true"}}, hash, true},
		{"v0.0.0-20261116030000-4f45a5f0c3d2", nil, "4f45a5f0c3d2", false},
		{"v1.2.4-0.20261116030000-4f45a5f0c3d2", nil, "4f45a5f0c3d2", false},
		{"v1.2.3", nil, "", false},
	} {
		var v Info
		v.read(&debug.BuildInfo{Main: debug.Module{Version: c.version}, Settings: c.settings})
		if v.Version != c.version || v.Revision != c.revision || v.Modified != c.modified {
			t.Errorf("%s: %+v, want revision %q, modified %v", c.version, v, c.revision, c.modified)
		}
	}
}

func TestAsk(t *testing.T) {
	var none Info
	none.ask(t.Context(), "")
	if none.Revision != "" || none.Note != noteUnknown {
		t.Errorf("without a folder: %+v", none)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	for _, step := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(step), 0o644); err != nil {
			t.Fatal(err)
		}
		if step == "two" {
			break // the change is not committed
		}
		for _, args := range [][]string{
			{"init", "-q"}, {"add", "file"},
			{"-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m", step},
		} {
			if _, err := git(t.Context(), dir, args...); err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
		}
		var v Info
		v.ask(t.Context(), dir)
		if len(v.Revision) != 40 || v.Modified || v.Note != noteSource {
			t.Errorf("after a commit: %+v", v)
		}
	}
	var v Info
	v.ask(t.Context(), dir)
	if len(v.Revision) != 40 || !v.Modified {
		t.Errorf("after a change: %+v", v)
	}
}

func TestCloneOf(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		module string
		want   string
	}{{Module, inner}, {"example.com/other", ""}} {
		if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+c.module+"\n\ngo 1.26\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := cloneOf(inner); got != c.want {
			t.Errorf("in module %s: %q, want %q", c.module, got, c.want)
		}
	}
}

func TestWriteText(t *testing.T) {
	v := This()
	if v.Forms == 0 || len(v.Targets) == 0 {
		t.Fatalf("%+v", v)
	}
	v.Revision, v.Modified = "5e12db8", true
	var out bytes.Buffer
	v.WriteText(&out)
	for _, want := range []string{"revision      5e12db8, modified\n", "sm_90a"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}
