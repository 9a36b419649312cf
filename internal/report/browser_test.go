package report_test

import (
	"encoding/json"
	"fmt"
	entities "html"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/internal/recordtest"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/record"
)

// The least sizes in pixels on a phone.
const (
	leastTap  = 40 // the height of a link or a summary
	leastText = 11 // the height of text in a chart, as it is rendered
)

// measured is what measure finds on a page.
type measured struct {
	Width    int      // the width of the window
	Scroll   int      // the width of the document
	Outside  []string // elements that reach beyond the window and do not scroll inside a box
	Targets  int      // the number of links and summaries
	Taps     []size   // those that are less high than leastTap
	Texts    int      // the number of texts in charts
	Small    []size   // those that are smaller than leastText
	Tables   int      // the number of tables that scroll sideways
	Unpinned []string // the tables whose first column scrolls away
	Clipped  []string // names that do not fit: texts beyond their chart, and cells of a first column
}

// size is an element and its height in pixels.
type size struct {
	What   string
	Height float64
}

func (s size) String() string { return fmt.Sprintf("%s (%.1f px)", s.What, s.Height) }

// measure is a script that measures the page and adds the result to the title of the page around
// it.
const measure = `
const name = e => e.tagName + "." + (e.getAttribute("class") || "") + " " + e.textContent.trim().slice(0, 40);
const round = x => Math.round(x * 10) / 10;
const r = {Width: innerWidth, Scroll: document.documentElement.scrollWidth, Outside: [], Targets: 0, Taps: [], Texts: 0, Small: [], Tables: 0, Unpinned: [], Clipped: []};
for (const e of document.body.querySelectorAll("*")) {
  if (e.closest(".scroll table") || e.closest("svg") && e.tagName !== "text") continue;
  const b = e.getBoundingClientRect();
  if (b.width > 0 && (b.right > innerWidth + 1 || b.left < -1)) r.Outside.push(name(e));
}
for (const e of document.querySelectorAll("a, summary, button")) {
  const h = e.getBoundingClientRect().height;
  r.Targets++;
  if (h < LEASTTAP) r.Taps.push({What: name(e), Height: round(h)});
}
for (const e of document.querySelectorAll("svg text")) {
  const h = parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().d;
  r.Texts++;
  if (h < LEASTTEXT) r.Small.push({What: name(e), Height: round(h)});
  const b = e.getBoundingClientRect(), c = e.closest("svg").getBoundingClientRect();
  if (b.right > c.right + 2 || b.left < c.left - 2 || e.textContent.endsWith("…")) r.Clipped.push(name(e));
}
for (const e of document.querySelectorAll("td:first-child, th:first-child")) {
  if (e.scrollWidth > e.clientWidth + 1) r.Clipped.push(name(e));
}
for (const box of document.querySelectorAll(".scroll")) {
  if (box.scrollWidth <= box.clientWidth) continue;
  r.Tables++;
  box.scrollLeft = 60;
  const moved = box.querySelector("td, th").getBoundingClientRect().left - box.getBoundingClientRect().left;
  if (Math.abs(moved) > 2) r.Unpinned.push(name(box));
}
parent.document.title += JSON.stringify(r) + ",";
`

// browse shows a page in a browser, in one frame per width, and returns the measures of each frame.
// All details are unfolded.
func browse(t *testing.T, page string, widths ...int) (all []measured) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil || testing.Short() {
		t.Skip("needs chromium, and takes some seconds")
	}
	script := strings.NewReplacer("LEASTTAP", fmt.Sprint(leastTap), "LEASTTEXT", fmt.Sprint(leastText)).Replace(measure)
	page = strings.ReplaceAll(page, "<details", `<details open=""`)
	page = strings.Replace(page, "Content-Security-Policy", "", 1) // which allows no further script
	page = strings.Replace(page, "</body>", "<script>"+script+"</script></body>", 1)
	text := "<title></title>"
	for _, width := range widths {
		text += fmt.Sprintf(`<iframe style="width:%dpx;height:844px;border:0" srcdoc="%s"></iframe>`, width, template.HTMLEscapeString(page))
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1700,900",
		"--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file).Output()
	if err != nil {
		t.Skip("the browser does not run here: ", err)
	}
	_, title, _ := strings.Cut(string(out), "<title>")
	title, _, _ = strings.Cut(title, "<")
	if err := json.Unmarshal([]byte("["+strings.TrimSuffix(entities.UnescapeString(title), ",")+"]"), &all); err != nil || len(all) != len(widths) {
		t.Fatalf("%d of %d frames reported their measures: %v", len(all), len(widths), err)
	}
	slices.SortFunc(all, func(a, b measured) int { return a.Width - b.Width })
	return all
}

// wide returns a page with long names, many tables and every kind of chart.
func wide(t *testing.T) string {
	config := "192x192 stages-2 persistent ping-pong polynomial-16 sum-column"
	file := recordtest.New("attention_forward.ptx:attention_forward_kernel") // a name without a space
	recordtest.OnGPU(file)
	fill := append(odd(), one(chosen(20, config, problem.Square(4, 32, 4096, 64), 5), record.Merge), one(file, record.Reject))
	for day := range 4 { // enough records for a chart of the history
		fill = append(fill, campaign(9*day, 1.4-0.1*float64(day)))
	}
	return html(t, view(t, fill...))
}

// TestBrowser checks the layout in windows of phones, a tablet and a desktop: no part of the page
// is wider than the window, text in charts is readable and not cut off, names fit their columns, and
// tables keep their first column in view.
// On phones, links are high enough for a finger.
func TestBrowser(t *testing.T) {
	widths := []int{360, 390, 768, 1600}
	for i, m := range browse(t, wide(t), widths...) {
		in := fmt.Sprintf("in a window of %d pixels,", widths[i])
		if m.Width != widths[i] || m.Scroll != m.Width {
			t.Errorf("%s the document is %d of %d pixels wide", in, m.Scroll, m.Width)
		}
		if len(m.Outside) > 0 {
			t.Errorf("%s these elements are cut off: %q", in, m.Outside)
		}
		if m.Texts < 50 || len(m.Small) > 0 {
			t.Errorf("%s %d of %d texts in charts are smaller than %d pixels: %v", in, len(m.Small), m.Texts, leastText, first(m.Small))
		}
		if len(m.Clipped) > 0 {
			t.Errorf("%s these names do not fit: %q", in, m.Clipped)
		}
		if len(m.Unpinned) > 0 {
			t.Errorf("%s the first column of these tables scrolls away: %q", in, m.Unpinned)
		}
		if phone := m.Width < 600; phone && (m.Targets < 50 || len(m.Taps) > 0 || m.Tables < 5) {
			t.Errorf("%s %d of %d links are less than %d pixels high: %v; %d tables scroll", in, len(m.Taps), m.Targets, leastTap, first(m.Taps), m.Tables)
		}
	}
}

// first returns up to eight sizes, the smallest first.
func first(all []size) []size {
	slices.SortFunc(all, func(a, b size) int { return int(10*a.Height - 10*b.Height) })
	return all[:min(len(all), 8)]
}
