package replicate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/GOATnote-Inc/attest/lab"
	"github.com/GOATnote-Inc/attest/record"
)

// message is a line that the other process writes: progress, and at the end of a job its
// result or its error.
type message struct {
	Progress    *lab.Progress       `json:"progress,omitempty"`
	Record      *record.Record      `json:"record,omitempty"`
	Performance *record.Performance `json:"performance,omitempty"`
	Error       string              `json:"error,omitempty"`
}

// Serve does the jobs that it reads, one after the other, and writes a message for each. The
// jobs share the libraries that they start. The first job that fails ends it with the error,
// which is also the last message. what names the origin of the jobs in errors.
func Serve(ctx context.Context, in io.Reader, what string, w io.Writer) error {
	libraries := &lab.Libraries{}
	defer libraries.Close()
	out := json.NewEncoder(w)
	for jobs := json.NewDecoder(in); ; {
		var j Job
		switch err := jobs.Decode(&j); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s does not hold a job that attest wrote: %w", what, err)
		}
		err := j.serve(ctx, libraries, out)
		if err != nil {
			out.Encode(message{Error: err.Error()})
			return err
		}
	}
}

// serve does one job.
func (j *Job) serve(ctx context.Context, libraries *lab.Libraries, out *json.Encoder) error {
	if j.Plan != nil {
		return j.Measure(ctx, out)
	}
	p, err := j.Run(ctx, libraries)
	if err != nil || p == nil {
		return err
	}
	return out.Encode(message{Performance: p})
}
