package export

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

//go:embed runtime/core.py
var corePy string

//go:embed runtime/torch.py
var torchPy string

//go:embed runtime/cupy.py
var cupyPy string

// Kinds are the kinds of exports.
var Kinds = []string{"ptx", "torch", "cupy", "c"}

// Render writes the file of a bundle. The same bundle gives the same bytes.
func Render(b *Bundle) ([]byte, error) {
	switch b.Kind {
	case "ptx":
		text, err := encode(b)
		var pretty bytes.Buffer
		if err == nil {
			err = json.Indent(&pretty, text, "", "  ")
		}
		return pretty.Bytes(), err
	case "torch":
		return b.python(torchPy)
	case "cupy":
		return b.python(cupyPy)
	case "c":
		return b.header()
	}
	return nil, fmt.Errorf("%q is not a kind of export: use one of %s", b.Kind, strings.Join(Kinds, ", "))
}

// python joins the loader, the part for a library and the bundle.
func (b *Bundle) python(library string) ([]byte, error) {
	packed, err := b.pack()
	if err != nil {
		return nil, err
	}
	doc, rest, ok := strings.Cut(library, "\n\n# ---\n")
	if !ok {
		return nil, fmt.Errorf("the template has no mark behind its description")
	}
	var out strings.Builder
	out.WriteString(doc + "\n\n")
	out.WriteString(b.comment("# "))
	out.WriteString("\n" + strings.TrimSpace(corePy) + "\n\n\n" + strings.TrimSpace(rest) + "\n")
	text := strings.Replace(out.String(), "@BUNDLE@", beginMark+packed+endMark, 1)
	return []byte(text), nil
}

// comment describes the export: licence, versions, kernels and the records that vouch for them.
func (b *Bundle) comment(prefix string) string {
	var out strings.Builder
	say := func(format string, args ...any) {
		out.WriteString(strings.TrimRight(prefix+fmt.Sprintf(format, args...), " ") + "\n")
	}
	say("Written by attest %s. Licence: %s.", strings.TrimSpace(b.Attest+" "+b.Revision), b.Licence)
	say("Chosen for %s; runs on every GPU with the target %s.", orTarget(b.Chip), b.Chip.Target)
	say("attest evidence verify --export FILE says whether this file is what was measured.")
	say("")
	for i := range b.Kernels {
		k := &b.Kernels[i]
		say("%-14s %s", k.Name, k.Config["config"])
		say("  identity %s", k.Identity)
		for _, p := range k.Proofs {
			say("  record   %s, %s on %s, %s", p.Record[:12], p.Outcome, p.Device, p.Time.Format("2006-01-02"))
		}
	}
	return out.String()
}

func orTarget(c Chip) string {
	if c.Name == "" {
		return c.Target
	}
	return c.Name
}
