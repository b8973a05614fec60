package planner

import (
	"crypto/sha256"
	"encoding/binary"
)

// Draws are the random numbers of one decision, each in [0, 1).
type Draws struct {
	Jitter float64
	Spread float64
}

// DrawsFor gives the draws of a task: they come from its id and the attempt
// alone, so that the same request gets the same answer on any replica.
func DrawsFor(taskID string, attempts int64) Draws {
	seed := make([]byte, 0, 128)
	seed = append(seed, taskID...)
	seed = binary.BigEndian.AppendUint64(seed, uint64(attempts))
	sum := sha256.Sum256(seed)
	return Draws{Jitter: unit(sum[0:8]), Spread: unit(sum[8:16])}
}

// unit makes a float in [0, 1) of the first 53 bits of b.
func unit(b []byte) float64 {
	return float64(binary.BigEndian.Uint64(b)>>11) / (1 << 53)
}
