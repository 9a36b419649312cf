package execrun

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

const text = `.version 7.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %rd2, %r1, 4, %rd1;
	st.global.u32 [%rd2], %r1;
	ret;
}
`

// writeFiles writes a kernel and its launch to a folder and returns both paths.
func writeFiles(t *testing.T, launch string) (kernel, launches string) {
	t.Helper()
	dir := t.TempDir()
	kernel, launches = filepath.Join(dir, "k.ptx"), filepath.Join(dir, "l.json")
	for path, text := range map[string]string{kernel: text, launches: launch} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return kernel, launches
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		bytes string
		code  int
		want  string
	}{
		{"128", cli.OK, "ok: 1 launch on emulated sm_80: nothing compared, 2 schedules, no defects\n"},
		{"64", cli.Red, "bad: 1 launch on emulated sm_80: nothing compared, 2 schedules, 1 error\n"},
	} {
		kernel, launches := writeFiles(t, `{"entry": "store", "grid": [1], "block": [32], "params": [{"zeros": `+c.bytes+`}]}`)
		var out, told bytes.Buffer
		x := &Runner{Launch: launches, Device: "emu", Check: "all", Schedules: 2}
		err := x.Run(t.Context(), &cli.Env{Out: &out, Err: &told, Color: term.Never}, kernel)
		if code := cli.Code(err, io.Discard); code != c.code || out.String() != c.want {
			t.Errorf("%s bytes: exit code %d, %q, want %d, %q\n%s", c.bytes, code, &out, c.code, c.want, &told)
		}
		out.Reset()
		err = x.Run(t.Context(), &cli.Env{Out: &out, Err: &told, JSON: true}, kernel)
		var r Report
		if e := json.Unmarshal(out.Bytes(), &r); e != nil || cli.Code(err, io.Discard) != c.code || len(r.Launches) != 1 || r.Launches[0].OK != (c.code == cli.OK) {
			t.Errorf("%s bytes: %v\n%s", c.bytes, errors.Join(e, err), &out)
		}
	}
}

func TestMisuse(t *testing.T) {
	for want, x := range map[string]Runner{
		"no --launch":            {Device: "emu", Schedules: 1},
		"--schedules must":       {Launch: "l.json", Device: "emu"},
		"--timeout must":         {Launch: "l.json", Device: "emu", Schedules: 1, Timeout: -1},
		"--device cuda:0: --che": {Launch: "l.json", Device: "cuda:0", Schedules: 1, Check: "all"},
		`did you mean "deadlock`: {Launch: "l.json", Device: "emu", Schedules: 1, Check: "deadlok"},
	} {
		if err := x.Run(t.Context(), &cli.Env{}, "k.ptx"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
