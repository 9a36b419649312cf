package ref

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/fp8"
	"github.com/GOATnote-Inc/attest/problem"
)

// Places says where the tensors of a problem lie in memory. Tests compute with tensors
// [B,H,S,D] in which all sequences are full; kernels may want another layout, packed sequences
// or pages.
type Places struct {
	Q, KV         RowPlaces // the rows of Q and O, and the rows of K and V
	Qs, KVs       RowPlaces // the scales, if each row has its own
	LSE           RowPlaces
	New           RowPlaces // where the new rows of K and V lie, if the kernel appends them
	Queries, Keys []int     // the lengths of the sequences
	table         [][]int   // the pages of each sequence
}

// RowPlaces maps the rows of a tensor [B,H,S] to rows in memory.
type RowPlaces struct {
	// at holds the row in memory of each row, -1 for rows that a kernel must neither use nor
	// write. nil is the identity.
	at    []int
	total int // rows in memory
}

// NewPlaces returns the places for a problem. The seed decides where pages lie.
func NewPlaces(p problem.Attention, seed uint64) *Places {
	p = p.Filled()
	x := &Places{Queries: p.QueryLengths(), Keys: p.KeyLengths()}
	x.Q, x.LSE = placed(p.Layout, p.Queries, p.Q(), x.Queries), placed(problem.BHSD, p.Queries, p.Q(), x.Queries)
	if p.Keys == problem.Paged {
		x.KV = x.inPages(p, rand.New(rand.NewPCG(seed, pageStream)))
	} else {
		x.KV = placed(p.Layout, p.Keys, p.K(), x.Keys)
	}
	if p.Appends {
		d := p.Q()
		d.H = p.Hkv
		x.New = placed(p.Layout, p.Queries, d, x.Queries)
	}
	switch p.Scaling {
	case problem.PerToken:
		x.Qs, x.KVs = x.Q, x.KV
	case problem.PerPage:
		x.KVs = x.pageScales(p)
	case problem.PerBlock:
		x.Qs = placed(p.Layout, p.Queries, inBlocks(p.Q(), p.ScaleBlockQ), blocksOf(x.Queries, p.ScaleBlockQ))
		x.KVs = placed(p.Layout, p.Keys, inBlocks(p.K(), p.ScaleBlockKV), blocksOf(x.Keys, p.ScaleBlockKV))
	}
	return x
}

// pageStream separates the random numbers of pages from others of the same seed.
const pageStream = 0x9a

// inBlocks returns the extents of a tensor with one row per block of rows.
func inBlocks(d fp8.Dims, rows int) fp8.Dims {
	d.S = (d.S + rows - 1) / rows
	return d
}

func blocksOf(lengths []int, rows int) (blocks []int) {
	for _, n := range lengths {
		blocks = append(blocks, (n+rows-1)/rows)
	}
	return blocks
}

// placed returns the places of the rows of sequences that are not in pages.
func placed(l problem.Layout, place problem.Placement, d fp8.Dims, lengths []int) RowPlaces {
	if place == problem.Uniform && l != problem.BSHD {
		return RowPlaces{total: d.Rows()}
	}
	r := RowPlaces{at: make([]int, d.Rows()), total: d.Rows()}
	sum := d.S * d.B // the rows of a head in all sequences
	if place == problem.Packed {
		sum = 0
		for _, n := range lengths {
			sum += n
		}
		r.total = sum * d.H
	}
	start := 0 // the row of a head where the sequence begins
	for b := range d.B {
		for h := range d.H {
			for s := range d.S {
				to := (b*d.H+h)*d.S + s
				switch {
				case place != problem.Uniform && s >= lengths[b]:
					to = -1
				case l == problem.BSHD:
					to = (start+s)*d.H + h
				case place == problem.Packed:
					to = h*sum + start + s
				}
				r.at[d.Row(b, h, s)] = to
			}
		}
		if place == problem.Packed {
			start += lengths[b]
		} else {
			start += d.S
		}
	}
	return r
}

// inPages gives each sequence its pages, in random order, and returns the places of the rows.
func (x *Places) inPages(p problem.Attention, r *rand.Rand) RowPlaces {
	d := p.K()
	pages := int(p.Names()["pages"].Int64())
	free := r.Perm(pages)
	rows := RowPlaces{at: make([]int, d.Rows()), total: pages * d.H * p.PageSize}
	for b, n := range x.Keys {
		used := p.PagesOf(n)
		x.table, free = append(x.table, free[:used]), free[used:]
		for h := range d.H {
			for s := range d.S {
				to := -1
				if s < n {
					page, row := x.table[b][s/p.PageSize], s%p.PageSize
					to = (page*d.H+h)*p.PageSize + row
					if p.Layout == problem.BSHD {
						to = (page*p.PageSize+row)*d.H + h
					}
				}
				rows.at[d.Row(b, h, s)] = to
			}
		}
	}
	return rows
}

// pageScales returns the places of the scales of pages: [pages,H].
func (x *Places) pageScales(p problem.Attention) RowPlaces {
	d := inBlocks(p.K(), p.PageSize)
	rows := RowPlaces{at: make([]int, d.Rows()), total: int(p.Names()["pages"].Int64()) * d.H}
	for i := range rows.at {
		rows.at[i] = -1
	}
	for b, pages := range x.table {
		for n, page := range pages {
			for h := range d.H {
				rows.at[d.Row(b, h, n)] = page*d.H + h
			}
		}
	}
	return rows
}

// unused fills rows in memory that belong to no row of a sequence. It is NaN in every format.
const unused = 0xff

// Scatter returns the memory of a tensor [B,H,S] whose rows have n bytes. Rows in memory that
// belong to no row of a sequence are NaN.
func (r RowPlaces) Scatter(data []byte, n int) []byte {
	if r.at == nil {
		return data
	}
	out := bytes.Repeat([]byte{unused}, r.total*n)
	for i, at := range r.at {
		if at >= 0 {
			copy(out[at*n:(at+1)*n], data[i*n:])
		}
	}
	return out
}

// FillUnused overwrites the rows in memory that belong to no row of a sequence. Each of them gets a row
// of from, which has rows of n bytes: the one that pick returns for a number of rows.
func (r RowPlaces) FillUnused(memory []byte, n int, from []byte, pick func(rows int) int) {
	if r.at == nil || len(from) < n {
		return
	}
	used := make([]bool, r.total)
	for _, at := range r.at {
		if at >= 0 {
			used[at] = true
		}
	}
	for i, kept := range used {
		if !kept {
			at := n * pick(len(from)/n)
			copy(memory[i*n:(i+1)*n], from[at:at+n])
		}
	}
}

// Identity reports whether all rows lie in memory as in the tensor.
func (r RowPlaces) Identity() bool { return r.at == nil }

// Rows returns the number of rows in memory of a tensor with extents d.
func (r RowPlaces) Rows(d fp8.Dims) int {
	if r.at == nil {
		return d.Rows()
	}
	return r.total
}

// Gather returns the tensor [B,H,S] in a memory. Rows without a place are zero.
func (r RowPlaces) Gather(data []byte, n int) []byte {
	if r.at == nil {
		return data
	}
	out := make([]byte, len(r.at)*n)
	for i, at := range r.at {
		if at >= 0 {
			copy(out[i*n:(i+1)*n], data[at*n:])
		}
	}
	return out
}

// Operands returns the contents of the operands that describe a batch.
func (x *Places) Operands(p problem.Attention) map[string][]byte {
	p = p.Filled()
	data := map[string][]byte{
		"cu_seqlens_q": int32s(offsets(x.Queries)), "seqused_q": int32s(x.Queries),
		"cu_seqlens_k": int32s(offsets(x.Keys)), "seqused_k": int32s(x.Keys),
	}
	if p.Appends {
		data["cache_seqlens"] = int32s(x.before())
	}
	if p.Keys != problem.Paged {
		return data
	}
	if p.Appends {
		data["slot_mapping"] = x.slots(p)
	}
	width := int(p.Names()["max_pages"].Int64())
	var table, indices, last, counts []int
	for b, pages := range x.table {
		row := append([]int{}, pages...)
		for len(row) < width {
			row = append(row, -1) // a kernel must not use it
		}
		table, indices, counts = append(table, row...), append(indices, pages...), append(counts, len(pages))
		last = append(last, x.Keys[b]-max(len(pages)-1, 0)*p.PageSize)
	}
	data["page_table"], data["kv_indices"], data["kv_indptr"], data["kv_last_page_len"] = int32s(table), int32s(indices), int32s(offsets(counts)), int32s(last)
	return data
}

// before returns the lengths of the sequences of K and V without the new rows.
func (x *Places) before() (lengths []int) {
	for b, n := range x.Keys {
		lengths = append(lengths, n-x.Queries[b])
	}
	return lengths
}

// slots returns, for each new row of K and V, the row of the pages that it belongs to, or -1.
func (x *Places) slots(p problem.Attention) (data []byte) {
	for b, first := range x.before() {
		for i := range p.Sq {
			slot := int64(-1)
			if i < x.Queries[b] {
				at := first + i
				slot = int64(x.table[b][at/p.PageSize]*p.PageSize + at%p.PageSize)
			} else if p.Queries == problem.Packed {
				continue
			}
			data = binary.LittleEndian.AppendUint64(data, uint64(slot))
		}
	}
	return data
}

// offsets returns where sequences of some lengths begin, and where the last one ends.
func offsets(lengths []int) []int {
	list := []int{0}
	for _, n := range lengths {
		list = append(list, list[len(list)-1]+n)
	}
	return list
}

func int32s(list []int) []byte {
	var data []byte
	for _, n := range list {
		data = binary.LittleEndian.AppendUint32(data, uint32(int32(n)))
	}
	return data
}
