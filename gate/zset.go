package gate

import (
	"cmp"
	"slices"
)

// zset is a set ordered by score, then by member: what Redis calls a sorted
// set, with the few commands that the gate needs.
type zset struct {
	items  []zitem
	scores map[string]int64
}

type zitem struct {
	member string
	score  int64
}

func (z *zset) find(it zitem) (int, bool) {
	return slices.BinarySearchFunc(z.items, it, func(a, b zitem) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.member, b.member))
	})
}

// add puts the member in, or moves it to a new score (ZADD).
func (z *zset) add(member string, score int64) {
	z.remove(member)
	if z.scores == nil {
		z.scores = map[string]int64{}
	}
	it := zitem{member, score}
	at, _ := z.find(it)
	z.items = slices.Insert(z.items, at, it)
	z.scores[member] = score
}

// remove takes the member out, if it is there (ZREM).
func (z *zset) remove(member string) {
	score, ok := z.scores[member]
	if !ok {
		return
	}
	at, _ := z.find(zitem{member, score})
	z.items = slices.Delete(z.items, at, at+1)
	delete(z.scores, member)
}

// dropUpTo takes out and returns all with a score of at most the given one
// (ZRANGEBYSCORE and ZREMRANGEBYSCORE). The result is valid until the next add.
func (z *zset) dropUpTo(score int64) []zitem {
	n := z.countUpTo(score)
	if n == 0 {
		return nil
	}
	gone := z.items[:n]
	for _, it := range gone {
		delete(z.scores, it.member)
	}
	z.items = z.items[n:]
	return gone
}

// countUpTo is the number of members with at most that score (ZCOUNT).
func (z *zset) countUpTo(score int64) int {
	return z.countBelow(score + 1)
}

// countBelow is the number of members with less than that score.
func (z *zset) countBelow(score int64) int {
	at, _ := z.find(zitem{"", score})
	return at
}

// fromEnd is the score of the n-th member from the end, counted from 1
// (ZREVRANGE); false when there are fewer.
func (z *zset) fromEnd(n int) (int64, bool) {
	if n < 1 || n > len(z.items) {
		return 0, false
	}
	return z.items[len(z.items)-n].score, true
}

// shift moves every member by the same amount, which keeps their order.
func (z *zset) shift(by int64) {
	for i := range z.items {
		z.items[i].score += by
		z.scores[z.items[i].member] += by
	}
}
