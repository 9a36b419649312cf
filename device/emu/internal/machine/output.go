package machine

import (
	"io"
	"sync"
)

// output writes the text that clusters print. It writes in the order of the clusters, even
// if they end in a different order.
type output struct {
	mu     sync.Mutex
	Writer io.Writer
	next   int
	held   map[int][]byte
}

// emit receives the text that cluster i has printed. It holds the text back until all
// earlier clusters have ended.
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

// flush writes the text that is held back because an earlier cluster did not end.
func (o *output) flush() {
	for i, left := o.next, len(o.held); left > 0; i++ {
		if text, ok := o.held[i]; ok {
			o.Writer.Write(text)
			left--
		}
	}
}
