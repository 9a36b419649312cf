package emu

import (
	"fmt"
	"strconv"
	"strings"
)

// SourceName is the name that a variable of a function has in C++: nvcc calls "tile" of
// the kernel k(float*) _ZZ1kPfE4tile.
func SourceName(name string) string {
	if !strings.HasPrefix(name, "_ZZ") {
		return name
	}
	for i := len(name) - 1; i > 3; i-- {
		digits := 0
		for i+1+digits < len(name) && name[i+1+digits] >= '0' && name[i+1+digits] <= '9' {
			digits++
		}
		if name[i] != 'E' || digits == 0 {
			continue
		}
		n, err := strconv.Atoi(name[i+1 : i+1+digits])
		if rest := name[i+1+digits:]; err == nil && n > 0 && (n == len(rest) || n < len(rest) && rest[n] == '_') {
			return rest[:n]
		}
	}
	return name
}

// sharedName is what lies at an offset of the block's shared memory: variable+offset.
func (b *block) sharedName(off int) string {
	name, base := "", 0
	for _, v := range b.kernel.sharedVars(b.launch.Shared) {
		if v.Offset <= off {
			name, base = SourceName(v.Name), v.Offset
		}
	}
	switch {
	case name == "":
		return fmt.Sprintf("%#x", off)
	case off == base:
		return name
	}
	return fmt.Sprintf("%s+%#x", name, off-base)
}
