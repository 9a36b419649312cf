package term

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Progress is a line that says what is being done, for work that takes longer
// than a moment. It appears after a delay, only on a terminal, and is gone when
// the work is.
type Progress struct {
	out   io.Writer
	start time.Time
	stop  chan struct{}
	done  chan struct{}

	mu    sync.Mutex
	text  string
	shown bool
}

const (
	progressDelay = 2 * time.Second
	progressTick  = 250 * time.Millisecond
)

// StartProgress watches over work that reports to out. The caller calls Stop.
func StartProgress(out io.Writer) *Progress {
	p := newProgress(out)
	if !IsTerminal(out) {
		close(p.done)
		return p
	}
	go p.run(progressDelay, progressTick)
	return p
}

func newProgress(out io.Writer) *Progress {
	return &Progress{out: out, start: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
}

func (p *Progress) run(delay, tick time.Duration) {
	defer close(p.done)
	wait := time.NewTimer(delay)
	defer wait.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-wait.C:
			p.draw()
			wait.Reset(tick)
		}
	}
}

func (p *Progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "\r\x1b[K%s (%.0f s)", p.text, time.Since(p.start).Seconds())
	p.shown = true
}

// Say sets what is being done.
func (p *Progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := []rune(Clean(fmt.Sprintf(format, args...)))
	const most = 64 // a line that wraps cannot be erased
	p.text = string(text[:min(most, len(text))])
}

// Print runs print while the line is out of its way.
func (p *Progress) Print(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	print()
}

// Stop ends the line.
func (p *Progress) Stop() {
	close(p.stop)
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
}

func (p *Progress) hide() {
	if p.shown {
		io.WriteString(p.out, "\r\x1b[K")
		p.shown = false
	}
}
