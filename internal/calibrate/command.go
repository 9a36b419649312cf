package calibrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/atomicfile"
	"github.com/GOATnote-Inc/attest/internal/chips"
	"github.com/GOATnote-Inc/attest/internal/cli"
	"github.com/GOATnote-Inc/attest/internal/term"
)

// Command is attest calibrate.
type Command struct {
	Name string // of the device, or "" for the first one
	Out  string // file, or ""
	Now  func() time.Time
}

// file is the JSON of the command.
type file struct {
	*Report
	Numbers map[string]chips.Number `json:"numbers"`
}

// Run measures, prints and writes.
func (x *Command) Run(ctx context.Context, env *cli.Env) error {
	dev, err := device.Open(x.Name)
	if err != nil {
		return fmt.Errorf("--device %s: %w; attest list devices shows what this machine has", x.Name, err)
	}
	defer dev.Close()
	if x.Name == "" && emulated(dev.Info()) {
		return errors.New("there is no GPU to measure: run attest calibrate on a machine with one, or with --on HOST; --device emu runs the probes without measuring")
	}
	progress := env.StartProgress()
	defer progress.Stop()
	r, err := All(ctx, dev, func(i, n int, name string) { progress.Say("%d of %d: %s", i+1, n, name) })
	if err != nil {
		return err
	}
	r.Time = x.Now().UTC().Format(time.RFC3339)
	info := dev.Info()
	chip := chips.For(info.Target, &info)
	f := file{r, chip.Numbers}
	if !emulated(info) {
		f.Numbers = Merge(chip, r)
	}
	if x.Out != "" {
		text, err := json.MarshalIndent(f, "", " ")
		if err != nil {
			return err
		}
		if err := atomicfile.Write(x.Out, append(text, '\n')); err != nil {
			return err
		}
	}
	progress.Print(func() {
		if env.JSON {
			env.Encode(f)
			return
		}
		x.print(env, r, &chip)
	})
	return nil
}

func emulated(info device.Info) bool { return info.Driver == "emu" }

// print shows each result beside the number that the chip's file has.
func (x *Command) print(env *cli.Env, r *Report, chip *chips.Chip) {
	t := term.Table{Right: "lrlrl", Style: env.OutStyle()}
	t.Head("number", "measured", "unit", "known", "what")
	for _, one := range r.Results {
		value, known := fmt.Sprintf("%.2f", one.Value), ""
		if one.Error != "" {
			value = "–"
			one.Doc = one.Error
		}
		if n, ok := chip.Numbers[one.Name]; ok {
			known = fmt.Sprint(math.Round(n.Value*100) / 100)
		}
		t.Row(one.Name, value, one.Unit, known, term.Clean(one.Doc))
	}
	fmt.Fprintf(env, "%s\n", r.Device.Name)
	if emulated(r.Device) {
		fmt.Fprintln(env, "the emulator does not measure time: these numbers mean nothing")
	}
	fmt.Fprintln(env)
	t.WriteTo(env)
	if x.Out != "" {
		fmt.Fprintf(env, "\nwrote %s\n", x.Out)
	}
}
