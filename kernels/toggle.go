package kernels

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/problem"
)

// A kernel's name may be followed by changes to its configuration, its toggles:
// stage3a+swizzle+tile-n=32. A toggle with two values is switched on by its name and off by
// no- before it.

// change is one toggle with its value.
type change struct {
	axis  attn.Axis
	value json.RawMessage
}

// Configure returns the configuration of a named kernel with its toggles, for a problem on
// a chip. Whether the combination is possible is for [Check].
func Configure(name string, p problem.Attention, c kernel.Chip) (attn.Config, error) {
	f, _, err := Find(name)
	if err != nil {
		return "", err
	}
	base, toggles := cut(name)
	config, err := f.Configure(base, p, c)
	if err != nil {
		return "", err
	}
	changes, err := parse(f, toggles)
	for _, ch := range changes {
		if err == nil {
			config, err = config.With(ch.axis.Path, ch.value)
		}
	}
	return config, err
}

// cut splits a name into the variant and its toggles.
func cut(name string) (variant string, toggles []string) {
	parts := strings.Split(name, "+")
	return parts[0], parts[1:]
}

// parse reads toggles of a family.
func parse(f attn.Family, toggles []string) (changes []change, err error) {
	for _, t := range toggles {
		ch, err := parseOne(f, t)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(changes, func(c change) bool { return c.axis.Name == ch.axis.Name }) {
			return nil, fmt.Errorf("toggle %s is set twice", ch.axis.Name)
		}
		changes = append(changes, ch)
	}
	return changes, nil
}

// parseOne reads one toggle: swizzle, no-swizzle, swizzle=off or tile-n=32.
func parseOne(f attn.Family, toggle string) (change, error) {
	name, value, given := strings.Cut(toggle, "=")
	axes := f.Axes()
	find := func(name string) int {
		return slices.IndexFunc(axes, func(a attn.Axis) bool { return a.Name == name })
	}
	at := find(name)
	if off, ok := strings.CutPrefix(name, "no-"); ok && at < 0 && !given {
		if at = find(off); at >= 0 && axes[at].Switch() {
			value, given = "off", true
		}
	}
	if at < 0 {
		return change{}, fmt.Errorf("no toggle %q: the kernels of the family %s have %s; attest list toggles explains them",
			toggle, f.Name(), strings.Join(toggleNames(axes), ", "))
	}
	a := axes[at]
	if a.Switch() {
		on, err := parseSwitch(value, given)
		if err != nil {
			return change{}, fmt.Errorf("toggle %s: %w", toggle, err)
		}
		return change{a, json.RawMessage(strconv.FormatBool(on))}, nil
	}
	n, err := strconv.Atoi(value)
	if !given || err != nil {
		return change{}, fmt.Errorf("toggle %s needs a number: %s=%s, for instance", a.Name, a.Name, a.Values[len(a.Values)-1])
	}
	return change{a, json.RawMessage(strconv.Itoa(n))}, nil
}

// parseSwitch reads the value of a toggle that is on or off; without a value it is on.
func parseSwitch(value string, given bool) (bool, error) {
	switch value {
	case "on", "true", "1":
		return true, nil
	case "off", "false", "0":
		return false, nil
	case "":
		if !given {
			return true, nil
		}
	}
	return false, fmt.Errorf("use on or off, not %q", value)
}

func toggleNames(axes []attn.Axis) (names []string) {
	for _, a := range axes {
		if a.Switch() {
			names = append(names, a.Name)
		} else {
			names = append(names, a.Name+"=N")
		}
	}
	return names
}

// Toggled returns a name with further toggles, which are separated by commas in set.
func Toggled(name, set string) string {
	for t := range strings.SplitSeq(set, ",") {
		if t = strings.TrimSpace(t); t != "" {
			name += "+" + t
		}
	}
	return name
}
