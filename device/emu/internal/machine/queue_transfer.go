package machine

// Transfer is a copy that mbarriers count: it moves its bytes and then counts them as
// arrived at each mbarrier.
type Transfer struct {
	From  Origin
	Move  func()
	Bars  []BarRef
	Bytes int // at each mbarrier
	Work  uint64
}

// Start queues a transfer.
func (c *cluster) Start(t Transfer) {
	t.From.Frame.Warp.produces = true
	c.Async.transfers = append(c.Async.transfers, t)
	if c.Async.Early() {
		c.transferOne()
	}
}

// transferOne completes the oldest transfer.
func (c *cluster) transferOne() bool {
	q := &c.Async
	if len(q.transfers) == 0 {
		return false
	}
	t := q.transfers[0]
	q.transfers[0] = Transfer{}
	q.transfers = q.transfers[1:]
	t.Move()
	t.From.AnnounceCompletion(t.From.Lane, t.Work, false)
	for _, bar := range t.Bars {
		t.From.Misuse(t.From.Expect(bar, -int64(t.Bytes), t.Work))
	}
	c.changed()
	return true
}
