package launchfile

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// decode returns the bytes of a data file. If the name says that the file is text, decode parses
// it. The text may describe at most most bytes: a few words can repeat a value so often that no
// memory holds it.
func decode(name string, content []byte, most int64) ([]byte, error) {
	base, isText := strings.CutSuffix(name, ".txt")
	if !isText {
		return content, nil
	}
	kind := base[strings.LastIndexByte(base, '.')+1:]
	e := elemNamed(kind)
	if e == nil && kind != "hex" || kind == base {
		return content, nil
	}
	var out []byte
	n := 0
	for line := range bytes.Lines(content) {
		n++
		text, _, _ := strings.Cut(string(line), "#")
		for _, word := range strings.Fields(text) {
			var err error
			if e == nil {
				out, err = appendHex(out, word)
			} else {
				out, err = e.appendWord(out, word, most)
			}
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	return out, nil
}

func appendHex(out []byte, word string) ([]byte, error) {
	b, err := hex.DecodeString(word)
	if err != nil {
		return nil, fmt.Errorf("%q is not hexadecimal bytes", word)
	}
	return append(out, b...), nil
}

// maxRepeats is the largest number of values that one word of text may stand for.
const maxRepeats = 1 << 24

// appendWord appends the values that one word stands for: a value, value*count or
// first..last.
func (e *elem) appendWord(out []byte, word string, most int64) ([]byte, error) {
	if first, last, ok := strings.Cut(word, ".."); ok {
		return e.appendRange(out, first, last, most)
	}
	value, times, repeated := strings.Cut(word, "*")
	count := uint64(1)
	if repeated {
		var err error
		if count, err = strconv.ParseUint(times, 10, 64); err != nil || count > maxRepeats {
			return nil, fmt.Errorf("%q repeats a value %q times, want a number up to %d", word, times, maxRepeats)
		}
	}
	bits, err := e.parse(value)
	if err != nil {
		return nil, err
	}
	if err := e.fits(out, int64(count), most); err != nil {
		return nil, err
	}
	return append(out, bytes.Repeat(e.append(nil, bits), int(count))...), nil
}

// fits returns an error if more elements make the data larger than most bytes.
func (e *elem) fits(out []byte, count, most int64) error {
	if int64(len(out))+count*int64(e.size) > most {
		return fmt.Errorf("the text describes more than %d bytes, which is the memory of the device", most)
	}
	return nil
}

func (e *elem) appendRange(out []byte, first, last string, most int64) ([]byte, error) {
	a, err := strconv.ParseInt(first, 10, 62)
	if err != nil {
		return nil, fmt.Errorf("%q is not an integer", first)
	}
	b, err := strconv.ParseInt(last, 10, 62)
	if err != nil {
		return nil, fmt.Errorf("%q is not an integer", last)
	}
	if b < a || b-a >= maxRepeats {
		return nil, fmt.Errorf("%d..%d is not a range of 1 to %d values", a, b, maxRepeats)
	}
	if err := e.fits(out, b-a+1, most); err != nil {
		return nil, err
	}
	for v := a; v <= b; v++ {
		bits, err := e.parse(strconv.FormatInt(v, 10))
		if err != nil {
			return nil, err
		}
		out = e.append(out, bits)
	}
	return out, nil
}
