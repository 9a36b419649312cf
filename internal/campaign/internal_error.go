package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/replicate"
	"github.com/GOATnote-Inc/attest/internal/repro"
	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/ptx/parse"
	"github.com/GOATnote-Inc/attest/ptx/verify"
	"github.com/GOATnote-Inc/attest/record"
)

// measureHere measures a kernel of attest in this process. If the emulator or a checker fails,
// the record says so, and the campaign goes on.
func measureHere(ctx context.Context, s *lab.Subject, p lab.Plan, progress func(lab.Progress)) (*record.Record, error) {
	section := ""
	rec, err := func() (rec *record.Record, err error) {
		defer device.CatchBug(&err)
		return lab.Measure(ctx, s, p, func(p lab.Progress) {
			section = p.Section
			if progress != nil {
				progress(p)
			}
		})
	}()
	var bug *device.Bug
	if !errors.As(err, &bug) {
		return rec, err
	}
	return lab.Unfinished(s, p, section, bug.Error()+savedAs(bug, s.PTX, nil), true)
}

// refused returns why an assembler refuses the PTX of a kernel, or "".
func refused(s *lab.Subject) string {
	m, err := parse.Parse(s.Name, s.PTX)
	if err == nil {
		err = verify.Valid(s.Name, m)
	}
	if err == nil {
		return ""
	}
	first, more, _ := strings.Cut(err.Error(), "\n")
	if more != "" {
		first += " (the first of several errors; see attest ptx check)"
	}
	return "the PTX is not valid: " + first
}

// savedAs saves the inputs of a measurement in which attest failed, and says where they are.
func savedAs(bug *device.Bug, text string, job *replicate.Job) string {
	files := []repro.File{{Name: "kernel.ptx", Data: []byte(text)}}
	if job != nil {
		if data, err := json.Marshal(job); err == nil {
			files = append(files, repro.File{Name: "job.json", Data: data})
		}
	}
	dir, err := repro.Save(bug, "attest "+replicate.Command+" job.json", files...)
	if err != nil {
		return fmt.Sprintf("; the inputs could not be saved: %v", err)
	}
	return "; the inputs are saved in " + dir
}
