package export

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/GOATnote-Inc/attest/expr"
	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
)

// Schema is the version of the form of a bundle.
const Schema = 2

// Bundle is what every export carries.
type Bundle struct {
	Schema   int    `json:"attest_export"`
	Kind     string `json:"kind"` // "ptx", "torch", "cupy" or "c"
	Licence  string `json:"licence"`
	Attest   string `json:"attest"` // version
	Revision string `json:"revision,omitempty"`
	// Chip is the GPU that the kernels were chosen for. They run on every GPU of its target.
	Chip    Chip     `json:"chip"`
	Kernels []Kernel `json:"kernels"`
	// Choices say which kernel is the best for a problem. The choices of a family stand together. The
	// first family with a kernel that serves the problem decides.
	Choices []Choice `json:"choices,omitempty"`
}

// Chip is a GPU.
type Chip struct {
	Name        string `json:"name,omitempty"`
	Target      string `json:"target"`
	SMs         int    `json:"sms,omitempty"`
	SharedMax   int    `json:"shared_max,omitempty"`
	SharedPerSM int    `json:"shared_per_sm,omitempty"`
}

// Kernel is a kernel with its call and its hashes.
type Kernel struct {
	kernel.Kernel
	Identity string  `json:"identity"` // [kernel.Kernel.Identity]
	SHA256   string  `json:"sha256"`   // the SHA-256 of the PTX
	Proofs   []Proof `json:"records"`
}

// Proof is a record that vouches for a kernel.
type Proof struct {
	Record  string    `json:"record"` // hash
	Outcome string    `json:"outcome"`
	Device  string    `json:"device"`
	Time    time.Time `json:"time"`
}

// Choice is a kernel that may be the best for a problem, and the rule of [attn.Candidate].
type Choice struct {
	Kernel int              `json:"kernel"` // index
	Family string           `json:"family"`
	When   expr.Expr        `json:"when"`
	Let    []kernel.Binding `json:"let,omitempty"`
	Cost   expr.Expr        `json:"cost,omitzero"`
	Tiles  *attn.Tiles      `json:"tiles,omitempty"`
}

// mostBundle is the largest bundle that is read, in bytes after decompression.
const mostBundle = 256 << 20

// column is the width of the lines of a packed bundle.
const column = 120

// pack returns a bundle as lines of base64 of its compressed JSON.
func (b *Bundle) pack() (string, error) {
	text, err := encode(b)
	if err != nil {
		return "", err
	}
	var z bytes.Buffer
	w, err := zlib.NewWriterLevel(&z, zlib.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	all := base64.StdEncoding.EncodeToString(z.Bytes())
	var lines bytes.Buffer
	for len(all) > 0 {
		n := min(column, len(all))
		lines.WriteString(all[:n] + "\n")
		all = all[n:]
	}
	return lines.String(), nil
}

// encode returns the JSON of a bundle without escapes for HTML.
func encode(b *Bundle) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(b)
	return text.Bytes(), err
}

// The marks around a packed bundle in a file.
const (
	beginMark = "attest-bundle-begin\n"
	endMark   = "attest-bundle-end"
)

// ErrNoBundle is the error for a file that is not an export.
var ErrNoBundle = errors.New("this file is not an export of attest: it holds no bundle")

// Read returns the bundle of an exported file.
func Read(file []byte) (*Bundle, error) {
	var b Bundle
	text := file
	if !bytes.HasPrefix(bytes.TrimSpace(file), []byte("{")) {
		_, rest, found := bytes.Cut(file, []byte(beginMark))
		packed, _, ended := bytes.Cut(rest, []byte(endMark))
		if !found || !ended {
			return nil, ErrNoBundle
		}
		z, err := zlib.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(bytes.ReplaceAll(packed, []byte("\n"), nil))))
		if err == nil {
			text, err = io.ReadAll(io.LimitReader(z, mostBundle))
		}
		if err != nil {
			return nil, fmt.Errorf("the bundle in the file is damaged: %w", err)
		}
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, fmt.Errorf("the bundle in the file is damaged: %w", err)
	}
	if b.Schema == 0 {
		return nil, ErrNoBundle
	}
	if b.Schema != Schema {
		return nil, fmt.Errorf("the file has form %d, this version of attest reads form %d", b.Schema, Schema)
	}
	return &b, nil
}
