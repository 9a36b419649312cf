package attention

import (
	"errors"
	"fmt"

	"github.com/GOATnote-Inc/attest/device"
	"github.com/GOATnote-Inc/attest/internal/english"
	"github.com/GOATnote-Inc/attest/kernel"
)

// Buffers are the operands of a kernel in the memory of its device.
type Buffers struct {
	Q, K, V    device.Buffer // elements in the problem's formats, [B,H,S,D]; K and V have their own H and S, and V has its own D
	Qs, Ks, Vs device.Buffer // float32 scales above zero, as many as the problem's scaling has
	O          device.Buffer // elements in the problem's output type, [B,Hq,Sq,DV]
	LSE        device.Buffer // float32 [B,H,S], where the problem asks for it
	Sinks      device.Buffer // float32 [H], where the problem has sinks
	Mask       device.Buffer // bytes [B,Sq,Skv], 0 for keys that a query does not see, or bits, where the problem has a mask in memory

	// Where the sequences of a batch have different lengths: int32 each, as FlashAttention
	// names them.
	SeqUsedQ, SeqUsedK     device.Buffer // [B], the lengths of padded and paged sequences
	CuSeqlensQ, CuSeqlensK device.Buffer // [B+1], where packed sequences begin
	PageTable              device.Buffer // [B,columns], the pages of each sequence
}

// at returns the field for an operand, or nil for a workspace, which the caller does not
// give.
func (b *Buffers) at(operand string) *device.Buffer {
	switch operand {
	case "q":
		return &b.Q
	case "k":
		return &b.K
	case "v":
		return &b.V
	case "qs":
		return &b.Qs
	case "ks":
		return &b.Ks
	case "vs":
		return &b.Vs
	case "o":
		return &b.O
	case "lse":
		return &b.LSE
	case "sinks":
		return &b.Sinks
	case "mask":
		return &b.Mask
	}
	return b.batchAt(operand)
}

// batchAt is at for the operands that describe a batch.
func (b *Buffers) batchAt(operand string) *device.Buffer {
	switch operand {
	case "seqused_q":
		return &b.SeqUsedQ
	case "seqused_k":
		return &b.SeqUsedK
	case "cu_seqlens_q":
		return &b.CuSeqlensQ
	case "cu_seqlens_k":
		return &b.CuSeqlensK
	case "page_table":
		return &b.PageTable
	}
	return nil
}

// memory returns the memory of the operands of a plan: the caller's buffers and the workspaces,
// both of which it checks.
func (b *Buffers) memory(plan *kernel.Plan, spaces []device.Buffer) (list []device.Slice, err error) {
	for i, m := range plan.Memory {
		at := b.at(m.Name)
		if at == nil {
			if have := spaces[i].Size(); have < m.Bytes {
				return nil, fmt.Errorf("workspace %s has %s, it needs %d: the problem of New must be the largest", m.Name, english.Count(have, "byte"), m.Bytes)
			}
			list = append(list, device.Slice{Buffer: spaces[i]})
			continue
		}
		if err := check16(m, *at); err != nil {
			return nil, err
		}
		list = append(list, device.Slice{Buffer: *at})
	}
	return list, nil
}

// workspaces returns the kernel's workspaces for launches on a stream, at the places of their operands, with at least
// the sizes of a plan. A workspace that is too small is replaced. Earlier plans still use the old one, so it stays
// allocated until Close.
func (op *Op) workspaces(s device.Stream, plan *kernel.Plan) ([]device.Buffer, error) {
	if op.spaces[s] == nil {
		if op.spaces == nil {
			op.spaces = map[device.Stream][]device.Buffer{}
		}
		op.spaces[s] = make([]device.Buffer, len(plan.Memory))
	}
	for i, m := range plan.Memory {
		at, have := &op.spaces[s][i], int64(0)
		if *at != nil {
			have = (*at).Size()
		}
		if have >= m.Bytes || (&Buffers{}).at(m.Name) != nil {
			continue
		}
		buf, err := op.zeros(max(m.Bytes, 2*have)) // twice, so that old ones take no more memory than the last
		if err != nil {
			return nil, fmt.Errorf("workspace %s: %w", m.Name, err)
		}
		op.replaced, *at = append(op.replaced, *at), buf
	}
	return op.spaces[s], nil
}

// zeros allocates a buffer of zeros, which every kernel accepts as its workspace.
func (op *Op) zeros(bytes int64) (device.Buffer, error) {
	buf, err := op.dev.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	if err := buf.Write(0, make([]byte, bytes)); err != nil {
		return nil, errors.Join(err, buf.Free())
	}
	return buf, nil
}

// alloc allocates the buffers that are nil.
func (b *Buffers) alloc(op *Op) error {
	for _, m := range op.bound.Memory {
		at := b.at(m.Name)
		if at == nil || *at != nil {
			continue
		}
		buf, err := op.dev.Alloc(m.Bytes)
		if err != nil {
			return fmt.Errorf("buffer %s: %w", m.Name, err)
		}
		*at = buf
	}
	return nil
}

func (b *Buffers) free() (err error) {
	for _, at := range []*device.Buffer{&b.Q, &b.K, &b.V, &b.Qs, &b.Ks, &b.Vs, &b.O, &b.LSE} { // those of Run
		if *at != nil {
			err = errors.Join(err, (*at).Free())
			*at = nil
		}
	}
	return err
}

// clear fills the workspaces of a stream with zeros after a kernel was stopped, which leaves them as they are.
// Plans use them, so they stay where they are.
func (op *Op) clear(s device.Stream) (err error) {
	for _, buf := range op.spaces[s] {
		if buf != nil {
			err = errors.Join(err, buf.Write(0, make([]byte, buf.Size())))
		}
	}
	return err
}

// freeSpaces frees the workspaces of all streams.
func (op *Op) freeSpaces() (err error) {
	for _, list := range op.spaces {
		op.replaced = append(op.replaced, list...)
	}
	for _, buf := range op.replaced {
		if buf != nil {
			err = errors.Join(err, buf.Free())
		}
	}
	op.spaces, op.replaced = nil, nil
	return err
}
