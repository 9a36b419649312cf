package remote

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/GOATnote-Inc/attest/internal/sorted"
)

// Inventory is what attest has on a remote machine.
type Inventory struct {
	Dir      string   `json:"dir"`
	Bytes    int64    `json:"bytes"` // the bytes of all files
	Binaries []string `json:"binaries"`
	Jobs     []JobRow `json:"jobs"`
}

// JobRow is a job on a remote machine.
type JobRow struct {
	Job     string    `json:"job"`
	State   string    `json:"state"` // "running", "ended" or "lost"
	Started time.Time `json:"started"`
	Client  string    `json:"client"` // where it was started
	Command string    `json:"command"`
}

// inventory reads the folder of attest.
func inventory(dir string) *Inventory {
	inv := &Inventory{Dir: dir, Binaries: []string{}, Jobs: []JobRow{}}
	filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				inv.Bytes += info.Size()
			}
		}
		return nil
	})
	bins, _ := os.ReadDir(filepath.Join(dir, "bin"))
	for _, b := range bins {
		inv.Binaries = append(inv.Binaries, b.Name())
	}
	jobs, _ := os.ReadDir(filepath.Join(dir, "jobs"))
	for _, e := range jobs {
		if !isJob.MatchString(e.Name()) {
			continue
		}
		j := job{filepath.Join(dir, "jobs", e.Name())}
		row := JobRow{Job: e.Name(), State: "ended"}
		if o, err := j.order(); err == nil {
			row.Client, row.Command = o.Client, "attest "+strings.Join(o.Args, " ")
		}
		if info, err := os.Stat(j.path(lockFile)); err == nil {
			row.Started = info.ModTime().UTC()
		}
		switch {
		case j.running():
			row.State = "running"
		case j.ending().Error != "":
			row.State = "lost"
		}
		inv.Jobs = append(inv.Jobs, row)
	}
	return inv
}

// Running returns the number of jobs that run.
func (inv *Inventory) Running() (n int) {
	for _, j := range inv.Jobs {
		if j.State == "running" {
			n++
		}
	}
	return n
}

func (a *agent) list() error { return a.out.sendJSON(answer, inventory(a.dir)) }

// Cleaned is the answer to an order to clean.
type Cleaned struct {
	Inventory
	Removed bool `json:"removed"` // false if jobs run and Stop was not ordered
}

// clean removes the folder of attest.
func (a *agent) clean(o *Order) error {
	c := Cleaned{Inventory: *inventory(a.dir)}
	if c.Running() > 0 && !o.Stop {
		return a.out.sendJSON(answer, c)
	}
	for _, j := range c.Jobs {
		job{filepath.Join(a.dir, "jobs", j.Job)}.end(endWithin)
	}
	if err := os.RemoveAll(a.dir); err != nil {
		return err
	}
	c.Removed = true
	return a.out.sendJSON(answer, c)
}

// keepBinaries is how many binaries stay on a remote machine.
const keepBinaries = 3

// prune removes old binaries, unless a job runs, and drafts of jobs that never started.
func (a *agent) prune() {
	if inventory(a.dir).Running() > 0 {
		return
	}
	drafts, _ := filepath.Glob(filepath.Join(a.dir, "jobs", "new-*"))
	for _, d := range drafts {
		if info, err := os.Stat(d); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.RemoveAll(d)
		}
	}
	if self, err := os.Executable(); err == nil {
		now := time.Now()
		os.Chtimes(filepath.Dir(self), now, now) // the binary in use is the newest
	}
	bins, _ := filepath.Glob(filepath.Join(a.dir, "bin", "*"))
	age := map[string]time.Time{}
	for _, b := range bins {
		if info, err := os.Stat(b); err == nil {
			age[b] = info.ModTime()
		}
	}
	sorted.By(bins, func(x, y string) int { return age[y].Compare(age[x]) })
	for _, b := range bins[min(len(bins), keepBinaries):] {
		os.RemoveAll(b)
	}
}
