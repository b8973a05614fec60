package envelope

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// openNames are the names of the members of all objects that the scanner is in,
// the innermost last. They find a name that stands twice.
type openNames struct {
	raw     []byte
	decoded []byte // names that were written with escapes, as they read
	list    []openName
}

// openName is one name: a sum that equal names share, where it was written, and
// where what it says lies.
type openName struct {
	sum        uint64
	written    int32
	start, end int32
	isDecoded  bool // lies in decoded, not in raw
}

// fewNames is up to how many names of an object each new one is compared with
// all before it. More are sorted when the object ends, so that an object of a
// million names does not take a million times a million steps.
const fewNames = 32

func (n *openNames) reset(raw []byte) {
	n.raw, n.decoded, n.list = raw, n.decoded[:0], n.list[:0]
}

// release drops the text, and what one giant body has made large.
func (n *openNames) release() {
	if n.raw = nil; cap(n.list) > 1024 || cap(n.decoded) > 16<<10 {
		*n = openNames{}
	}
}

// open begins an object and gives the mark for its names.
func (n *openNames) open() (first int) { return len(n.list) }

// add takes the name that was written from start to end, quotes included, and
// gives what it says. isNew is false when it is seen that the object has it
// already; close sees the rest.
func (n *openNames) add(first, start, end int, escaped bool) (text []byte, isNew bool) {
	name := openName{written: int32(start), start: int32(start + 1), end: int32(end - 1)}
	if escaped {
		inner := n.raw[name.start:name.end]
		name.start = int32(len(n.decoded))
		n.decoded = appendUnescaped(n.decoded, inner)
		name.end, name.isDecoded = int32(len(n.decoded)), true
	}
	text = n.text(&name)
	name.sum = sumOf(text)
	if open := n.list[first:]; len(open) <= fewNames {
		for i := range open {
			if open[i].sum == name.sum && bytes.Equal(n.text(&open[i]), text) {
				return text, false
			}
		}
	}
	n.list = append(n.list, name)
	return text, true
}

// close ends the object that began at the mark. It gives the offset of a name
// that the object has twice, -1 when there is none.
func (n *openNames) close(first int) int {
	names := n.list[first:]
	n.list = n.list[:first]
	if len(names) <= fewNames {
		return -1
	}
	slices.SortFunc(names, func(a, b openName) int {
		if a.sum != b.sum {
			return cmp.Compare(a.sum, b.sum)
		}
		return n.compare(&a, &b)
	})
	for i := 1; i < len(names); i++ {
		if names[i-1].sum == names[i].sum && n.compare(&names[i-1], &names[i]) == 0 {
			return int(max(names[i-1].written, names[i].written))
		}
	}
	return -1
}

func (n *openNames) compare(a, b *openName) int { return bytes.Compare(n.text(a), n.text(b)) }

func (n *openNames) text(name *openName) []byte {
	if name.isDecoded {
		return n.decoded[name.start:name.end]
	}
	return n.raw[name.start:name.end]
}

// sumOf tells most names apart by their length and both ends. Names that a
// sender makes share it cost a comparison more, and no more than that.
func sumOf(name []byte) uint64 {
	const prime = 0x9e3779b97f4a7c15
	if n := len(name); n >= 8 {
		return binary.LittleEndian.Uint64(name)*prime + binary.LittleEndian.Uint64(name[n-8:]) + uint64(n)
	}
	sum := uint64(len(name))
	for _, c := range name {
		sum = sum<<8 | uint64(c)
	}
	return sum
}
