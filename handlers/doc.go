// Package handlers is the HTTP face of the planner: one file a route, each of
// which decodes, makes one call and encodes. Refusals are written in one place
// (problem.go), from one table of error to status.
package handlers
