package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/device/launchfile"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/execrun"
	"github.com/GOATnote-Inc/attest/internal/gokernel"
	"github.com/GOATnote-Inc/attest/internal/limited"
	"github.com/GOATnote-Inc/attest/internal/remote"
	"github.com/GOATnote-Inc/attest/internal/term"
	"github.com/GOATnote-Inc/attest/internal/tune"
)

// runElsewhere lists the commands that take --on.
var runElsewhere = []string{"gate", "bench", "run", "exec", "profile", "explain", "diff", "tune", "compare", "calibrate", "doctor"}

// elsewhere lets a command run on another machine.
type elsewhere struct {
	env       *cli.Env
	host, ssh string
}

// onFlags adds --on and --ssh to a command that can run on another machine.
func onFlags(c *cobra.Command, env *cli.Env) *cobra.Command {
	x := &elsewhere{env: env}
	f := c.Flags()
	f.StringVar(&x.host, "on", "", "run on this `host`, over SSH: anything that ssh accepts, or a name of attest remote add")
	f.StringVar(&x.ssh, "ssh", "", "the `command` that reaches the host of --on, such as \"gcloud compute ssh box --zone z --\"; ssh when empty")
	here := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case x.host != "":
			return x.run(c, args)
		case x.ssh != "":
			return errors.New("--ssh says how to reach the host of --on, which is missing")
		}
		return here(c, args)
	}
	return c
}

// run runs the command on the host.
func (x *elsewhere) run(c *cobra.Command, args []string) error {
	job, err := x.job(c, args)
	if err != nil {
		return err
	}
	client, err := newClient(x.env, x.host, x.ssh)
	if err != nil {
		return err
	}
	defer client.Quiet()
	code, err := client.Run(c.Context(), *job)
	if err != nil {
		return err
	}
	return cli.Exit(code)
}

// newClient returns a client for a host. It shows its progress until the job starts.
func newClient(env *cli.Env, name, ssh string) (*remote.Client, error) {
	host, err := remote.Find(name, ssh)
	if err != nil {
		return nil, fmt.Errorf("--on: %w", err)
	}
	progress := env.StartProgress()
	quiet := false
	finder := &remote.Finder{Say: progress.Say}
	return &remote.Client{
		Host: host, Out: env, Err: env.Err, Say: progress.Say, Binary: finder.Find,
		Quiet: func() {
			if !quiet {
				progress.Stop()
			}
			quiet = true
		},
	}, nil
}

// Flags that name files.
var (
	flagsRead  = []string{"ptx", "abi", "launch", "state"}
	flagsWrite = []string{"state", "out", "sarif", "trace", "listing"}
)

// job describes the command line, the files that it reads and those that it writes.
func (x *elsewhere) job(c *cobra.Command, args []string) (*remote.Job, error) {
	j := &remote.Job{Env: map[string]string{}}
	value := func(name string) string {
		if f := c.Flag(name); f != nil {
			return f.Value.String()
		}
		return ""
	}
	if value("tag") != "" {
		return nil, errors.New("--tag sets a git tag here: leave it out with --on, and set the tag when the verdicts are here")
	}
	for _, name := range flagsRead {
		if path := value(name); path != "" && (name != "state" || exists(path)) {
			j.Reads = append(j.Reads, path)
		}
	}
	for _, name := range flagsWrite {
		if path := value(name); path != "" && path != execrun.Stdout {
			j.Writes = append(j.Writes, path)
		}
	}
	if c.Name() == "tune" && value("state") == "" && len(args) > 0 {
		state := tune.StateFile(args[0])
		j.Writes = append(j.Writes, state)
		if exists(state) {
			j.Reads = append(j.Reads, state)
		}
	}
	if c.Name() != "compare" { // which only reads evidence
		j.Evidence = value("evidence")
	}
	for _, arg := range append(slices.Clone(args), value("ptx")) {
		if err := x.addKernel(j, arg, value("abi") != ""); err != nil {
			return nil, err
		}
	}
	if path := value("launch"); path != "" {
		if err := addLaunch(j, path, value("root")); err != nil {
			return nil, err
		}
	}
	sort.Strings(j.Reads)
	j.Reads = slices.Compact(j.Reads)
	if err := x.environment(j); err != nil {
		return nil, err
	}
	j.Args = x.arguments(j)
	return j, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// addKernel adds the files of a kernel that an argument names. An argument that is no file is the
// name of a kernel of attest.
func (x *elsewhere) addKernel(j *remote.Job, arg string, described bool) error {
	if arg == cli.Stdin {
		data, err := limited.ReadAll(x.env.In, limited.Small)
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		j.Stdin = data
		return nil
	}
	if _, name, ok := gokernel.Split(arg); ok {
		return fmt.Errorf("%s is compiled here: attest ptx emit %s -o %s.ptx --abi %s.json writes files that --on can send", arg, arg, name, name)
	}
	if info, err := os.Stat(arg); err != nil || !info.Mode().IsRegular() {
		if strings.HasSuffix(arg, ".ptx") {
			return cmp.Or(err, fmt.Errorf("%s is not a regular file", arg))
		}
		return nil
	}
	j.Reads = append(j.Reads, arg)
	if call := strings.TrimSuffix(arg, ".ptx") + ".json"; !described && call != arg && exists(call) {
		j.Reads = append(j.Reads, call)
	}
	return nil
}

// addLaunch adds the files that a launch file names, as far as attest exec would open them: those
// below root, or below the folder of the launch file if root is empty. A launch file of a stranger
// must not send other files to another machine.
func addLaunch(j *remote.Job, path, root string) error {
	text, err := limited.ReadFile(path, limited.Small)
	if err != nil {
		return fmt.Errorf("--launch: %w", err)
	}
	f, err := launchfile.Parse(path, text)
	if err != nil {
		return err
	}
	if root, err = filepath.EvalSymlinks(cmp.Or(root, filepath.Dir(path))); err != nil {
		return fmt.Errorf("--root: %w", err)
	}
	reads, writes := f.Files()
	for _, name := range reads {
		// attest exec over there reports files that are missing or lie elsewhere.
		file := filepath.Join(filepath.Dir(path), name)
		if real, err := filepath.EvalSymlinks(file); err == nil && below(root, real) {
			j.Reads = append(j.Reads, file)
		}
	}
	for _, name := range writes {
		file := filepath.Join(filepath.Dir(path), name)
		if real, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil && below(root, real) {
			j.Writes = append(j.Writes, file)
		}
	}
	return nil
}

// below reports whether a path is root or lies below it.
func below(root, path string) bool {
	a, err := filepath.Abs(root)
	b, bad := filepath.Abs(path)
	if err != nil || bad != nil {
		return false
	}
	rel, err := filepath.Rel(a, b)
	return err == nil && filepath.IsLocal(rel)
}

// environment makes the job see the terminal and the variables of this process.
func (x *elsewhere) environment(j *remote.Job) error {
	for _, name := range []string{"ATTEST_SEED", "NO_COLOR", "TERM"} {
		if value, ok := os.LookupEnv(name); ok {
			j.Env[name] = value
		}
	}
	var terminals []string
	for name, stream := range map[string]io.Writer{"stdout": x.env.Out, "stderr": x.env.Err} {
		if term.IsTerminal(stream) {
			terminals = append(terminals, name)
		}
	}
	sort.Strings(terminals)
	j.Env[term.TerminalsVariable] = strings.Join(terminals, ",")
	return nil
}

// arguments returns the command line without --on and --ssh. Absolute paths of files become
// relative ones, because the folders over there lie elsewhere.
func (x *elsewhere) arguments(j *remote.Job) (args []string) {
	here, err := os.Getwd()
	relative := func(text string) string {
		known := text == j.Evidence || slices.Contains(j.Reads, text) || slices.Contains(j.Writes, text)
		if rel, bad := filepath.Rel(here, text); err == nil && bad == nil && filepath.IsAbs(text) && known {
			return rel
		}
		return text
	}
	for i := 0; i < len(x.env.Args); i++ {
		arg := x.env.Args[i]
		flag, value, joined := strings.Cut(arg, "=")
		switch {
		case (flag == "--on" || flag == "--ssh") && joined:
		case flag == "--on" || flag == "--ssh":
			i++
		case joined && strings.HasPrefix(flag, "--"):
			args = append(args, flag+"="+relative(value))
		default:
			args = append(args, relative(arg))
		}
	}
	return args
}

// agentCommand is what --on starts on the other machine.
func agentCommand(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use: remote.AgentCommand, Hidden: true, DisableFlagParsing: true,
		Short: "Serve another attest, which started this one over SSH",
		RunE: func(c *cobra.Command, args []string) error {
			return remote.Agent(context.WithoutCancel(c.Context()), args, env.In, env.Out)
		},
	}
}
