# Everything is run through make; the venv is made anew only when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two processes, so that there are never more than two Spark sessions: one a process, made by a session-scoped fixture.
# Tests that must not run side by side share an xdist_group.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadgroup

.PHONY: demo test test-changed test-durations test-failed test-rest test-long test-flink check lint fuzz bench bench-flink goldens fixtures clean

demo: $(VENV)/.demo
	$(BIN)/python -m examples.flights

test: $(VENV)/.test
	$(PYTEST) -m "not long"

# What a change reaches, and one in 24 of the rest; REKINDLE_BASE=<commit> is what it differs from (tests/changed.py).
test-changed: $(VENV)/.test
	$(PYTEST) -m "not long" -p tests.changed

# Keeps how long each test takes (tests/durations.json), which says who comes first, and writes the page of it.
test-durations: $(VENV)/.test
	$(PYTEST) -m "not long" -p tests.durations
	$(BIN)/python -m docs.durations_page

# What failed last time, once more and alone.
test-failed: $(VENV)/.test
	$(BIN)/python -m pytest -m "not long" --last-failed --last-failed-no-failures none

# The same for what had no Spark any more, since its process had ended: that may be thousands of tests.
test-rest: $(VENV)/.test
	$(PYTEST) -m "not long" --last-failed --last-failed-no-failures none

# With a seed of its own, programs run in other ways than in every check; it is printed by what fails.
REKINDLE_SEED ?= $(shell date +%s)
test-long: $(VENV)/.test
	REKINDLE_SEED=$(REKINDLE_SEED) HYPOTHESIS_PROFILE=new $(PYTEST) -m long
	REKINDLE_SEED=$(REKINDLE_SEED) $(PYTEST) -m "not long" tests/conformance tests/connectors/test_plain_json.py

# Flink's own tests of functions and expressions against this engine, beside tests/flink_suites/ledger.txt; needs Maven for Flink's jars.
test-flink: $(VENV)/.test
	$(BIN)/python -m tests.flink_suites $(FLINK)

check: lint test

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Two minutes of hostile input for each door; `make fuzz FUZZ="plans --seed 7 --seconds 600"` for one of them.
fuzz: $(VENV)/.test
	$(BIN)/python -m tests.fuzz $(FUZZ)

# Seeded mistakes, each of which a test must see: hours for all; `make mutants MUTANTS="--resume kernel"` for some.
.PHONY: mutants
mutants: $(VENV)/.test
	$(BIN)/python -m tests.mutants $(MUTANTS)

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks

# Beside Flink: REKINDLE_FLINK_PYTHON is a Python with PyFlink, which needs another py4j than PySpark.
bench-flink: $(VENV)/.test
	$(BIN)/python -m benchmarks flink

# Rewrites what is generated from the code; review the difference like any other change.
goldens: $(VENV)/.test
	$(BIN)/python -m plans.format.schema
	$(BIN)/python -m docs.options_page
	$(BIN)/python -m docs.python_page
	$(BIN)/python -m docs.pyflink_page
	$(BIN)/python -m docs.support_tables
	$(BIN)/python -m docs.life_of_a_query
	$(BIN)/python -m docs.pictures
	$(BIN)/python -m docs.state_page
	$(BIN)/python -m docs.evolution_table
	$(BIN)/python -m docs.upgrading_page
	$(BIN)/python -m tests.plans.corpus
	$(BIN)/python -m tests.planner.rule_pairs
	$(BIN)/python -m tests.completeness.frozen
	$(BIN)/python -m tests.conformance.unsupported

# make fixtures NODE=stream-exec-join_1: plan, savepoint and calls of each restore program that has none; overwrites nothing.
fixtures: $(VENV)/.test
	$(BIN)/python -m tests.restore.make $(NODE)
	$(BIN)/python -m tests.restore.recording $(NODE)

# The stamp of a set of extras; older than pyproject.toml means: install again. The demo needs the README's extras only.
$(VENV)/.demo: EXTRAS := demo,repl
$(VENV)/.test: EXTRAS := test
$(VENV)/.demo $(VENV)/.test: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$(EXTRAS)]"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
