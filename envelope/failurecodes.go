package envelope

import (
	"strings"

	"n8n-retry-planner/planner"
)

// codeClasses says what the error codes of Node, axios, undici, c-ares and
// OpenSSL tell about a call (contract section 2, Safety).
var codeClasses = map[string]planner.Class{
	// No connection was made, so nothing was sent.
	"ECONNREFUSED":                  planner.Unreached,
	"ENOTFOUND":                     planner.Unreached,
	"EAI_AGAIN":                     planner.Unreached,
	"EAI_FAIL":                      planner.Unreached,
	"EAI_NODATA":                    planner.Unreached,
	"EAI_NONAME":                    planner.Unreached,
	"ENODATA":                       planner.Unreached,
	"ESERVFAIL":                     planner.Unreached,
	"EHOSTUNREACH":                  planner.Unreached,
	"EHOSTDOWN":                     planner.Unreached,
	"ENETUNREACH":                   planner.Unreached,
	"ENETDOWN":                      planner.Unreached,
	"EADDRNOTAVAIL":                 planner.Unreached,
	"UND_ERR_CONNECT_TIMEOUT":       planner.Unreached,
	"ERR_SOCKET_CONNECTION_TIMEOUT": planner.Unreached,
	"ERR_PROXY_CONNECTION_REFUSED":  planner.Unreached,

	// The connection was there: the call may have been processed.
	"ECONNRESET":              planner.Unknown,
	"ECONNABORTED":            planner.Unknown, // n8n's own timeout
	"ETIMEDOUT":               planner.Unknown,
	"ESOCKETTIMEDOUT":         planner.Unknown,
	"EPIPE":                   planner.Unknown,
	"ERR_NETWORK":             planner.Unknown,
	"UND_ERR_SOCKET":          planner.Unknown,
	"UND_ERR_HEADERS_TIMEOUT": planner.Unknown,
	"UND_ERR_BODY_TIMEOUT":    planner.Unknown,
	"UND_ERR_RESPONSE":        planner.Unknown,

	// The caller gave up.
	"ERR_CANCELED":    planner.Cancelled,
	"ABORT_ERR":       planner.Cancelled,
	"UND_ERR_ABORTED": planner.Cancelled,

	// The same call fails the same way for ever.
	"ERR_INVALID_URL":                    planner.Permanent,
	"ERR_INVALID_PROTOCOL":               planner.Permanent,
	"ERR_UNSUPPORTED_PROTOCOL":           planner.Permanent,
	"ERR_UNESCAPED_CHARACTERS":           planner.Permanent,
	"UND_ERR_INVALID_ARG":                planner.Permanent,
	"EPROTO":                             planner.Permanent,
	"DEPTH_ZERO_SELF_SIGNED_CERT":        planner.Permanent,
	"SELF_SIGNED_CERT_IN_CHAIN":          planner.Permanent,
	"UNABLE_TO_VERIFY_LEAF_SIGNATURE":    planner.Permanent,
	"UNABLE_TO_GET_ISSUER_CERT":          planner.Permanent,
	"UNABLE_TO_GET_ISSUER_CERT_LOCALLY":  planner.Permanent,
	"UNABLE_TO_GET_CRL":                  planner.Permanent,
	"UNABLE_TO_DECRYPT_CERT_SIGNATURE":   planner.Permanent,
	"UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY": planner.Permanent,
	"HOSTNAME_MISMATCH":                  planner.Permanent,
	"INVALID_CA":                         planner.Permanent,
	"INVALID_PURPOSE":                    planner.Permanent,
	"PATH_LENGTH_EXCEEDED":               planner.Permanent,
}

// Families of codes of which every member means a bad certificate or a TLS
// setting that does not fit.
var permanentPrefixes = []string{"CERT_", "CRL_", "ERR_TLS_", "ERR_SSL_", "ERR_OSSL_"}

// classOfCode tells what a code says; known is false for a code that says
// nothing.
func classOfCode(code string) (class planner.Class, known bool) {
	code = strings.ToUpper(code)
	if class, known = codeClasses[code]; known {
		return class, true
	}
	for _, prefix := range permanentPrefixes {
		if strings.HasPrefix(code, prefix) {
			return planner.Permanent, true
		}
	}
	return planner.Unknown, false
}
