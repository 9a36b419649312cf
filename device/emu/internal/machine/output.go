package machine

import (
	"io"
	"sync"
)

// output writes what clusters print in the order of the clusters, whatever the order in
// which they end.
type output struct {
	mu     sync.Mutex
	Writer io.Writer
	next   int
	held   map[int][]byte
}

// emit takes what cluster i has printed.
func (o *output) emit(i int, text []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if i != o.next {
		if o.held == nil {
			o.held = map[int][]byte{}
		}
		o.held[i] = text
		return
	}
	for ok := true; ok; text, ok = o.held[o.next] {
		delete(o.held, o.next)
		if len(text) > 0 {
			o.Writer.Write(text)
		}
		o.next++
	}
}

// flush writes what is held back because an earlier cluster did not end.
func (o *output) flush() {
	for i, left := o.next, len(o.held); left > 0; i++ {
		if text, ok := o.held[i]; ok {
			o.Writer.Write(text)
			left--
		}
	}
}
