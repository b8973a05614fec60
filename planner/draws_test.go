package planner

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDrawsForAreOfTheTaskAndTheAttemptAlone(t *testing.T) {
	assert.Equal(t, DrawsFor("order-1", 2), DrawsFor("order-1", 2))
	assert.NotEqual(t, DrawsFor("order-1", 2), DrawsFor("order-1", 3))
	assert.NotEqual(t, DrawsFor("order-1", 2), DrawsFor("order-2", 2))
	assert.NotEqual(t, DrawsFor("a", 2).Jitter, DrawsFor("a", 2).Spread, "the two draws are two numbers")
}

// Replicas of different versions must agree, so the numbers themselves are
// fixed: SHA-256 of the id and the attempt (8 bytes, big-endian); the first 53
// bits of its first and of its second 8 bytes.
func TestDrawsForStayTheSameAcrossVersions(t *testing.T) {
	assert.Equal(t, Draws{Jitter: 0.217436940519816, Spread: 0.8662932420939685}, DrawsFor("order-1", 1))
}

func TestDrawsForAreSpreadOverTheUnitInterval(t *testing.T) {
	const n = 10_000
	var buckets [10]int
	for i := range int64(n) {
		d := DrawsFor("task", i+1)
		for _, draw := range []float64{d.Jitter, d.Spread} {
			if draw < 0 || draw >= 1 {
				t.Fatalf("draw %v is outside [0, 1)", draw)
			}
		}
		buckets[int(d.Jitter*10)]++
	}
	for i, count := range buckets {
		assert.InDelta(t, n/10, count, n/50, "bucket %d", i)
	}
}
