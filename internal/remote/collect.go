package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
)

// mostResults is the largest file that comes back.
const mostResults = 4 << 30

// collect receives the results of the job and puts them where the command line says.
func (d *dialogue) collect() error {
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := eachFile(r, d.place)
		r.CloseWithError(err)
		done <- err
	}()
	for {
		f, err := d.receive()
		if err != nil {
			w.CloseWithError(err)
			<-done
			return err
		}
		switch f.kind {
		case result:
			if _, err := w.Write(f.data); err != nil {
				return <-done
			}
		case resultEnd:
			w.Close()
			return <-done
		}
	}
}

// place writes one result. It refuses a file that the command line does not name.
func (d *dialogue) place(name string, content io.Reader) error {
	content = io.LimitReader(content, mostResults)
	if name == evidencePack {
		return d.importRecords(content)
	}
	path, ok := strings.CutPrefix(filepath.ToSlash(name), mirrorDir+"/")
	if !ok || !slices.ContainsFunc(d.order.Outputs, func(out string) bool { return path == out || strings.HasPrefix(path, out+"/") }) {
		return fmt.Errorf("%s sent the file %q, which is no output of this command", d.Host.Name, name)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	to := "/" + path
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(to, data)
}

// importRecords adds the records of the job to the local evidence. Their hashes are checked.
func (d *dialogue) importRecords(content io.Reader) error {
	if d.job.Evidence == "" {
		return fmt.Errorf("%s sent evidence, which this command does not keep", d.Host.Name)
	}
	dir, err := os.MkdirTemp("", "attest-import-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := evidence.Unpack(content, dir); err != nil {
		return fmt.Errorf("the evidence from %s: %w", d.Host.Name, err)
	}
	io.Copy(io.Discard, content)
	from, err := evidence.Open(dir)
	if err != nil {
		return err
	}
	if err := evidence.MakeDir(d.job.Evidence); err != nil {
		return err
	}
	to, err := evidence.OpenSigned(d.job.Evidence)
	if err != nil {
		return err
	}
	if _, err := to.Import(from); err != nil {
		return fmt.Errorf("the evidence from %s: %w", d.Host.Name, err)
	}
	return nil
}

// errNoFolder says that the host has no folder of attest.
var errNoFolder = errors.New("the host has no folder of attest")

// askAgent sends an order that has one answer.
func (c *Client) askAgent(ctx context.Context, o Order, into any) error {
	conn, err := dial(&c.Host, c.Err)
	if err != nil {
		return err
	}
	// A machine without the folder needs no agent.
	stop := context.AfterFunc(ctx, conn.close)
	_, _, err = conn.platform()
	var there bool
	if err == nil {
		there, err = conn.exists()
	}
	stop()
	conn.close()
	switch {
	case errors.Is(err, errTorn):
		return fmt.Errorf("%s cannot be reached: %w; check that this works: %s", c.Host.Name, err, c.trial())
	case err != nil:
		return err
	case !there:
		return errNoFolder
	}
	if conn, err = c.open(ctx); err != nil {
		return err
	}
	defer conn.close()
	d := &dialogue{session: &session{Client: c}, conn: conn, out: &writer{w: conn.in}}
	defer d.watch()()
	if err := d.out.sendJSON(order, o); err != nil {
		return err
	}
	f, err := d.receive()
	if err != nil {
		return err
	}
	return json.NewDecoder(bytes.NewReader(f.data)).Decode(into)
}

// List returns what attest has on the host, or nil if it has nothing there.
func (c *Client) List(ctx context.Context) (*Inventory, error) {
	var inv Inventory
	err := c.askAgent(ctx, Order{What: "list"}, &inv)
	if errors.Is(err, errNoFolder) {
		return nil, nil
	}
	return &inv, err
}

// Clean removes the folder of attest from the host. While jobs run there, it removes nothing
// unless stop is set. It returns nil if there is no folder.
func (c *Client) Clean(ctx context.Context, stop bool) (*Cleaned, error) {
	var done Cleaned
	err := c.askAgent(ctx, Order{What: "clean", Stop: stop}, &done)
	if errors.Is(err, errNoFolder) {
		return nil, nil
	}
	return &done, err
}
