package device_test

import (
	"errors"
	"testing"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/finding"
	"github.com/GOATnote-Inc/attest/ptx"
)

func TestCompileError(t *testing.T) {
	cause := errors.New("refused")
	e := &device.CompileError{File: "k.ptx", Err: cause, Log: "all of it", Findings: []finding.Finding{
		{Place: finding.Place{Pos: ptx.Pos{Line: 9, Col: 2}, Source: "k.cu:4:1"}, Severity: finding.Error, Message: "unknown symbol"},
		{Place: finding.At(ptx.Pos{Line: 12}), Severity: finding.Warning, Message: "odd"},
		{Severity: finding.Error, Message: "too much shared data"},
	}}
	want := "k.ptx: refused\nk.ptx:9:2: error: unknown symbol (k.cu:4:1)\nk.ptx:12: warning: odd\nk.ptx: error: too much shared data"
	if e.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", e, want)
	}
	e.Findings = nil
	if want := "k.ptx: refused\nall of it"; e.Error() != want || !errors.Is(e, cause) {
		t.Errorf("got\n%v", e)
	}
}

func TestCheckDependent(t *testing.T) {
	info := device.Info{Name: "a GPU", Target: ptx.SM89, MaxThreads: 1024, SharedMax: 1 << 16}
	l := device.Launch{Grid: device.D(1), Block: device.D(1), Dependent: true}
	if err := l.Check(info, device.KernelInfo{Name: "k"}); err == nil {
		t.Error("sm_89 launches dependent kernels")
	}
	info.Target = ptx.SM90
	if err := l.Check(info, device.KernelInfo{Name: "k"}); err != nil {
		t.Error(err)
	}
}
