package verify

import (
	"slices"

	"github.com/GOATnote-Inc/attest/ptx"
)

// async reports asynchronous work that an entry starts and never waits for. It does not
// check an entry that calls functions, because a function may wait.
func (k *checker) async(c *code) {
	if !k.fn.Entry {
		return
	}
	var first [numAsync]int
	for i := range first {
		first[i] = -1
	}
	for i := range c.at {
		in := c.at[i].in
		if in == nil {
			continue
		}
		if in.Op.Name == "call" {
			return
		}
		if a := asyncKind(in.Op); a != asyncNone && first[a] < 0 {
			first[a] = i
		}
	}
	for _, r := range asyncRules {
		if i := first[r.starts]; i >= 0 && !followed(&first, r.then) {
			k.warnf(i, c.at[i].in.Pos, "async-unwaited", "%s: %s", c.at[i].in.Op.Text, r.msg)
		}
	}
}

// asyncStep is what an instruction does to asynchronous work.
type asyncStep uint8

const (
	asyncNone asyncStep = iota
	copyStart
	copyCommit
	copyWait
	copyArrive
	bulkStart // starts work in a bulk group
	bulkCommit
	bulkWait
	mmaStart
	mmaCommit
	mmaWait
	mbarInit
	mbarWait
	numAsync
)

// asyncRules say which step must follow which. If the second step is missing, the result
// may be read before it is there.
var asyncRules = []struct {
	starts asyncStep
	then   []asyncStep // any of these
	msg    string
}{
	{copyStart, []asyncStep{copyCommit, copyWait, copyArrive}, "no cp.async.commit_group, cp.async.wait_all or cp.async.mbarrier.arrive follows the copy"},
	{copyCommit, []asyncStep{copyWait, copyArrive}, "no cp.async.wait_group or cp.async.wait_all waits for the group"},
	{bulkStart, []asyncStep{bulkCommit}, "no cp.async.bulk.commit_group follows the copy"},
	{bulkCommit, []asyncStep{bulkWait}, "no cp.async.bulk.wait_group waits for the group; its shared memory must outlive the copy"},
	{mmaStart, []asyncStep{mmaCommit}, "no wgmma.commit_group follows the product"},
	{mmaCommit, []asyncStep{mmaWait}, "no wgmma.wait_group waits for the group, so its registers are never ready"},
	{mbarInit, []asyncStep{mbarWait}, "nothing waits on an mbarrier (mbarrier.test_wait or mbarrier.try_wait)"},
}

// followed reports whether any of the steps occurs.
func followed(first *[numAsync]int, steps []asyncStep) bool {
	return slices.ContainsFunc(steps, func(s asyncStep) bool { return first[s] >= 0 })
}

// asyncSteps name the steps by opcode and a modifier. The first entry that fits decides.
var asyncSteps = map[string][]struct {
	mod  string
	step asyncStep
}{
	"cp":       {{"commit_group", copyCommit}, {"wait_group", copyWait}, {"wait_all", copyWait}, {"mbarrier", copyArrive}, {"async", copyStart}},
	"cp.bulk":  {{"commit_group", bulkCommit}, {"wait_group", bulkWait}, {"bulk_group", bulkStart}},
	"wgmma":    {{"commit_group", mmaCommit}, {"wait_group", mmaWait}, {"mma_async", mmaStart}},
	"mbarrier": {{"init", mbarInit}, {"test_wait", mbarWait}, {"try_wait", mbarWait}},
}

func asyncKind(op *ptx.Opcode) asyncStep {
	name := op.Name
	if name == "cp" && op.Has("bulk") {
		name = "cp.bulk"
	}
	for _, s := range asyncSteps[name] {
		if op.Has(s.mod) {
			return s.step
		}
	}
	return asyncNone
}
