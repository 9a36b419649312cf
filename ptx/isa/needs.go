package isa

import "github.com/GOATnote-Inc/attest/ptx"

// Needs is the oldest PTX version and architecture that support an instruction or a modifier.
type Needs struct {
	Version ptx.Version
	Target  ptx.Target
}

// Join returns the oldest version and architecture that satisfy both.
func (n Needs) Join(m Needs) Needs {
	if n.Version.Less(m.Version) {
		n.Version = m.Version
	}
	if m.Target.SM > n.Target.SM || m.Target.SM == n.Target.SM && m.Target.Feature != 0 {
		n.Target = m.Target
	}
	return n
}

// comboNeeds is what a combination of modifiers needs.
type comboNeeds struct {
	ifs   []slotAlts // the needs apply if all of these hold
	needs Needs
}

// Needs returns the oldest version and architecture for this opcode. The version is never older
// than the first version that supports the architecture.
func (m Match) Needs() Needs { return m.needs(m.Form.Needs) }

// OtherNeeds returns alternatives to Needs. In each of them, either the version or the
// architecture is older than in Needs, and the other one is newer.
func (m Match) OtherNeeds() []Needs {
	var ns []Needs
	for _, n := range m.Form.orNeeds {
		ns = append(ns, m.needs(n))
	}
	return ns
}

// RunsOn reports whether the opcode is legal in a module of that version and
// architecture.
func (m Match) RunsOn(v ptx.Version, t ptx.Target) bool {
	for _, n := range append(m.OtherNeeds(), m.Needs()) {
		if !v.Less(n.Version) && t.Runs(n.Target) {
			return true
		}
	}
	return false
}

// needs returns n joined with the needs of the modifiers.
func (m Match) needs(n Needs) Needs {
	for i := range m.bind {
		mod := m.At(i)
		if mod == "" {
			continue
		}
		if a, ok := m.Form.altNeeds[mod]; ok {
			n = n.Join(a)
		} else if g, ok := modNeeds[mod]; ok {
			n = n.Join(g)
		}
	}
	for _, c := range m.Form.comboNeeds {
		if m.holds(c.ifs) {
			n = n.Join(c.needs)
		}
	}
	if v := n.Target.MinVersion(); n.Target.SM > 0 && n.Version.Less(v) {
		n.Version = v
	}
	return n
}
