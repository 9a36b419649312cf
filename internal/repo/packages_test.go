package repo

import (
	"strings"
	"testing"
)

// packagesDoc is the document with the table of packages.
const packagesDoc = "docs/architecture.md"

// room is a group of packages: a heading of the document and the packages in the rows below
// it.
type room struct {
	title    string
	packages []string
}

// rooms reads the groups of packages from the document. row maps each package to the number
// of its row, counted over the whole document.
func rooms(t *testing.T) (all []room, row map[string]int) {
	t.Helper()
	row = map[string]int{}
	n := 0
	for line := range strings.Lines(readFile(t, packagesDoc)) {
		if title, ok := strings.CutPrefix(line, "### "); ok {
			all = append(all, room{title: strings.TrimSpace(title)})
		}
		cell, ok := strings.CutPrefix(line, "| `")
		if !ok {
			continue
		}
		if len(all) == 0 {
			t.Fatalf("%s: the first row has no heading above it", packagesDoc)
		}
		cell, _, _ = strings.Cut(cell, "|")
		r := &all[len(all)-1]
		for _, name := range strings.Split(cell, ",") {
			name = strings.Trim(name, " `")
			row[name] = n
			r.packages = append(r.packages, name)
		}
		n++
	}
	return all, row
}

// TestPackagesHaveRows checks that the table has a row for every package of the module, and
// for nothing else.
func TestPackagesHaveRows(t *testing.T) {
	_, row := rooms(t)
	for _, p := range list(t) {
		if _, ok := row[p.rel()]; !ok {
			t.Errorf("%s has no row for `%s`: add one under the right heading", packagesDoc, p.rel())
		}
		delete(row, p.rel())
	}
	for name := range row {
		t.Errorf("%s has a row for `%s`, which is not a package", packagesDoc, name)
	}
}

// TestPackageOrder checks what the document says about its table: a package imports only
// packages in its own row or in rows above it.
func TestPackageOrder(t *testing.T) {
	_, row := rooms(t)
	for _, p := range list(t) {
		for _, imp := range p.Imports {
			if to, ours := strings.CutPrefix(imp, module+"/"); ours && row[to] > row[p.rel()] {
				t.Errorf("%s imports %s, which is in a row below it in %s", p.rel(), to, packagesDoc)
			}
		}
	}
}
