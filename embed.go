// Package retryplanner holds the files that the service carries with it.
package retryplanner

import _ "embed"

// OpenAPI is openapi.yaml, the description of the service that clients are
// generated from.
//
//go:embed openapi.yaml
var OpenAPI []byte
