package ptx

import (
	"fmt"
	"strconv"
	"strings"
)

// Version is a PTX ISA version, as in ".version 8.4".
type Version struct{ Major, Minor int }

func (v Version) String() string { return strconv.Itoa(v.Major) + "." + strconv.Itoa(v.Minor) }

// Less reports whether v comes before w.
func (v Version) Less(w Version) bool {
	if v.Major != w.Major {
		return v.Major < w.Major
	}
	return v.Minor < w.Minor
}

// Target is a GPU architecture, as in ".target sm_90a".
type Target struct {
	SM int // 90 for sm_90
	// Feature is 'a' for code that runs on this architecture only (wgmma, setmaxnreg),
	// 'f' for code that runs on its family, and 0 for code that later architectures run, too.
	Feature byte
}

// The targets attest knows in full.
var (
	SM80  = Target{SM: 80}
	SM86  = Target{SM: 86}
	SM89  = Target{SM: 89}
	SM90  = Target{SM: 90}
	SM90a = Target{SM: 90, Feature: 'a'}
)

// Blackwell lists the targets of Blackwell, which attest knows in part.
var Blackwell = []Target{{100, 'a'}, {103, 'a'}, {120, 'a'}, {121, 'a'}}

func (t Target) String() string {
	if t.Feature == 0 {
		return "sm_" + strconv.Itoa(t.SM)
	}
	return "sm_" + strconv.Itoa(t.SM) + string(rune(t.Feature))
}

// Runs reports whether code that needs target need is legal for target t.
func (t Target) Runs(need Target) bool {
	switch need.Feature {
	case 'a':
		return t.SM == need.SM && t.Feature == 'a'
	case 'f':
		return t.SM >= need.SM && t.SM/10 == need.SM/10 && t.Feature != 0
	}
	return t.SM >= need.SM
}

// ParseTarget reads an architecture such as "sm_89" or "sm_90a".
func ParseTarget(s string) (Target, error) {
	digits, ok := strings.CutPrefix(s, "sm_")
	var t Target
	if ok && digits != "" {
		if c := digits[len(digits)-1]; c == 'a' || c == 'f' {
			t.Feature, digits = c, digits[:len(digits)-1]
		}
		n, err := strconv.Atoi(digits)
		if err == nil && n > 0 && n < 1000 && digits[0] != '+' {
			t.SM = n
			return t, nil
		}
	}
	return Target{}, fmt.Errorf("target %q is not an architecture such as sm_89 or sm_90a", s)
}

// MinVersion returns the first PTX version that has the target.
func (t Target) MinVersion() Version {
	switch {
	case t.SM >= 110 && t.SM < 120:
		return Version{9, 0}
	case t.Feature == 'f', t.SM >= 103 && t.SM != 120:
		return Version{8, 8}
	case t.SM >= 120:
		return Version{8, 7}
	case t.SM >= 100:
		return Version{8, 6}
	case t.Feature != 0:
		return Version{8, 0}
	case t.SM >= 89:
		return Version{7, 8}
	case t.SM >= 87:
		return Version{7, 4}
	case t.SM >= 86:
		return Version{7, 1}
	case t.SM >= 80:
		return Version{7, 0}
	case t.SM >= 75:
		return Version{6, 3}
	case t.SM >= 72:
		return Version{6, 1}
	case t.SM >= 70:
		return Version{6, 0}
	case t.SM >= 60:
		return Version{5, 0}
	case t.SM >= 53:
		return Version{4, 2}
	case t.SM >= 52 || t.SM == 37:
		return Version{4, 1}
	case t.SM >= 50 || t.SM == 32:
		return Version{4, 0}
	case t.SM >= 35:
		return Version{3, 1}
	case t.SM >= 30:
		return Version{3, 0}
	}
	return Version{2, 0}
}
