// Package retryplanner holds the files that the service carries with it.
package retryplanner

import "embed"

// OpenAPI is openapi.yaml, the description of the service that clients are
// generated from.
//
//go:embed openapi.yaml
var OpenAPI []byte

// Workflows holds n8n-workflows/*.json, the n8n workflows that import as they
// are.
//
//go:embed n8n-workflows/*.json
var Workflows embed.FS

// WorkflowAddress is the planner's address in the workflow files, the default
// of the service.
const WorkflowAddress = "http://127.0.0.1:8080"
