//go:build !linux

package replicate

import (
	"os/exec"
	"strconv"
	"strings"
)

// memoryOf returns the bytes of a process that are in memory. The second value is false if
// the process has ended.
func memoryOf(pid int) (int64, bool) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, false
	}
	kib, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kib << 10, err == nil
}
