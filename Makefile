# The commands of this project; `make help` lists them.
SHELL := /bin/bash
.DELETE_ON_ERROR:

# The same flags as in the Dockerfile. The tags leave out of the binary what the
# service does not use: a codec of gin's, and HTTP/2, which n8n does not speak.
# buildvcs puts the revision in, for "retry-planner version".
GOFLAGS_BUILD := -tags nomsgpack,nethttpomithttp2 -buildvcs=auto -trimpath -ldflags "-s -w"
# The race detector needs a C compiler; where there is none the tests run without it.
RACE := $(shell if command -v $${CC:-gcc} >/dev/null 2>&1; then echo -race; else echo "note: no C compiler, so the race detector is off" >&2; fi)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
FUZZTIME ?= 10s

.PHONY: help run build test check fuzz e2e browser openapi clients pictures bench licences supply-chain run-all ci

help: ## list the commands
	@grep -E '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/'

run: build ## build and serve on 127.0.0.1:8080 (settings: bin/retry-planner --help)
	bin/retry-planner

build: ## build the static binary bin/retry-planner
	CGO_ENABLED=0 go build $(GOFLAGS_BUILD) -o bin/retry-planner ./cmd/retry-planner

test: ## run all tests that need Go alone
	go test $(RACE) ./...

check: ## formatting, vet, linter, and the planner's imports
	@test -z "$$(gofmt -l .)" || { echo "gofmt: run gofmt -w on:"; gofmt -l .; exit 1; }
	go vet ./...
	go vet -tags e2e ./n8n-workflows/... ./handlers
	go run $(STATICCHECK) ./...
	@.ci/planner-is-pure

fuzz: ## fuzz every parser for FUZZTIME each (default 10s)
	@.ci/fuzz $(FUZZTIME)

e2e: browser ## run the workflows in a real n8n (needs npm; installs n8n into a cache once)
	go test -tags e2e -count=1 -timeout 30m ./n8n-workflows/e2e

browser: ## test the pages in a real browser (needs chromium)
	go test -tags e2e -count=1 -run Page ./handlers

openapi: ## check openapi.yaml with Redocly and Spectral, and for breaking changes (needs npm and jq)
	@.ci/openapi/check

clients: build ## generate clients from openapi.yaml and run them against the service (needs npm)
	examples/clients/run bin/retry-planner

pictures: ## take the README's pictures of the workflows in a real n8n (needs chromium)
	PICTURES=1 go test -tags e2e -count=1 -run TestImportFromURL ./n8n-workflows/e2e

bench: ## measure the service and write the README's figures (needs wrk, taskset, node, npm and two CPUs; BENCH="-n8n=false" leaves n8n out)
	go test -run '^$$' -bench . -benchmem ./planner ./envelope ./handlers
	go run ./bench -readme README.md $(BENCH)

licences: build ## write the licences of what is in the binary to ops/licences/licences.csv
	go run ./ops/licences bin/retry-planner >ops/licences/licences.csv.new && mv ops/licences/licences.csv.new ops/licences/licences.csv

supply-chain: ## known weaknesses, build to the byte, licences, compose file
	@.ci/supply-chain

run-all: ## run Redis, the planner and n8n with the workflows, without containers
	ops/run-all

ci: check test fuzz openapi clients e2e supply-chain ## all of it
