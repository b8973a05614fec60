// Package goclient holds the test of a Go client that oapi-codegen generates
// from openapi.yaml. The client itself, folder planner, is not kept: the test
// generates it anew.
package goclient

//go:generate go tool oapi-codegen -generate types,client -package planner -o planner/planner.gen.go ../../../openapi.yaml
