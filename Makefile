# Every verb installs what it needs. `make help` lists them; CI calls the same ones.

PYTHON ?= python3
VENV ?= .venv
ARGS ?=
JOBS ?= 2

BIN := $(VENV)/bin
# Modules are compiled when they are first imported: most of what is installed never is.
PIP := $(BIN)/python -m pip --disable-pip-version-check install --no-compile --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest
KERNELS := $(BIN)/python tests/kernels.py --processes $(JOBS)

# A check of every index is one at any level of optimization, and this one compiles in two thirds of the time.
BOUNDS := NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1

# Processes of a test run share compiled modules, even where the environment says otherwise.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  PYTHON=python3.12  the interpreter that .venv is made with (3.11 or newer)"
	@echo "  ARGS='...'         passed to the command, as in: make demo ARGS=--json"
	@echo "  PYTHONS='...'      the interpreters of test-pythons and test-wheel"

# Setting up. The constraints pin torch to its build without CUDA.

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "kille-env needs Python 3.11 or newer; choose one with: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || \
	    { echo "this Python makes no virtual environments; install its venv package (on Debian: python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) hatchling
	@touch $@

# Installed by itself first, what `make demo` takes is there in a minute.
$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) --no-build-isolation --editable '.[train]'
	@touch $@ $(VENV)/.installed-measure

# What compiles kernels, there in a few seconds: the gate compiles them beside the rest of the installation.
$(VENV)/.installed-measure: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) --no-build-isolation --editable '.[measure]'
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/.made
	$(PIP) --no-build-isolation --editable '.[train,render,web,dev]'
	@touch $@ $(VENV)/.installed $(VENV)/.installed-measure

$(VENV)/.installed-all: $(VENV)/.installed-dev
	$(PIP) --no-build-isolation --editable '.[train,render,web,dev,interop]'
	@touch $@

.PHONY: setup
setup: $(VENV)/.installed-dev ## install everything into .venv

# The main job.

.PHONY: demo
demo: $(VENV)/.installed-measure ## train a policy, measure it, write runs/demo/report.html
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/.demo-kernels $(VENV)/.installed
	$(BIN)/kille train demo $(ARGS)

# The rules are compiled while pip brings the library that trains; training compiles the rest beside itself.
$(VENV)/.demo-kernels: | $(VENV)/.installed-measure
	@$(BIN)/python -c 'import kille_env; kille_env.make_batch("byteskille", 2, seed=0).reset()'
	@touch $@

.PHONY: bench
bench: $(VENV)/.installed ## measure the speed and print a table
	$(BIN)/python benchmarks/bench.py $(ARGS)

# Checks.

# Kernels of the rules, and what plays, searches and solves by them: plain Python and bounds-checked runs.
RULES := tests/env/test_contract.py tests/env/test_playthroughs.py tests/env/test_twins.py $(wildcard tests/env/test_determinization*.py)
DOORS := tests/env/test_refusals.py tests/env/test_taken_arguments.py tests/env/test_experience.py tests/adapters/test_streams.py \
    tests/agents/test_refusals.py tests/training/test_solving_solvers.py tests/training/test_solving_own_trees.py \
    tests/training/test_solving_deals.py::test_a_response_looks_ahead_into_the_hands_to_come
KERNEL_TESTS := tests/env tests/adapters/test_streams.py tests/adapters/test_sb3_rollouts.py \
    tests/agents/test_refusals.py tests/agents/test_search.py $(wildcard tests/training/test_solving_*.py)

.PHONY: kernels
kernels: $(VENV)/.installed-measure ## compile the kernels that most tests wait for
	$(KERNELS)

.PHONY: test
test: $(VENV)/.installed-dev ## run the tests with compiled kernels, but for the slow ones
	$(if $(ARGS),,$(KERNELS))
	$(PYTEST) -n $(JOBS) --dist worksteal -m 'not slow' $(ARGS)

.PHONY: test-nojit
test-nojit: $(VENV)/.installed-dev ## run the tests of the rules as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(JOBS) --dist worksteal -m 'not compiled and not slow' $(or $(ARGS),$(RULES))

.PHONY: test-bounds
test-bounds: $(VENV)/.installed-dev ## run the tests of rules and doors of kernels with every index checked
	$(BOUNDS) $(PYTEST) -n $(JOBS) --dist worksteal -m 'not slow' $(or $(ARGS),$(RULES) $(DOORS))

.PHONY: test-browser
test-browser: $(VENV)/.installed-dev ## run the tests of the web pages in the machine's Chromium, but for the slow ones
	$(PYTEST) -m 'not slow' $(or $(ARGS),tests/browser)

.PHONY: test-all
test-all: $(VENV)/.installed-all ## run every test, three ways, and those in Chromium: what a release runs
	$(KERNELS)
	$(PYTEST) -n $(JOBS) --dist worksteal
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(JOBS) --dist worksteal -m 'not compiled' tests/env tests/adapters
	$(BOUNDS) $(KERNELS)
	$(BOUNDS) $(PYTEST) -n $(JOBS) --dist worksteal $(KERNEL_TESTS)
	$(PYTEST) tests/browser
	$(MAKE) --no-print-directory test-base test-libraries

.PHONY: coverage
coverage: $(VENV)/.installed-all ## list the lines of the library that no test reaches, as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(JOBS) --dist worksteal -m 'not compiled' --cov --cov-report=term $(or $(ARGS),tests/env tests/adapters)

.PHONY: test-libraries
test-libraries: ## run the tests of other libraries, each group of them in its own environment
	$(PYTHON) tests/environments.py libraries $(ARGS)

.PHONY: test-oldest
test-oldest: ## run quick tests with the lowest declared version of every dependency
	$(PYTHON) tests/environments.py oldest $(ARGS)

.PHONY: test-pythons
test-pythons: ## run quick tests with each Python from 3.11 on that is found, or those in PYTHONS
	$(PYTHON) tests/environments.py pythons $(PYTHONS)

.PHONY: test-base
test-base: ## try every command and public name with what pip install . brings, without extras
	$(PYTHON) tests/environments.py base

.PHONY: test-wheel
test-wheel: wheel ## use the wheel with each Python from 3.11 on: bare, newest and oldest versions
	$(PYTHON) tests/environments.py wheel $(PYTHONS)

.PHONY: lint
lint: $(VENV)/.installed-dev ## check style, formatting and spelling
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

.PHONY: types
types: $(VENV)/.installed-dev ## check types
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python

.PHONY: imports
imports: $(VENV)/.installed-dev ## check which package imports which
	$(BIN)/lint-imports

SITE := build/website

.PHONY: site
site: $(VENV)/.installed-dev ## build the docs site into build/website/html; a warning or a dead link fails
	$(BIN)/python docs/website/stage.py $(SITE)/pages
	$(BIN)/sphinx-build -W --keep-going -q -b html -c docs/website $(SITE)/pages $(SITE)/html
	@echo "open $(SITE)/html/index.html"

.PHONY: wheel
wheel: $(VENV)/.installed-dev ## build and check dist/, and use the wheel away from the checkout
	rm -rf dist build/wheel
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m twine check --strict dist/*
	$(PIP) --quiet --no-deps --target build/wheel dist/*.whl
	cd build/wheel && PYTHONPATH=. $(abspath $(BIN))/python -P -c \
	    'import kille_env, kille_agents, kille_training; assert "build/wheel" in kille_env.__file__; print(kille_env.list_games())'

# Writing.

.PHONY: docs
docs: $(VENV)/.installed-dev ## write the generated tables and pictures of docs again
	$(BIN)/python docs/pages.py $(ARGS)

.PHONY: screenshots
screenshots: $(VENV)/.installed-dev ## write pictures of the web table in every game to runs/screenshots
	$(BIN)/python tests/browser/screenshots.py $(ARGS)

.PHONY: screenshots-reports
screenshots-reports: $(VENV)/.installed-dev ## write pictures of the reports of small examples to runs/screenshots
	$(BIN)/python tests/browser/reports.py $(ARGS)

.PHONY: truth
truth: $(VENV)/.installed-dev ## solve the tables of the truth set that are missing; hours from nothing
	$(BIN)/python truth/make.py $(ARGS)

.PHONY: players
players: $(VENV)/.installed-dev ## measure the players of the suite; minutes
	$(BIN)/python docs/players.py measure $(ARGS)

.PHONY: benchmark
benchmark: $(VENV)/.installed-dev ## do the whole benchmark in runs/ and write its page; hours
	for grid in tune rules spaces fixed; do \
	    $(BIN)/kille benchmark $$grid --set workers=$(JOBS) && \
	    cp runs/$$grid/results.jsonl docs/data/benchmark/$$grid.jsonl || exit 1; \
	done
	$(MAKE) docs

.PHONY: notebooks
notebooks: $(VENV)/.installed-dev ## execute the notebooks and write them with their outputs; minutes
	$(BIN)/python notebooks/execute.py $(ARGS)

.PHONY: golden
golden: $(VENV)/.installed-dev ## write the golden playthroughs; read what has changed
	$(BIN)/python -m kille_env.testing.playthrough tests/golden/*.txt

.PHONY: fmt
fmt: $(VENV)/.installed-dev ## format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
