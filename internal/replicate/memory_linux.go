package replicate

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// memoryOf returns the bytes of a process that are in memory. The second value is false if
// the process has ended.
func memoryOf(pid int) (int64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text) // size, resident, …, in pages
	if len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}
