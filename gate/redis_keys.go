package gate

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
)

// keys names a resource's keys. Names that callers chose are hashed: a
// resource may be an account or a key that must not be readable in Redis, and
// a name with braces must not break the hash tag. The tag puts all keys of a
// resource into one slot of a Redis Cluster.
type keys struct{ prefix, tenantPart string }

func newKeys(s Spec) keys {
	return keys{prefix: "gate:{" + hashed(s.Resource) + "}:", tenantPart: hashed(s.Tenant)}
}

// of is a key of the resource as a whole.
func (k keys) of(kind string) string { return k.prefix + kind }

// tenant is a key of one tenant of the resource.
func (k keys) tenant(kind string) string { return k.prefix + kind + ":" + k.tenantPart }

// budget is a key of one tenant's retry budget; budgets with different
// windows do not share their counts.
func (k keys) budget(kind string, window int64) string {
	return k.tenant(kind) + ":" + strconv.FormatInt(window, 10)
}

// permit is the key of one permit.
func (k keys) permit(id string) string { return k.prefix + "permit:" + id }

// task is the key of one task's claim.
func (k keys) task(id string) string { return k.prefix + "task:" + hashed(id) }

// hashed is 128 bits of SHA-256: far beyond what could collide by chance.
func hashed(name string) string {
	sum := sha256.Sum256([]byte(name))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
