package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a number of bytes as a flag: 512MiB, 8GiB, 1000000.
type Bytes int64

var units = []struct {
	name string
	size Bytes
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// Set parses a flag.
func (b *Bytes) Set(s string) error {
	number, size := s, Bytes(1)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			number, size = rest, u.size
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(size) {
		return fmt.Errorf("use a number of bytes such as 512MiB or 8GiB")
	}
	*b = Bytes(n) * size
	return nil
}

func (b *Bytes) String() string {
	for _, u := range units {
		if *b != 0 && *b%u.size == 0 {
			return strconv.FormatInt(int64(*b/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type returns the word for the value in help texts.
func (b *Bytes) Type() string { return "bytes" }
