package workflows_test

import (
	"fmt"
	"math"
	"strings"
)

// Colours of a sticky note.
const (
	yellow = 1
	white  = 7
)

// box is what a node covers on the canvas. n8n draws a node 96 wide and high, with its name below.
type box struct{ left, top, right, bottom int }

func (n node) box() box {
	x, y := n.Position[0], n.Position[1]
	if n.kind() == "stickyNote" {
		return box{x, y, x + n.number("width"), y + n.number("height")}
	}
	return box{x, y, x + 100, y + 140}
}

func (n node) number(name string) int {
	v, ok := n.at(name).(interface{ Int64() (int64, error) })
	if !ok {
		return 0
	}
	i, _ := v.Int64()
	return int(i)
}

func (b box) meets(c box) bool {
	return b.left < c.right && c.left < b.right && b.top < c.bottom && c.top < b.bottom
}

func (b box) holds(c box) bool {
	return b.left <= c.left && c.right <= b.right && b.top <= c.top && c.bottom <= b.bottom
}

// noteFaults: one yellow overview of 100 to 300 words, and white notes of less than 50 for the sections.
func noteFaults(f file) (out []string) {
	overviews := 0
	for _, n := range f.Nodes {
		if n.kind() != "stickyNote" {
			continue
		}
		content := n.text("content")
		words := len(strings.Fields(content))
		switch n.number("color") {
		case yellow:
			overviews++
			if words < 100 || words > 300 || !strings.Contains(content, "How it works") || !strings.Contains(content, "Setup") {
				out = append(out, fmt.Sprintf("%s has %d words, or no \"How it works\" or \"Setup\"", n.Name, words))
			}
		case white:
			if words >= 50 {
				out = append(out, fmt.Sprintf("%s has %d words", n.Name, words))
			}
		default:
			out = append(out, n.Name+" is neither yellow nor white")
		}
	}
	if overviews != 1 {
		out = append(out, fmt.Sprintf("%d overview notes", overviews))
	}
	return out
}

// layoutFaults: nothing covers anything else, but a white note may frame nodes; the overview stands at the top left.
func layoutFaults(f file) (out []string) {
	left, top := math.MaxInt, math.MaxInt
	for _, n := range f.Nodes {
		left, top = min(left, n.Position[0]), min(top, n.Position[1])
	}
	for i, n := range f.Nodes {
		if n.number("color") == yellow && n.kind() == "stickyNote" && n.Position != [2]int{left, top} {
			out = append(out, n.Name+" is not at the top left")
		}
		for _, m := range f.Nodes[i+1:] {
			a, b := n.box(), m.box()
			framed := n.number("color") == white && a.holds(b) || m.number("color") == white && b.holds(a)
			if a.meets(b) && !framed {
				out = append(out, fmt.Sprintf("%s covers %s", n.Name, m.Name))
			}
		}
	}
	for _, e := range f.edges() {
		to, _ := f.find(e.to)
		if to.Position[0] <= e.from.Position[0] && !f.leads(e.to, e.from.Name) {
			out = append(out, fmt.Sprintf("the arrow from %s to %s points left and is no loop", e.from.Name, e.to))
		}
		for _, n := range f.Nodes {
			if n.kind() != "stickyNote" && to.Position[0] < e.from.Position[0] && n.box().meets(wayBack(e.from, to)) {
				out = append(out, fmt.Sprintf("the arrow back from %s to %s runs through %s", e.from.Name, e.to, n.Name))
			}
		}
	}
	return out
}

// wayBack is the long part of an arrow that points left: n8n draws it 130 below the middle of the node it leaves.
func wayBack(from, to node) box {
	y := from.Position[1] + 48 + 130
	return box{to.Position[0], y - 5, from.Position[0] + 100, y + 5}
}

// leads says whether there is a way from one node to the other.
func (f file) leads(from, to string) bool {
	edges := f.edges()
	seen := map[string]bool{from: true}
	for todo := []string{from}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == to {
			return true
		}
		for _, e := range edges {
			if e.from.Name == todo[0] && !seen[e.to] {
				seen[e.to] = true
				todo = append(todo, e.to)
			}
		}
	}
	return false
}
