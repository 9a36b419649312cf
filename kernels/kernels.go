package kernels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/GOATnote-Inc/attest/kernel"
	"github.com/GOATnote-Inc/attest/kernels/attn"
	"github.com/GOATnote-Inc/attest/kernels/attn/ada"
	"github.com/GOATnote-Inc/attest/kernels/attn/decode"
	"github.com/GOATnote-Inc/attest/kernels/attn/hopper"
	"github.com/GOATnote-Inc/attest/kernels/attn/stages"
	"github.com/GOATnote-Inc/attest/problem"
)

// Families returns the families of attention kernels. A family comes after the families that
// it builds on.
func Families() []attn.Family {
	return []attn.Family{stages.Family{}, ada.Family{}, hopper.Family{}, decode.Family{}}
}

// preference returns the families in the order in which Choose asks them: a family comes
// before the families that it builds on.
func preference() []attn.Family {
	list := Families()
	slices.Reverse(list)
	return list
}

// Names returns the names of all variants, in the order in which they build on each other.
func Names() (names []string) {
	for _, f := range Families() {
		for _, v := range f.Variants() {
			names = append(names, v.Name)
		}
	}
	return names
}

// Ladder returns the kernels that are judged when the user names none: every stage, and from
// each other family the variant that is chosen by the shape.
func Ladder() (names []string) {
	for _, f := range Families() {
		for i, v := range f.Variants() {
			if i == 0 || f.Name() == (stages.Family{}).Name() {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

// Find returns the variant with a name, and its family. A name with toggles is a variant
// that builds on the one without them.
func Find(name string) (attn.Family, attn.Variant, error) {
	base, toggles := cut(name)
	for _, f := range Families() {
		all := f.Variants()
		i := slices.IndexFunc(all, func(v attn.Variant) bool { return v.Name == base })
		if i < 0 {
			continue
		}
		if len(toggles) == 0 {
			return f, all[i], nil
		}
		if _, err := parse(f, toggles); err != nil {
			return nil, attn.Variant{}, fmt.Errorf("%s: %w", name, err)
		}
		return f, attn.Variant{
			Name: name, Base: base, Idea: base + " + " + strings.Join(toggles, ", "), ByShape: all[i].ByShape, ByChip: all[i].ByChip,
		}, nil
	}
	return nil, attn.Variant{}, fmt.Errorf("no kernel is called %q: use one of %s", base, strings.Join(Names(), ", "))
}

// Base returns the name of the kernel that a kernel builds on and has to beat, or "".
func Base(name string) string {
	_, v, _ := Find(name)
	return v.Base
}

// Build writes the kernel with a name for a problem on a chip. With the zero chip, the text
// is for the lowest target that can run it.
func Build(name string, p problem.Attention, c kernel.Chip) (*kernel.Kernel, error) {
	f, v, err := Find(name)
	if err != nil {
		return nil, err
	}
	config, err := Configure(name, p, c)
	if err != nil {
		return nil, err
	}
	return build(f, v, p, c, config)
}

// build writes the kernel of the configuration that a variant has for a problem.
func build(f attn.Family, v attn.Variant, p problem.Attention, c kernel.Chip, config attn.Config) (*kernel.Kernel, error) {
	k, err := BuildConfig(f, v.Name, p, c, config)
	if err == nil && v.ByShape {
		k.Config["chosen"] = "by shape"
	}
	return k, err
}

// BuildConfig writes the kernel of a configuration under a name.
func BuildConfig(f attn.Family, name string, p problem.Attention, c kernel.Chip, config attn.Config) (*kernel.Kernel, error) {
	k, err := f.Build(p, c, config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	k.Name = name
	return k, nil
}

// Choose returns the name of the kernel for a problem on a chip, or why there is none.
func Choose(p problem.Attention, c kernel.Chip) (string, error) {
	var why []string
	for _, f := range preference() {
		name, err := f.Choose(p, c)
		if err == nil {
			return name, nil
		}
		why = append(why, fmt.Sprintf("%s: %v", f.Name(), err))
	}
	return "", fmt.Errorf("no kernel computes this problem: %s", strings.Join(why, "; "))
}

// explainer is a family that can say how it chose a configuration.
type explainer interface {
	Explain(p problem.Attention, c kernel.Chip) string
}

// Explain says which kernel [Choose] takes for a problem on a chip, how its family chose the
// configuration, and why the families that it prefers do not compute the problem.
func Explain(p problem.Attention, c kernel.Chip) (string, error) {
	var why []string
	for _, f := range preference() {
		name, err := f.Choose(p, c)
		if err != nil {
			why = append(why, fmt.Sprintf("not %s: %v", f.Name(), err))
			continue
		}
		config, err := f.Configure(name, p, c)
		if err != nil {
			return "", err
		}
		text := f.Describe(config)
		if e, ok := f.(explainer); ok {
			text = e.Explain(p, c)
		}
		return strings.Join(append([]string{name + ", " + text}, why...), "; "), nil
	}
	return "", fmt.Errorf("no kernel computes this problem: %s", strings.Join(why, "; "))
}

// Check returns the reason why the kernel with a name cannot compute a problem on a chip, or
// nil.
func Check(name string, p problem.Attention, c kernel.Chip) error {
	f, _, err := Find(name)
	if err != nil {
		return err
	}
	config, err := Configure(name, p, c)
	if err != nil {
		return err
	}
	return f.Check(p, c, config)
}
