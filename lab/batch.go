package lab

import (
	"math/rand/v2"

	"github.com/GOATnote-Inc/attest/problem"
)

// pageSizes are the sizes of pages that the lab tries, usual ones first. A kernel may take a size for a power of 2.
var pageSizes = []int{16, 8, 64, 4, 1, 32, 128, 256, 48, 12, 3, 100}

// fewestSequences is the number of sequences that batches of different lengths have at least: a
// full one, a shorter one, and one that may be empty.
const fewestSequences = 3

// drawBatch draws the lengths of the sequences of a shape, and the pages in which they lie, for a
// kernel that reads them from memory. One sequence is full in Q and in K and V. If the kernel does
// not support sequences without keys or rows, there are none. With own, the batch has the page
// size and the lengths that the subject was given. With whole, all sequences are full.
func (m *measurement) drawBatch(s problem.Shape, own, whole bool, r *rand.Rand) problem.Batch {
	p := m.s.At(s)
	if !p.Ragged() {
		return problem.Batch{}
	}
	given := own && (p.LengthsQ != "" || p.LengthsKV != "")
	if !own {
		p.LengthsQ, p.LengthsKV = "", ""
	}
	if p.Keys == problem.Paged && (!own || m.s.given.PageSize == 0) {
		p.PageSize = m.drawPageSize(s, r)
	}
	more := s
	more.Sq = s.Skv + 1
	keyless := m.s.ServesShape(more) == nil // the kernel supports causal rows that see no key
	leasts := []int{0, 1, 16, max(s.Sq, s.Skv)}
	if whole {
		leasts = leasts[3:]
	}
	for _, least := range leasts {
		full := r.IntN(s.B)
		q, kv := drawLengths(r, s.B, s.Sq, least, full), drawLengths(r, s.B, s.Skv, least, full)
		for b := range q {
			if p.Appends && p.Queries == problem.Uniform {
				kv[b] = max(kv[b], s.Sq)
			}
			keyless := keyless && b != full && r.IntN(4) == 0
			if (p.Causal && kv[b] > 0 && !keyless || p.Appends) && p.Queries != problem.Uniform {
				q[b] = min(q[b], kv[b])
			}
			if p.Causal && kv[b] > 0 && !keyless && p.Queries == problem.Uniform {
				kv[b] = max(kv[b], min(s.Sq, s.Skv))
			}
		}
		p.Pages, p.TableWidth = 0, 0
		if p.Queries != problem.Uniform && !given {
			p.LengthsQ = problem.NewLengths(q)
		}
		if p.Keys != problem.Uniform && !given {
			p.LengthsKV = problem.NewLengths(kv)
		}
		if p.Keys == problem.Paged {
			p.Pages = int(p.Names()["kv_pages"].Int64()) + 1 + r.IntN(4)
			if m.s.ArgsUse("max_pages") { // otherwise the kernel derives it from Skv
				p.TableWidth = p.PagesOf(s.Skv) + r.IntN(3)
			}
		}
		if m.s.serves(p) == nil {
			break
		}
	}
	return p.Batch
}

// drawPageSize draws one of the page sizes that the kernel supports for a shape.
func (m *measurement) drawPageSize(s problem.Shape, r *rand.Rand) int {
	var sizes []int
	for _, size := range pageSizes {
		p := m.s.At(s)
		if p.PageSize = size; m.s.serves(p) == nil {
			sizes = append(sizes, size)
		}
	}
	if len(sizes) == 0 {
		return m.s.Problem.PageSize
	}
	return sizes[r.IntN(len(sizes))]
}

// drawLengths draws n lengths. One is full, at least one other is not zero, and of the rest some
// are equal to least.
func drawLengths(r *rand.Rand, n, most, least, full int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = max(least, 1) + r.IntN(max(most-max(least, 1), 0)+1)
		if after := (i - full + n) % n; after == 0 || least > most {
			list[i] = most
		} else if after > 1 && r.IntN(3) == 0 {
			list[i] = least
		}
	}
	return list
}

// broaden gives the small shapes of a plan more sequences if their lengths can differ. Shapes with
// arguments that the subject was given are the user's.
func (m *measurement) broaden() {
	if !m.s.Problem.Ragged() {
		return
	}
	more := func(s *problem.Shape) {
		wide := *s
		if wide.D == 0 {
			wide = wide.WithHeadDim(m.heads)
		}
		if wide.B = max(wide.B, fewestSequences); m.s.ServesShape(wide) == nil && wide.FLOP() < mostWatchedFLOP {
			s.B = wide.B
		}
	}
	for i := range m.p.Defects.Shapes {
		if !m.p.Defects.Own {
			more(&m.p.Defects.Shapes[i])
		}
	}
	for i := range m.p.Cases {
		if !m.p.Cases[i].Own {
			more(&m.p.Cases[i].Shape)
		}
	}
}
