package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/gin-gonic/gin"
)

// authorize lets a call pass that brings one of the API keys, in the key
// header or as a Bearer token (RFC 6750 §2.1), and notes the key's name for the
// log. Without keys everybody passes.
func (s *server) authorize() gin.HandlerFunc {
	keys := make([]hashedKey, len(s.APIKeys))
	for i, key := range s.APIKeys {
		keys[i] = hashedKey{name: key.Name, hash: sha256.Sum256([]byte(key.Secret))}
	}
	unauthorized := &refusal{kindKey, "send one of the service's API keys in the header " + s.APIKeyHeader + ", or as Authorization: Bearer KEY"}
	return func(c *gin.Context) {
		if len(keys) == 0 {
			return
		}
		name := keyName(keys, c.GetHeader(s.APIKeyHeader))
		if name == "" {
			name = keyName(keys, bearer(c.GetHeader("Authorization")))
		}
		if name == "" {
			refuse(c, unauthorized)
			return
		}
		recorderOf(c).key = name
	}
}

// APIKey is a key that lets callers in. Several can be valid at once, so that
// one can be exchanged for another.
type APIKey struct {
	Name   string // stands in the log in place of the key; not empty
	Secret string
}

type hashedKey struct {
	name string
	hash [sha256.Size]byte
}

// keyName gives the name of the key that was sent, "" when it is none of them.
// It compares in constant time: hashes of one length, and always with every
// key.
func keyName(keys []hashedKey, sent string) string {
	hash := sha256.Sum256([]byte(sent))
	found := -1
	for i := range keys {
		same := subtle.ConstantTimeCompare(keys[i].hash[:], hash[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return ""
	}
	return keys[found].name
}

func bearer(authorization string) string {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
