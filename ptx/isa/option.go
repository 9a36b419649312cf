package isa

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// option adds a property to a form that its syntax line cannot express.
//
// The functions that return options are not inlined: otherwise each of some 500 calls in
// the table would be compiled to a closure of its own.
type option func(*line)

// line is the state of the parser for one line of the table.
type line struct {
	form  *Form
	sets  map[string][]string
	rules [][2]string
	// combos holds the arguments of needWhen until the slots are known.
	combos []combo
}

// set defines the modifiers of a slot of this form.
//
//go:noinline
func set(name, alts string) option {
	list := strings.Fields(alts) // shared by all forms that have the option
	return func(l *line) { l.sets[name] = list }
}

// sm sets the least architecture of the form: sm(80) is sm_80.
//
//go:noinline
func sm(n int) option { return func(l *line) { l.form.Needs.Target.SM = n } }

// smA sets an architecture-specific target: smA(90) is sm_90a.
//
//go:noinline
func smA(n int) option {
	return func(l *line) { l.form.Needs.Target = ptx.Target{SM: n, Feature: 'a'} }
}

// inFamilies sets targets of which a form needs one: for 100, sm_100a, or, from the version on that
// has families, sm_100f, which all later members of the family run, too.
//
//go:noinline
func inFamilies(v int, sms ...int) option {
	return func(l *line) {
		for _, n := range sms {
			l.alternative('a', n, v)
			l.alternative('f', n, max(v, 88))
		}
	}
}

// inTargets sets architecture-specific targets of which a form needs one: sm_100a for 100.
//
//go:noinline
func inTargets(v int, sms ...int) option {
	return func(l *line) {
		for _, n := range sms {
			l.alternative('a', n, v)
		}
	}
}

// alternative adds a target of which a form needs one. The first one is in Needs.
func (l *line) alternative(feature byte, sm, v int) {
	needs := Needs{version(v), ptx.Target{SM: sm, Feature: feature}}
	if l.form.Needs == (Needs{}) {
		l.form.Needs = needs
	} else {
		l.form.orNeeds = append(l.form.orNeeds, needs)
	}
}

// isa sets the least PTX version of the form: 78 for 7.8.
//
//go:noinline
func isa(v int) option { return func(l *line) { l.form.Needs.Version = version(v) } }

func version(v int) ptx.Version { return ptx.Version{Major: v / 10, Minor: v % 10} }

// need states what some modifiers need in this form, in addition to what the form needs.
// It replaces their entries in modNeeds.
//
//go:noinline
func need(mods string, smN, isaV int) option {
	return func(l *line) {
		if l.form.altNeeds == nil {
			l.form.altNeeds = map[string]Needs{}
		}
		for m := range strings.FieldsSeq(mods) {
			l.form.altNeeds[m] = Needs{version(isaV), ptx.Target{SM: smN}}
		}
	}
}

// or adds another pair of a least architecture and a least version: a form needs one of its pairs.
//
//go:noinline
func or(smN, isaV int) option {
	return func(l *line) {
		l.form.orNeeds = append(l.form.orNeeds, Needs{version(isaV), ptx.Target{SM: smN}})
	}
}

// needWhen states what a combination of modifiers needs:
// needWhen("scope=sys, type=b128", 70, 84).
//
//go:noinline
func needWhen(cond string, smN, isaV int) option {
	return func(l *line) {
		l.combos = append(l.combos, combo{cond, Needs{version(isaV), ptx.Target{SM: smN}}})
	}
}

// combo is a call of needWhen. form looks its slots up when it has read all of them.
type combo struct {
	cond  string
	needs Needs
}

// when restricts a slot: when("vec=v4", "type=b32 f32"). "-" stands for a modifier that is
// left out. A comma joins conditions that must all hold: when("sat=sat, atype=u8", …).
//
//go:noinline
func when(cond, then string) option {
	return func(l *line) { l.rules = append(l.rules, [2]string{cond, then}) }
}

// options joins several options in one, for options that the forms of a family share.
//
//go:noinline
func options(opts ...option) option {
	return func(l *line) {
		for _, o := range opts {
			o(l)
		}
	}
}

// wider allows registers that are wider than the type.
//
//go:noinline
func wider() option { return func(l *line) { l.form.Wider = true } }
