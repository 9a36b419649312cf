package gokernel

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/problem"
	"github.com/GOATnote-Inc/attest/ptx"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string]string{
		"./mypkg.Kernel": "./mypkg Kernel", "../a/b.K2": "../a/b K2", "github.com/you/k.Fast": "github.com/you/k Fast", "./.Kernel": "./ Kernel",
		"/abs/k.Kernel": "/abs/k Kernel", "./v1.2/k.Kernel": "./v1.2/k Kernel",
		"hopper": "", "stage3a+swizzle": "", "./mine.ptx": "", "pkg.Kernel": "", "./pkg.kernel": "", "": "", "./a b.Kernel": "", "./k.Kernel;ls": "", "-o/x.K y": "",
	} {
		pkg, id, ok := Split(text)
		if got := strings.TrimSpace(pkg + " " + id); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, ok, want)
		}
	}
}

// TestBuild builds what a package offers, from its own folder and with nothing left behind.
func TestBuild(t *testing.T) {
	dir, err := filepath.Abs("testdata/kinds")
	if err != nil {
		t.Fatal(err)
	}
	p := problem.Attention{Shape: problem.Square(1, 8, 512, 64)}
	chip := kernel.Chip{SMs: 58, Target: ptx.SM89}
	for id, bad := range map[string]string{
		"Value": "", "ForProblem": "", "ForChip": "",
		"Nil": "is nil", "Number": "has the type int", "Fails": "no kernel today", "Panics": "boom", "Uncalled": "does not say how the kernel is called",
		"Missing": "has no Missing",
	} {
		k, err := Build(context.Background(), dir+"."+id, p, chip)
		switch {
		case bad == "" && err != nil:
			t.Errorf("%s: %v", id, err)
		case bad == "" && (k.Name != dir+"."+id || !strings.Contains(k.PTX, ".entry flash") || k.Check() != nil):
			t.Errorf("%s: %+v", id, k)
		case bad != "" && (err == nil || !strings.Contains(err.Error(), bad)):
			t.Errorf("%s: %v, want %q", id, err, bad)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("%v, %v: something was left", list, err)
	}
	for text, bad := range map[string]string{"./nothing.Kernel": "no such file", "../../cmd/attest.Kernel": "package main"} {
		if _, err := Build(context.Background(), text, p, chip); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v, want %q", text, err, bad)
		}
	}
}
