package tile_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/GOATnote-Inc/attest/build"
	"github.com/GOATnote-Inc/attest/build/tile"
	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/device/emu"
	"github.com/GOATnote-Inc/attest/ptx"
)

// TestPrint fills a fragment with 100 row + column, so that each value shows from which row and
// column it comes.
func TestPrint(t *testing.T) {
	k := build.New("k", ptx.SM80)
	lane := k.TidX()
	f := tile.NewFrag(k, tile.Accumulator(16, 8), k.F32(0))
	row, col := f.Base(k, lane)
	f.Map(func(_ build.F32, _ int, at tile.Pos) build.F32 {
		return row.Add(at.Row).MulLo(100).Add(col.Add(at.Col)).CvtRnF32()
	})
	f.Print(lane, "S", 9, 5)
	f.PrintRow(lane, "T", 3)
	text, err := k.PTX()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	dev, err := emu.New(ptx.SM80, emu.Options{Output: &out})
	if err != nil {
		t.Fatal(err)
	}
	mod, err := dev.Load("k.ptx", text)
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := mod.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	if err := kernel.Launch(t.Context(), device.Launch{Grid: device.D(1), Block: device.D(32)}); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	slices.Sort(got)
	want := []string{"S[9,5] = 905", "T[3,0] = 300", "T[3,1] = 301", "T[3,2] = 302", "T[3,3] = 303",
		"T[3,4] = 304", "T[3,5] = 305", "T[3,6] = 306", "T[3,7] = 307"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
