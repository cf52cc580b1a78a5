# Two commands do everything on a fresh machine with Python 3.11 and git: `make repro` and `make test`.
SHELL := /bin/bash
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Quiet and offline, in one place: no telemetry, no update checks, no model hub.
export DO_NOT_TRACK := true
export PREFECT_SERVER_ANALYTICS_ENABLED := false
export PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY := false
export DVC_NO_ANALYTICS := 1
export MLFLOW_DISABLE_TELEMETRY := true
export GX_ANALYTICS_ENABLED := false
export HF_HUB_OFFLINE := 1
export HF_HUB_DISABLE_TELEMETRY := 1
export TOKENIZERS_PARALLELISM := false

.DEFAULT_GOAL := help
.PHONY: help repro test unit lint gate publish bench deploy clean

help: ## List the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-9s %s\n", $$1, $$2}'

# Copies the lock next to the environment; a lock that differs from it makes the environment stale.
$(STAMP): requirements.lock pyproject.toml
	@cmp -s requirements.lock $(VENV)/requirements.installed || { \
	  echo "setting up $(VENV) from requirements.lock (about 2 minutes) ..."; \
	  $(PYTHON) -m venv --clear $(VENV) && \
	  $(BIN)/python -m pip install --quiet --no-deps --requirement requirements.lock && \
	  cp requirements.lock $(VENV)/requirements.installed; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

repro: $(STAMP) ## Rebuild everything that is stale: raw logs, models, report
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/dvc repro
	@echo "report: reports/index.html"

test: $(STAMP) ## Run all tests
	@$(BIN)/python -m pytest

unit: $(STAMP) ## Run the quick tests only
	@$(BIN)/python -m pytest -m "not slow"

lint: $(STAMP) ## Format check, lint, types, layers
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

gate: $(STAMP) ## The data gate: exit code 1 if the data on disk breaks an expectation
	@$(BIN)/python -m driveproof validate gate

publish: $(STAMP) ## Record the current results in MLflow (idempotent)
	@$(BIN)/python -m driveproof publish

bench: $(STAMP) ## Run the benchmarks
	@$(BIN)/python -m pytest benchmarks -n 0 --benchmark-only

deploy: $(STAMP) ## Register the Prefect deployments of prefect.yaml with the configured server
	@$(BIN)/prefect --no-prompt deploy --all

clean: ## Remove caches, keep data and models
	@rm -rf .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build *.egg-info
