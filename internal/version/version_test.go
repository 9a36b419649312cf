package version

import (
	"bytes"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for _, c := range []struct {
		info Info
		want string
	}{
		{Info{Version: "(devel)"}, "(devel)"},
		{Info{Version: "v1.2.3", Revision: "5e12db8"}, "v1.2.3 (revision 5e12db8)"},
		{Info{Version: "v1.2.3", Revision: "5e12db8", Modified: true}, "v1.2.3 (revision 5e12db8, modified)"},
	} {
		if got := c.info.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
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
