package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
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

// TestPictureIsLegible wants all words of the picture within its frame, none upon another, a legend, and the
// label of each bar behind the end of the bar.
func TestPictureIsLegible(t *testing.T) {
	var b bytes.Buffer
	if err := view(t, campaign(0, 1)).WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	picture := b.String()
	number := func(s string) float64 {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	frame := regexp.MustCompile(`<svg [^>]*width="(\d+)" height="([\d.]+)"`).FindStringSubmatch(picture)
	words := regexp.MustCompile(`<text class="[^"]*" text-anchor="(\w+)" x="([-\d.]+)" y="([-\d.]+)">([^<]*)</text>`).FindAllStringSubmatch(picture, -1)
	for i, w := range words {
		if x, y := number(w[2]), number(w[3]); x < 0 || x > number(frame[1]) || y < 8 || y > number(frame[2])-4 {
			t.Errorf("%q is at %s,%s, outside of %v", w[4], w[2], w[3], frame[1:])
		}
		for _, o := range words[:i] {
			if near := math.Abs(number(w[3])-number(o[3])) < 9; near && w[1] == o[1] && math.Abs(number(w[2])-number(o[2])) < 12 {
				t.Errorf("%q is upon %q", w[4], o[4])
			}
		}
	}
	for _, name := range []string{"attest", "rival in FP8", "rival in 16 bits"} {
		if !slices.ContainsFunc(words, func(w []string) bool { return w[4] == name }) {
			t.Errorf("the legend lacks %q", name)
		}
	}
	bars := regexp.MustCompile(`<rect class="bar-\w+" x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="[\d.]+"/><text class="[^"]*" text-anchor="start" x="([\d.]+)"`).FindAllStringSubmatch(picture, -1)
	if len(bars) < 6 {
		t.Fatalf("%d bars with labels", len(bars))
	}
	for _, bar := range bars[3:] { // the first three are the legend
		if behind := number(bar[3]) - number(bar[1]) - number(bar[2]); behind < 2 || behind > 10 {
			t.Errorf("a label is %g px behind the end of its bar", behind)
		}
	}
}
