package observe

import (
	"strconv"
	"strings"
)

// SourceName returns the name that a function's variable has in C++. nvcc calls the
// variable "tile" of the kernel k(float*) _ZZ1kPfE4tile.
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
