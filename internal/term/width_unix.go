//go:build linux || darwin

package term

import (
	"syscall"
	"unsafe"
)

// columns asks the terminal.
func columns(fd uintptr) int {
	var size struct{ rows, cols, x, y uint16 }
	_, _, err := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	if err != 0 {
		return Unlimited
	}
	return int(size.cols)
}
