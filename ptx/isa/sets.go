package isa

import (
	"strings"

	"attest/ptx"
)

// sets are the slots that mean the same in every form.
var sets = func() map[string][]string {
	m := map[string][]string{}
	for name, alts := range map[string]string{
		"rnd":   "rn rz rm rp",
		"irnd":  "rni rzi rmi rpi",
		"vec":   "v2 v4",
		"scope": "cta cluster gpu sys",
		"dim":   "1d 2d 3d 4d 5d",
		"bool":  "and or xor",
	} {
		m[name] = strings.Fields(alts)
	}
	return m
}()

// modNeeds is what a modifier asks for wherever it stands.
var modNeeds = map[string]Needs{
	"shared::cta":     {ptx.Version{Major: 7, Minor: 8}, ptx.Target{}},
	"shared::cluster": {ptx.Version{Major: 7, Minor: 8}, ptx.SM90},
	"cluster":         {ptx.Version{Major: 7, Minor: 8}, ptx.SM90},
	"L2::cache_hint":  {ptx.Version{Major: 7, Minor: 4}, ptx.SM80},
}
