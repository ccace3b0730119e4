# make demo          runs the lessons and draws their graphs
# make test          runs the test suite; comparisons with PyTorch are skipped unless it is installed
# make test-parity   installs PyTorch into .venv as well and runs the test suite
# make lint          checks formatting, style and types
#
# Everything lives in .venv, made with $(PYTHON) on first use and renewed when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LESSONS := $(sort $(wildcard examples/lessons/*.py))

.PHONY: demo test test-parity lint clean
.DELETE_ON_ERROR:
.NOTPARALLEL:

demo: $(VENV)/.package
	@set -e; for lesson in $(LESSONS); do \
		printf '\n=== %s\n\n' "$$lesson"; \
		$(BIN)/gradfn graph "$$lesson"; \
	done

test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto

test-parity: $(VENV)/.parity
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/.test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict src

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.package: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable '.[test]'
	@touch $@ $(VENV)/.package

$(VENV)/.parity: pyproject.toml | $(BIN)/python
	$(PIP_INSTALL) --editable '.[test,bfloat16,parity]'
	@touch $@ $(VENV)/.test $(VENV)/.package
