package limited

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// The largest inputs that commands read. They are far above what compilers and people write.
const (
	Text  = 256 << 20 // a PTX file
	Small = 64 << 20  // a JSON file
)

// ReadFile reads a file that the user has named. It may be a pipe, such as the shell makes for
// <(command), or a device.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

// ReadAll reads to the end, which must come after at most most bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, tooLarge(most)
	}
	return data, err
}

// ReadIn reads a regular file below a folder. A path or a symbolic link that leads out of the
// folder is an error.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	// Without O_NONBLOCK, opening a pipe waits until somebody writes to it.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return regular(f, most)
}

// ReadRegular reads a regular file.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return regular(f, most)
}

// regular reads a file and closes it.
func regular(f *os.File, most int64) ([]byte, error) {
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a regular file")
	case info.Size() > most:
		return nil, tooLarge(most)
	}
	return ReadAll(f, most)
}

func tooLarge(most int64) error {
	if most >= 1<<20 {
		return fmt.Errorf("it is larger than the limit of %d MiB", most>>20)
	}
	return fmt.Errorf("it is larger than the limit of %d bytes", most)
}
