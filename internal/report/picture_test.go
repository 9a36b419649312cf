package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/internal/report"
)

// TestPicture wants the machine, the date, the processes and the rivals with their versions
// beside the times, and nothing that is fetched.
func TestPicture(t *testing.T) {
	var b bytes.Buffer
	if err := view(t, campaign(0, 1)).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, want := range []string{
		"synthetic GPU, 999.99, 2026-01-05", "5 processes", "mission (1,8,512,64)", "long (1,8,2048,64)", "attest stage5-persistent", "torch flash f16", "torch 0.0",
		"µs, 0.6", "prefers-color-scheme: dark",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	for _, bad := range []string{"NaN", "url(", "@import", "href", "<script"} {
		if strings.Contains(text, bad) {
			t.Errorf("the picture has %q", bad)
		}
	}
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := view(t, recordtest.Laptop).WriteSVG(&b); !errors.Is(err, report.ErrNoPicture) {
		t.Errorf("without times: %v", err)
	}
}
