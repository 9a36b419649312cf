package mcpserver

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// job is a command line of attest with the files that it reads.
type job struct {
	args  []string
	files map[string]string
}

// The limits of what a client sends.
const (
	mostText  = 4 << 20 // bytes of all texts of a call
	mostFiles = 16
)

// isFile matches the names of files that a client may send. They lie in one folder.
var isFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,80}$`)

// newJob returns a command with files, which it checks.
func newJob(files map[string]string, args ...string) (*job, error) {
	size := 0
	for name, text := range files {
		if !isFile.MatchString(name) {
			return nil, fmt.Errorf("%q cannot be the name of a file: use letters, digits, dots and underscores, and no folder", name)
		}
		size += len(text)
	}
	switch {
	case len(files) > mostFiles:
		return nil, fmt.Errorf("%d files are given, at most %d are allowed", len(files), mostFiles)
	case size > mostText:
		return nil, fmt.Errorf("the texts have %d bytes, at most %d are allowed", size, mostText)
	}
	return &job{append(args, "--json"), files}, nil
}

func (in *checkInput) job() (*job, error) {
	return newJob(map[string]string{"kernel.ptx": in.PTX}, "ptx", "check", "kernel.ptx")
}

func (in *execInput) job() (*job, error) {
	check := in.Check
	if check == "" {
		check = "all"
	}
	if err := word("check", check, isKinds); err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, text := range in.Files {
		files[name] = text
	}
	files["kernel.ptx"], files["launch.json"] = in.PTX, in.Launch
	return newJob(files, "exec", "kernel.ptx", "--launch", "launch.json", "--device", "emu", "--check", check)
}

// argument returns the argument for a kernel and its files.
func (k *Kernel) argument() (string, map[string]string, error) {
	switch {
	case (k.PTX == "") == (k.Name == ""):
		return "", nil, errors.New("give either ptx with call, or name")
	case k.Name != "":
		return k.Name, map[string]string{}, word("name", k.Name, isKernel)
	case k.Call == "":
		return "", nil, errors.New("ptx needs call: the JSON that says how the kernel is called")
	}
	return "kernel.ptx", map[string]string{"kernel.ptx": k.PTX, "kernel.json": k.Call}, nil
}

func (in *gateInput) job() (*job, error) {
	plan := in.Plan
	if plan == "" {
		plan = "smoke"
	}
	if plan != "smoke" && plan != "quick" {
		return nil, fmt.Errorf("plan %q is not valid: use smoke or quick", plan)
	}
	return in.with(in.Shape, "gate", "--plan", plan, "--device", "emu")
}

// with returns the job of a command for the kernel.
func (k *Kernel) with(shape, command string, more ...string) (*job, error) {
	kernel, files, err := k.argument()
	if err != nil {
		return nil, err
	}
	args := append([]string{command, kernel}, more...)
	if shape != "" {
		if err := word("shape", shape, isShape); err != nil {
			return nil, err
		}
		args = append(args, "--shape", shape)
	}
	return newJob(files, args...)
}

func (in *shapeInput) profile() (*job, error) { return in.predict("profile") }
func (in *shapeInput) explain() (*job, error) { return in.predict("explain") }

func (in *shapeInput) predict(command string) (*job, error) {
	var more []string
	if in.Chip != "" {
		if err := word("chip", in.Chip, isChip); err != nil {
			return nil, err
		}
		more = append(more, "--chip", in.Chip)
	}
	return in.with(in.Shape, command, append(more, "--device", "emu")...)
}

func (in *diffInput) job() (*job, error) {
	more := []string{"--device", "emu", "--seed", strconv.FormatUint(uint64(in.Seed), 10)}
	if in.Against != "" {
		if err := word("against", in.Against, isKernel); err != nil {
			return nil, err
		}
		more = append([]string{in.Against}, more...)
	}
	return in.with(in.Shape, "diff", more...)
}
