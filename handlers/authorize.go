package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/gin-gonic/gin"
)

// authorize lets a call pass that brings one of the API keys, in the key
// header or as a Bearer token (RFC 6750 §2.1). Without keys everybody passes.
func (s *server) authorize() gin.HandlerFunc {
	hashes := make([][sha256.Size]byte, len(s.APIKeys))
	for i, key := range s.APIKeys {
		hashes[i] = sha256.Sum256([]byte(key))
	}
	return func(c *gin.Context) {
		if len(hashes) == 0 || knownKey(hashes, c.GetHeader(s.APIKeyHeader)) || knownKey(hashes, bearer(c.GetHeader("Authorization"))) {
			return
		}
		refuse(c, errKey)
	}
}

// knownKey compares in constant time: with hashes of one length, and with
// every key.
func knownKey(hashes [][sha256.Size]byte, key string) bool {
	hash := sha256.Sum256([]byte(key))
	found := 0
	for i := range hashes {
		found |= subtle.ConstantTimeCompare(hashes[i][:], hash[:])
	}
	return found == 1
}

func bearer(authorization string) string {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
