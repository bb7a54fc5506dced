.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: help build run demo test lint fmt verify generate deps bench proof fuzz up down

GOLANGCI_LINT_VERSION := v2.15.0
GOVULNCHECK_VERSION   := v1.9.0

# Tools are built once into a folder that git ignores, never required by go.mod.
TOOLS         := $(CURDIR)/.tools/bin
GOLANGCI_LINT := $(TOOLS)/golangci-lint-$(GOLANGCI_LINT_VERSION)
GOVULNCHECK   := $(TOOLS)/govulncheck-$(GOVULNCHECK_VERSION)
REDOCLY       := scripts/openapi/node_modules/.bin/redocly
TSC           := docs/examples/events/node_modules/.bin/tsc

VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
REVISION  := $(shell git rev-parse HEAD 2>/dev/null)
PACKAGES  ?= ./...
BENCH     ?= .
BENCHTIME ?= 1s
FUZZTIME  ?= 20s

# SQLite is C translated to Go. Its memory is not from Go's heap, so the race detector
# ignores it, and yet makes every access three times as slow. The driver is watched.
UNWATCHED := modernc.org/sqlite/lib modernc.org/libc/... modernc.org/memory

# The race detector needs a C compiler; without one the tests still run, and say so.
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race $(UNWATCHED:%=-gcflags=%=-race=false),$(warning no C compiler found: testing without the race detector))

help: ## List the targets
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build the static binary into bin/
	CGO_ENABLED=0 go build -trimpath -ldflags='-s -w -X main.version=$(VERSION) -X main.revision=$(REVISION)' -o bin/ ./cmd/...

run: ## Serve on 127.0.0.1:8080 with SQLite in ./gatehouse.db
	go run ./cmd/gatehouse serve

demo: ## Start a server on an empty database and walk through the product
	scripts/demo

test: $(TSC) ## Test with the race detector, on SQLite and PostgreSQL
	@scripts/ensure-postgres
	@scripts/ensure-chromium
	go test $(RACE) -shuffle=on -count=1 -parallel=4 -timeout=20m $(PACKAGES)

lint: $(GOLANGCI_LINT) $(REDOCLY) $(TSC) ## Lint the code, the arrows between packages and openapi.yaml
	$(GOLANGCI_LINT) run --allow-parallel-runners $(PACKAGES)
	scripts/check-arrows $(GOLANGCI_LINT)
	scripts/check-rule-ids
	scripts/openapi/lint
	npm --prefix docs/examples/events run --silent check

fmt: $(GOLANGCI_LINT) ## Format the code (gofumpt, grouped imports)
	$(GOLANGCI_LINT) fmt

verify: $(GOVULNCHECK) $(TSC) ## Fail if anything generated, tidied or modernized differs, or a vulnerability is known
	scripts/check-generated
	go mod tidy -diff
	go fix -diff ./...
	scripts/check-vulnerabilities $(GOVULNCHECK)

generate: $(TSC) ## Regenerate gen/ and the types of the example from openapi.yaml
	go generate ./...
	npm --prefix docs/examples/events run --silent generate

deps: $(GOLANGCI_LINT) $(GOVULNCHECK) $(REDOCLY) $(TSC) ## Fetch modules and build the tools, all pinned
	go mod download
	@scripts/ensure-postgres
	@scripts/ensure-chromium

bench: ## Run the benchmarks (BENCH=regexp BENCHTIME=1s)
	@scripts/ensure-postgres
	go test -run='^$$' -bench='$(BENCH)' -benchtime=$(BENCHTIME) -benchmem $(PACKAGES)

proof: ## Run the suites behind docs/guarantees.md in their long form (KILLS, ROUNDS, SECONDS_EACH, CHECKS, STEPS, SEED)
	@scripts/proof

fuzz: ## Run every fuzz test for FUZZTIME (20s) each
	scripts/fuzz $(FUZZTIME)

up: ## Start the service with PostgreSQL and Prometheus in containers (GATEHOUSE_ADMIN_TOKEN=…)
	docker compose up --detach --build --wait

down: ## Stop what up started; the data stays in its volumes
	GATEHOUSE_ADMIN_TOKEN=not-needed-to-stop docker compose down

$(TOOLS)/golangci-lint-%:
	@scripts/install-tool github.com/golangci/golangci-lint/v2/cmd/golangci-lint $* $@

$(TOOLS)/govulncheck-%:
	@scripts/install-tool golang.org/x/vuln/cmd/govulncheck $* $@

$(REDOCLY): scripts/openapi/package-lock.json
	npm --prefix scripts/openapi ci --ignore-scripts --silent
	@touch $@

$(TSC): docs/examples/events/package-lock.json
	npm --prefix docs/examples/events ci --ignore-scripts --silent
	@touch $@
