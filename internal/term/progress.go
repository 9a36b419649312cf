package term

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Progress is a line that says what is being done. It appears when the work takes longer
// than a second. On a terminal it is redrawn in place and removed at the end.
type Progress struct {
	out   io.Writer
	plain bool // whether out is no terminal: each line stays
	start time.Time
	stop  chan struct{}
	done  chan struct{}

	mu    sync.Mutex
	lead  string // the bar, or ""
	text  string
	shown bool
}

const (
	progressDelay = time.Second
	progressTick  = 250 * time.Millisecond
	plainTick     = 10 * time.Second
)

// StartProgress shows progress on out if out is a terminal. The caller calls Stop.
func StartProgress(out io.Writer) *Progress {
	p := newProgress(out)
	if !IsTerminal(out) {
		close(p.done)
		return p
	}
	go p.run(progressDelay, progressTick)
	return p
}

// StartLines shows progress on out, one line every ten seconds if out is no terminal. The
// caller calls Stop.
func StartLines(out io.Writer) *Progress {
	if IsTerminal(out) {
		return StartProgress(out)
	}
	p := newProgress(out)
	p.plain = true
	go p.run(progressDelay, plainTick)
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
	text := []rune(p.text)
	text = text[:min(most-len([]rune(p.lead)), len(text))]
	line := fmt.Sprintf("%s%s (%.0f s)", p.lead, string(text), time.Since(p.start).Seconds())
	if p.plain {
		fmt.Fprintln(p.out, line)
		return
	}
	fmt.Fprint(p.out, "\r\x1b[K"+line)
	p.shown = true
}

// most is the number of columns of the line. A line that wraps cannot be erased.
const most = 64

// Share puts a bar in front of the line: done is the finished share of the work, from 0 to
// 1, and left is the time that the rest takes, or 0 when it is not known.
func (p *Progress) Share(done float64, left time.Duration) {
	const cells = 12
	done = min(max(done, 0), 1)
	full := int(done*cells + 0.5)
	lead := fmt.Sprintf("%s%s %2.0f %% ", strings.Repeat("━", full), strings.Repeat("╌", cells-full), 100*done)
	if left > 0 {
		left = left.Round(time.Second)
		lead += fmt.Sprintf("%d:%02d left ", int(left.Minutes()), int(left.Seconds())%60)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lead = lead
}

// Say sets the text of the line.
func (p *Progress) Say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = Clean(fmt.Sprintf(format, args...))
}

// Print erases the line and runs print. The line reappears at its next tick.
func (p *Progress) Print(print func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hide()
	print()
}

// Stop erases the line and ends it.
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
