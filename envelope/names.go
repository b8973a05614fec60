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

// openName is one name. It is kept small: a body may hold millions.
type openName struct {
	sum     uint32 // equal names have equal sums
	written int32  // where it was written
	start   int32  // where what it says is: in raw, or in decoded when size is negative
	size    int32  // how long that is, its complement for what is in decoded
}

// namesOfObject are those of one object that is open.
type namesOfObject struct {
	first   int    // index of the first one in the list
	decoded int    // what was decoded before
	seen    uint64 // a bit for each: one whose bit is not there is a new one
}

// fewNames is up to how many names of an object each new one is compared with
// those before it. More are sorted when the object ends, so that an object of a
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

// open begins an object.
func (n *openNames) open() namesOfObject {
	return namesOfObject{first: len(n.list), decoded: len(n.decoded)}
}

// add takes the name that was written at that place and gives what it says.
// isNew is false when it is seen that the object has it already; close sees the
// rest.
func (n *openNames) add(o *namesOfObject, at span, escaped bool) (text []byte, isNew bool) {
	name := openName{written: at.start, start: at.start + 1, size: at.end - at.start - 2}
	if escaped {
		inner := n.text(&name)
		name.start = int32(len(n.decoded))
		n.decoded = appendUnescaped(n.decoded, inner)
		name.size = ^(int32(len(n.decoded)) - name.start)
	}
	text = n.text(&name)
	name.sum = sumOf(text)
	bit := uint64(1) << (name.sum >> 26)
	if before := n.list[o.first:]; o.seen&bit != 0 && len(before) <= fewNames {
		for i := range before {
			if before[i].sum == name.sum && bytes.Equal(n.text(&before[i]), text) {
				return text, false
			}
		}
	}
	o.seen |= bit
	n.list = append(n.list, name)
	return text, true
}

// close ends an object. It gives the offset of a name that the object has
// twice, -1 when there is none.
func (n *openNames) close(o *namesOfObject) int {
	at := -1
	if names := n.list[o.first:]; len(names) > fewNames {
		at = n.twice(names)
	}
	n.list, n.decoded = n.list[:o.first], n.decoded[:o.decoded]
	return at
}

// twice sorts the names and gives the offset of one that is there twice.
func (n *openNames) twice(names []openName) int {
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
	if name.size < 0 {
		return n.decoded[name.start : name.start+^name.size]
	}
	return n.raw[name.start : name.start+name.size]
}

// sumOf tells most names apart by their length and both ends. Names that a
// sender makes share it cost a comparison more, and no more than that.
func sumOf(name []byte) uint32 {
	const odd = 0x9e3779b97f4a7c15 // spreads a difference over all bits
	var first, last uint64
	switch n := len(name); {
	case n >= 8:
		first, last = binary.LittleEndian.Uint64(name), binary.LittleEndian.Uint64(name[n-8:])
	case n >= 4:
		first, last = uint64(binary.LittleEndian.Uint32(name)), uint64(binary.LittleEndian.Uint32(name[n-4:]))
	case n > 0:
		first, last = uint64(name[0])<<8|uint64(name[n/2]), uint64(name[n-1])
	}
	return uint32(((first*odd ^ last) + uint64(len(name))) * odd >> 32)
}
