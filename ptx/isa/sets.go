package isa

import (
	"strings"

	"github.com/GOATnote-Inc/attest/ptx"
)

// sets holds the slots that have the same modifiers in every form.
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

// modNeeds maps a modifier to its needs in every form.
var modNeeds = map[string]Needs{
	"shared::cta":     {ptx.Version{Major: 7, Minor: 8}, ptx.Target{}},
	"shared::cluster": {ptx.Version{Major: 7, Minor: 8}, ptx.SM90},
	"cluster":         {ptx.Version{Major: 7, Minor: 8}, ptx.SM90},
	"param::entry":    {ptx.Version{Major: 8, Minor: 3}, ptx.Target{}},
	"param::func":     {ptx.Version{Major: 8, Minor: 3}, ptx.Target{}},
	"L2::cache_hint":  {ptx.Version{Major: 7, Minor: 4}, ptx.SM80},
	"L2::64B":         {ptx.Version{Major: 7, Minor: 4}, ptx.Target{SM: 75}},
	"L2::128B":        {ptx.Version{Major: 7, Minor: 4}, ptx.Target{SM: 75}},
	"L2::256B":        {ptx.Version{Major: 7, Minor: 4}, ptx.SM80},
	"weak":            {ptx.Version{Major: 6}, ptx.Target{SM: 70}},
	"relaxed":         {ptx.Version{Major: 6}, ptx.Target{SM: 70}},
	"acquire":         {ptx.Version{Major: 6}, ptx.Target{SM: 70}},
	"release":         {ptx.Version{Major: 6}, ptx.Target{SM: 70}},
	"acq_rel":         {ptx.Version{Major: 6}, ptx.Target{SM: 70}},
}
