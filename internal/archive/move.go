package archive

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/GOATnote-Inc/attest/evidence"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Export writes all evidence as one file. "-" is standard output; the summary then goes to
// standard error.
func (a *Archive) Export(file string) error {
	s, err := a.open()
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	n, err := s.Export(&packed)
	var damage *evidence.Damage
	switch {
	case errors.As(err, &damage):
		return a.damaged(damage.Problems)
	case err != nil:
		return err
	case n.Counts == evidence.Counts{}:
		return fmt.Errorf("there is no evidence in %s", a.Dir)
	}
	to := a.Env
	if file == cli.Stdin {
		to = &cli.Env{Out: a.Env.Err, Err: a.Env.Err, JSON: a.Env.JSON}
		_, err = a.Env.Write(packed.Bytes())
	} else {
		err = atomicfile.Write(file, packed.Bytes())
	}
	if err != nil {
		return err
	}
	if a.Env.JSON {
		to.Encode(n)
		return nil
	}
	fmt.Fprintf(to, "%s, %s, in %s\nhead %s\n", n.Counts.Text(), english.Count(n.Bytes, "byte"), term.Clean(file), n.Head)
	return nil
}

// Import adds the records of other folders of evidence or of exports; "-" is standard input.
func (a *Archive) Import(names ...string) error {
	for _, name := range names {
		dir, done, err := a.unpacked(name)
		if err != nil {
			return err
		}
		err = a.importFrom(name, dir)
		done()
		if err != nil {
			return err
		}
	}
	return nil
}

// unpacked returns the folder of a name: the folder itself, or a temporary one with the content
// of an export. done removes the temporary folder.
func (a *Archive) unpacked(name string) (dir string, done func(), err error) {
	in := a.Env.In
	if name != cli.Stdin {
		f, err := os.Open(name)
		if err != nil {
			return "", nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err != nil || info.IsDir() {
			return name, func() {}, err
		}
		in = f
	}
	if dir, err = os.MkdirTemp("", "attest-evidence-"); err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(dir) }
	if err := evidence.Unpack(in, dir); err != nil {
		done()
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return dir, done, nil
}

// importFrom adds the records of a folder. name is the argument of the user.
func (a *Archive) importFrom(name, dir string) error {
	from, err := evidence.Open(dir)
	if err != nil {
		return err
	}
	to, err := evidence.OpenSigned(a.Dir)
	if err != nil {
		return err
	}
	n, err := to.Import(from)
	n.From = name
	var damage *evidence.Damage
	if errors.As(err, &damage) {
		return (&Archive{Env: a.Env, Dir: name}).damaged(damage.Problems)
	}
	if err != nil {
		return err
	}
	if a.Env.JSON {
		a.Env.Encode(n)
		return nil
	}
	fmt.Fprintf(a.Env, "%s added, %d already present\n", n.Counts.Text(), n.Known)
	return nil
}
