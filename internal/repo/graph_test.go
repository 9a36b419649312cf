package repo

import (
	"cmp"
	"slices"
)

// graph is a drawing of boxes in layers, with an arrow from each box to the boxes that
// build on it. The layout is deterministic: the same boxes and arrows give the same
// coordinates.
type graph struct {
	boxes  []*box
	arrows [][2]int // from and to, as indices of boxes
	layers [][]*box // from top to bottom
	w, h   float64
}

// box is a rectangle with a title and lines of text, or a bend of an arrow that crosses a
// layer.
type box struct {
	title    string
	lines    []string
	bend     bool
	layer    int
	x, w, h  float64 // the horizontal centre and the size
	top      float64 // the upper edge of the box and of its layer
	bottom   float64 // the lower edge of the layer
	up, down []*box
}

// Distances in pixels.
const (
	gapAcross = 28
	gapDown   = 46
	margin    = 16
	bendWidth = 10
)

// reduce returns the arrows without those that a path of other arrows implies.
func reduce(n int, arrows map[[2]int]bool) (kept [][2]int) {
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = make([]bool, n)
		for j := range reach[i] {
			reach[i][j] = arrows[[2]int{i, j}]
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reach[i][j] = reach[i][j] || reach[i][k] && reach[k][j]
			}
		}
	}
	for i := range n {
		for j := range n {
			implied := false
			for k := range n {
				implied = implied || reach[i][k] && reach[k][j]
			}
			if arrows[[2]int{i, j}] && !implied {
				kept = append(kept, [2]int{i, j})
			}
		}
	}
	return kept
}

// layout computes the positions of all boxes. The boxes must be in an order in which every
// arrow goes from an earlier box to a later one.
func (g *graph) layout() {
	for _, b := range g.boxes {
		b.layer = 0
	}
	for to := range g.boxes { // the layer is the length of the longest path to the box
		for _, a := range g.arrows {
			if a[1] == to {
				g.boxes[to].layer = max(g.boxes[to].layer, g.boxes[a[0]].layer+1)
			}
		}
	}
	for i := range g.boxes {
		g.place(g.boxes[i])
	}
	for _, a := range g.arrows {
		g.join(g.boxes[a[0]], g.boxes[a[1]])
	}
	for range 12 {
		for i := 1; i < len(g.layers); i++ {
			order(g.layers[i], func(b *box) []*box { return b.up })
		}
		for i := len(g.layers) - 2; i >= 0; i-- {
			order(g.layers[i], func(b *box) []*box { return b.down })
		}
	}
	g.positions()
}

// place appends a box to its layer.
func (g *graph) place(b *box) {
	for len(g.layers) <= b.layer {
		g.layers = append(g.layers, nil)
	}
	b.x = float64(len(g.layers[b.layer]))
	g.layers[b.layer] = append(g.layers[b.layer], b)
}

// join connects two boxes, with a bend in each layer between them.
func (g *graph) join(from, to *box) {
	for layer := from.layer + 1; layer < to.layer; layer++ {
		b := &box{bend: true, layer: layer, w: bendWidth}
		g.place(b)
		from.down, b.up = append(from.down, b), append(b.up, from)
		from = b
	}
	from.down, to.up = append(from.down, to), append(to.up, from)
}

// order sorts the boxes of a layer by the mean x of their neighbours, and sets x to the index
// of the box.
func order(layer []*box, neighbours func(*box) []*box) {
	want := map[*box]float64{}
	for _, b := range layer {
		want[b] = mean(neighbours(b), b.x)
	}
	slices.SortStableFunc(layer, func(a, b *box) int { return cmp.Compare(want[a], want[b]) })
	for i, b := range layer {
		b.x = float64(i)
	}
}

// mean returns the mean x of the boxes. If there are no boxes, it returns otherwise.
func mean(boxes []*box, otherwise float64) float64 {
	if len(boxes) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, b := range boxes {
		sum += b.x
	}
	return sum / float64(len(boxes))
}

// positions turns the order within layers into coordinates. Each box moves towards its
// neighbours in other layers as far as the boxes beside it allow.
func (g *graph) positions() {
	y := float64(margin)
	for _, layer := range g.layers {
		tallest, width := 0.0, -float64(gapAcross)
		for _, b := range layer {
			tallest = max(tallest, b.h)
			width += b.w + gapAcross
		}
		x := -width / 2
		for _, b := range layer {
			b.x, b.top, b.bottom = x+b.w/2, y, y+tallest
			x += b.w + gapAcross
		}
		y += tallest + gapDown
	}
	g.h = y - gapDown + margin
	for range 40 {
		for _, layer := range g.layers {
			for _, b := range layer {
				b.x += 0.5 * (mean(append(slices.Clone(b.up), b.down...), b.x) - b.x)
			}
			spread(layer)
		}
	}
	left, right := g.layers[0][0].x, g.layers[0][0].x
	for _, layer := range g.layers {
		for _, b := range layer {
			left, right = min(left, b.x-b.w/2), max(right, b.x+b.w/2)
		}
	}
	for _, layer := range g.layers {
		for _, b := range layer {
			b.x += margin - left
		}
	}
	g.w = right - left + 2*margin
}

// spread moves the boxes of a layer apart until they do not overlap. Both boxes of a pair
// move by half of their overlap.
func spread(layer []*box) {
	for range 60 {
		for i := 1; i < len(layer); i++ {
			a, b := layer[i-1], layer[i]
			if over := a.x + a.w/2 + gapAcross - (b.x - b.w/2); over > 0 {
				a.x -= over / 2
				b.x += over / 2
			}
		}
	}
}
