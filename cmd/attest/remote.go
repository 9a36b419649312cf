package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/internal/remote"
	"github.com/GOATnote-Inc/attest/internal/sorted"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func remoteCommand(env *cli.Env) *cobra.Command {
	c := group("remote", "Name other machines, and see or remove what attest has there",
		`Work with the machines on which --on runs commands.

  attest gate stage3b --on me@box

These commands take --on HOST: gate, bench, run, exec, profile, explain, diff, tune, compare,
calibrate and doctor. HOST is anything that ssh accepts. attest sends a binary of itself and
the input files, shows the output as if the command ran here, and brings records and output
files home. The job does not depend on the connection: if that is lost, attest connects again,
and the same command finds the job again later. Ctrl-C ends the job.

The machine needs a POSIX shell, but no root access and no installation. All of its files are in
one folder, .attest-remote in the home folder, which attest remote clean removes.

If you reach the machine with a command of your own, give the machine a name. attest appends the
words of the remote command to yours; your command must run them there, without a terminal:

  attest remote add l4 --ssh "gcloud compute ssh box --zone us-central1-a --"
  attest gate stage3b --on l4`,
		`  attest remote add l4 --ssh "gcloud compute ssh box --zone us-central1-a --"
  attest remote list
  attest remote list l4
  attest remote clean l4`)
	c.AddCommand(remoteAdd(env), remoteRemove(env), remoteList(env), remoteClean(env))
	return c
}

// changeHosts changes the file of named hosts.
func changeHosts(change func(remote.Hosts) error) error {
	file, err := remote.HostsFile()
	if err != nil {
		return err
	}
	hosts, err := remote.ReadHosts(file)
	if err != nil {
		return err
	}
	if err := change(hosts); err != nil {
		return err
	}
	return hosts.Write(file)
}

func remoteAdd(env *cli.Env) *cobra.Command {
	var h remote.Host
	var vars []string
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Give a machine a name",
		Long: `Give a machine a name for --on, with the command that reaches it.

  attest remote add l4 --ssh "gcloud compute ssh box --zone us-central1-a --"

The names are kept in
attest/hosts.json in your folder for configurations. A name that exists gets the new values.

JSON: {"name", "ssh", "dir", "env"}.`,
		Example: `  attest remote add l4 --ssh "gcloud compute ssh box --zone us-central1-a --"
  attest remote add h100 --ssh "ssh -J gate me@h100" --dir /scratch/me/attest --env ATTEST_PYTHON=/opt/torch/bin/python`,
		Args: arguments(1, "one NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			h.Name = args[0]
			for _, v := range vars {
				name, value, ok := strings.Cut(v, "=")
				if !ok || name == "" {
					return fmt.Errorf("--env %s: use NAME=VALUE", v)
				}
				if h.Env == nil {
					h.Env = map[string]string{}
				}
				h.Env[name] = value
			}
			if err := changeHosts(func(all remote.Hosts) error { return all.Add(h) }); err != nil {
				return err
			}
			if env.JSON {
				env.Encode(struct {
					Name string `json:"name"`
					remote.Host
				}{h.Name, h})
			} else {
				fmt.Fprintf(env, "%s is a name for --on now; try attest doctor --on %s\n", h.Name, h.Name)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&h.SSH, "ssh", "", "the `command` that reaches the machine; ssh NAME when empty")
	f.StringVar(&h.Dir, "dir", "", "the `folder` on the machine that attest uses; ~/.attest-remote when empty")
	f.StringArrayVar(&vars, "env", nil, "a variable of the environment of jobs, as `NAME=VALUE`; repeat the flag for several")
	return c
}

func remoteRemove(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Forget the name of a machine",
		Long: `Forget the name of a machine.

  attest remote clean l4 && attest remote remove l4

This does not remove the files of attest on the machine: run attest remote clean first.

JSON: {"name"}.`,
		Example: "  attest remote clean l4 && attest remote remove l4",
		Args:    arguments(1, "one NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			err := changeHosts(func(all remote.Hosts) error {
				if _, ok := all[args[0]]; !ok {
					return fmt.Errorf("%s is not the name of a machine: attest remote list shows the names", args[0])
				}
				delete(all, args[0])
				return nil
			})
			if err == nil && env.JSON {
				env.Encode(map[string]string{"name": args[0]})
			}
			return err
		},
	}
}

// hostRow is a line of attest remote list.
type hostRow struct {
	Name string            `json:"name"`
	SSH  string            `json:"ssh"`
	Dir  string            `json:"dir"`
	Env  map[string]string `json:"env"`
}

func remoteList(env *cli.Env) *cobra.Command {
	var ssh string
	c := &cobra.Command{
		Use:   "list [HOST…]",
		Short: "List the named machines, or what attest has on a machine",
		Long: `List the named machines. With HOST, list the jobs and binaries that attest has on that
machine.

  attest remote list l4

A job is "running", "ended" (its results wait for the command that started it) or "lost" (it
has no exit code, because it was killed or the machine was restarted).

JSON, one object per named machine: {"name", "ssh", "dir", "env"}. With HOST, one object per
machine: {"host", "dir", "bytes", "binaries", "jobs"}; a job is {"job", "state", "started",
"client", "command"}.`,
		Example: "  attest remote list\n  attest remote list l4 --json | jq '.jobs[].command'",
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listHosts(env)
			}
			for _, name := range args {
				if err := listHost(c, env, name, ssh); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&ssh, "ssh", "", "the `command` that reaches HOST; ssh when empty")
	return c
}

func listHosts(env *cli.Env) error {
	file, err := remote.HostsFile()
	if err != nil {
		return err
	}
	hosts, err := remote.ReadHosts(file)
	if err != nil {
		return err
	}
	if len(hosts) == 0 && !env.JSON {
		fmt.Fprintln(env, "no machine has a name; attest remote add gives one, and --on takes what ssh accepts")
		return nil
	}
	t := term.Table{}
	for _, name := range sorted.Keys(hosts) {
		h := hosts[name]
		if env.JSON {
			env.Encode(hostRow{name, h.SSH, h.Dir, h.Env})
			continue
		}
		ssh := h.SSH
		if ssh == "" {
			ssh = "ssh " + name
		}
		t.Row(name, term.Clean(ssh), term.Clean(h.Dir))
	}
	t.WriteTo(env)
	return nil
}

func listHost(c *cobra.Command, env *cli.Env, name, ssh string) error {
	client, err := newClient(env, name, ssh)
	if err != nil {
		return err
	}
	inv, err := client.List(c.Context())
	client.Quiet()
	if err != nil {
		return err
	}
	if inv == nil {
		inv = &remote.Inventory{Binaries: []string{}, Jobs: []remote.JobRow{}}
	}
	if env.JSON {
		env.Encode(struct {
			Host string `json:"host"`
			*remote.Inventory
		}{name, inv})
		return nil
	}
	if inv.Dir == "" {
		fmt.Fprintf(env, "%s has no folder of attest\n", name)
		return nil
	}
	fmt.Fprintf(env, "%s  %s, %.0f MB, %s, %s\n", name, term.Clean(inv.Dir), float64(inv.Bytes)/1e6,
		english.Count(len(inv.Binaries), "binary"), english.Count(len(inv.Jobs), "job"))
	t := term.Table{Indent: "  "}
	for _, j := range inv.Jobs {
		t.Row(j.Job, j.State, j.Started.Format("2006-01-02 15:04 UTC"), term.Clean(j.Client), term.Clean(j.Command))
	}
	t.WriteTo(env)
	return nil
}

func remoteClean(env *cli.Env) *cobra.Command {
	var ssh string
	var stop bool
	c := &cobra.Command{
		Use:   "clean HOST…",
		Short: "Remove everything that attest has on a machine",
		Long: `Remove the folder of attest on a machine: binaries, jobs, and results that were not fetched.

  attest remote clean l4

While jobs run there, nothing is removed and the exit code is 1. --stop ends the jobs first.

JSON, one object per machine: {"host", "removed", "dir", "bytes", "binaries", "jobs"}.`,
		Example: "  attest remote clean l4\n  attest remote clean l4 --stop",
		Args:    arguments(0, "a HOST"),
		RunE: func(c *cobra.Command, args []string) error {
			code := cli.OK
			for _, name := range args {
				removed, err := cleanHost(c, env, name, ssh, stop)
				if err != nil {
					return err
				}
				if !removed {
					code = cli.Red
				}
			}
			return cli.Exit(code)
		},
	}
	c.Flags().BoolVar(&stop, "stop", false, "end jobs that run")
	c.Flags().StringVar(&ssh, "ssh", "", "the `command` that reaches HOST; ssh when empty")
	return c
}

// cleanHost removes the folder of attest on a host. It reports false if jobs run there.
func cleanHost(c *cobra.Command, env *cli.Env, name, ssh string, stop bool) (bool, error) {
	client, err := newClient(env, name, ssh)
	if err != nil {
		return false, err
	}
	done, err := client.Clean(c.Context(), stop)
	client.Quiet()
	if err != nil {
		return false, err
	}
	if done == nil {
		done = &remote.Cleaned{Removed: true, Inventory: remote.Inventory{Binaries: []string{}, Jobs: []remote.JobRow{}}}
	}
	switch {
	case env.JSON:
		env.Encode(struct {
			Host string `json:"host"`
			*remote.Cleaned
		}{name, done})
	case done.Dir == "":
		fmt.Fprintf(env, "%s has no folder of attest\n", name)
	case done.Removed:
		fmt.Fprintf(env, "removed %s from %s (%.0f MB)\n", term.Clean(done.Dir), name, float64(done.Bytes)/1e6)
	default:
		fmt.Fprintf(env, "%s on %s: nothing is removed; --stop ends them\n", english.Are(done.Running(), "job")+" running", name)
	}
	return done.Removed, nil
}
