package herd

import "container/heap"

type kind uint8

const (
	ready    kind = iota // the execution wants to call
	answered             // its call has ended
)

type event struct {
	time      float64 // seconds
	order     int     // of two at the same time, the first that was planned comes first
	kind      kind
	execution int
}

// events is the clock: what happens next comes first.
type events struct {
	queue queue
	count int
}

func (h *herd) at(time float64, k kind, execution int) {
	h.events.count++
	heap.Push(&h.events.queue, event{time, h.events.count, k, execution})
}

func (e *events) empty() bool { return len(e.queue) == 0 }
func (e *events) next() event { return heap.Pop(&e.queue).(event) }

type queue []event

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	if q[i].time != q[j].time {
		return q[i].time < q[j].time
	}
	return q[i].order < q[j].order
}
func (q *queue) Push(x any) { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	*q = old[:len(old)-1]
	return last
}
