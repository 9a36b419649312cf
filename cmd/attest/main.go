package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	env := &cli.Env{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Color: term.Auto}
	err := rootCommand(env).ExecuteContext(ctx)
	os.Exit(cli.Code(env.Finish(err), os.Stderr))
}
