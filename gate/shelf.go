package gate

import "container/heap"

// shelf is a map whose entries have a time to live, like the keys of a Redis.
// Times are microseconds of the store's clock.
type shelf[V any] struct {
	slots map[string]*slot[V]
	due   dueHeap[V]
}

type slot[V any] struct {
	key   string
	value V
	until int64
	at    int // index in the heap
}

func newShelf[V any]() *shelf[V] { return &shelf[V]{slots: map[string]*slot[V]{}} }

// get gives the live value of a key, or nil.
func (s *shelf[V]) get(key string, now int64) *V {
	if sl, ok := s.slots[key]; ok && sl.until > now {
		return &sl.value
	}
	return nil
}

// touch gives the live value of a key, or a new one that lives until then. It
// never shortens a life.
func (s *shelf[V]) touch(key string, now, until int64) *V {
	sl, ok := s.slots[key]
	switch {
	case !ok:
		sl = &slot[V]{key: key, until: until}
		s.slots[key] = sl
		heap.Push(&s.due, sl)
		return &sl.value
	case sl.until <= now:
		sl.value = *new(V)
	}
	if until > sl.until {
		sl.until = until
		heap.Fix(&s.due, sl.at)
	}
	return &sl.value
}

// set stores a value that lives until then, whatever was there.
func (s *shelf[V]) set(key string, v V, until int64) {
	s.drop(key)
	*s.touch(key, 0, until) = v
}

// drop removes a key.
func (s *shelf[V]) drop(key string) {
	if sl, ok := s.slots[key]; ok {
		heap.Remove(&s.due, sl.at)
		delete(s.slots, key)
	}
}

// sweep removes a few entries that have expired: more than one call can add,
// few enough not to be felt.
func (s *shelf[V]) sweep(now int64) {
	for range 8 {
		if len(s.due) == 0 || s.due[0].until > now {
			return
		}
		s.drop(s.due[0].key)
	}
}

// dueHeap orders the slots by the end of their life, for container/heap.
type dueHeap[V any] []*slot[V]

func (h dueHeap[V]) Len() int           { return len(h) }
func (h dueHeap[V]) Less(i, j int) bool { return h[i].until < h[j].until }
func (h dueHeap[V]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *dueHeap[V]) Push(x any) {
	sl := x.(*slot[V])
	sl.at = len(*h)
	*h = append(*h, sl)
}
func (h *dueHeap[V]) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
