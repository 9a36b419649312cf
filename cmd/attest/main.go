package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/repro"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// grace is how long a command may take to end after the first signal. It may be inside of a
// read, a load or a search that does not look at its context.
const grace = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, func() {
		stop() // a second Ctrl-C ends the process at once
		time.Sleep(grace)
		os.Exit(cli.Code(ctx.Err(), os.Stderr))
	})
	env := &cli.Env{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Color: term.Auto}
	os.Exit(cli.Code(env.Finish(execute(ctx, env)), os.Stderr))
}

// execute runs the command line. A panic becomes an internal error, with the files that the
// command line names as the reproduction.
func execute(ctx context.Context, env *cli.Env) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = repro.Describe(device.NewBug(r), strings.Join(os.Args, " "), inputs(os.Args[1:])...)
		}
	}()
	return rootCommand(env).ExecuteContext(ctx)
}

// inputs returns the regular files that arguments name, unless they are very large.
func inputs(args []string) (files []repro.File) {
	const most = 64 << 20
	for _, path := range args {
		if _, value, ok := strings.Cut(path, "="); ok && strings.HasPrefix(path, "--") {
			path = value
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > most {
			continue
		}
		if data, err := os.ReadFile(path); err == nil {
			files = append(files, repro.File{Name: filepath.Base(path), Data: data})
		}
	}
	return files
}
