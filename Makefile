# Every target does the set-up that it needs: a fresh machine needs Python 3.11+ and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEV := .venv/.dev-ready
ARGS ?=

.PHONY: reproduce test lint format soak bench bench-check mutation browser docs clean

reproduce: $(READY)
	$(BIN)/attnlab reproduce --out results $(ARGS)

test: lint
	$(BIN)/pytest -m "not soak" -n 2 --dist loadfile $(ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

soak: $(DEV)
	$(BIN)/pytest -m soak -n 2 --dist loadfile $(ARGS)

bench: $(DEV)
	$(BIN)/python -m pip install -q -c constraints.txt --group bench
	$(BIN)/python -m benchmarks $(ARGS)

# The same, and what is worse by more than a quarter than benchmarks/ratios.json says.
bench-check:
	$(MAKE) bench ARGS="--check $(ARGS)"

# Half an hour on two cores: small faults in the formulas, and whether tests notice.
mutation: $(DEV)
	$(BIN)/python -m benchmarks.mutation $(ARGS)

# The site, docs/_build/html: the examples are executed; a warning or a broken link is an error.
docs: $(DEV)
	$(BIN)/python -m pip install -q -c constraints.txt --group docs
	rm -rf docs/_build/source && mkdir -p docs/_build/source
	cp -r docs/*.md docs/conf.py docs/images examples docs/_build/source
	PYTHONPATH=$(CURDIR) $(BIN)/sphinx-build -q -W --keep-going docs/_build/source docs/_build/html
	$(BIN)/sphinx-build -q -W -b linkcheck -D nb_execution_mode=off docs/_build/source docs/_build/links

# Debian's Chromium, for the browser tests of `make soak`; without it they skip and say so.
browser:
	command -v chromium || (apt-get update -q && apt-get install -q -y --no-install-recommends chromium)

.venv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "attnlab needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"

$(READY): pyproject.toml constraints.txt | .venv
	$(BIN)/python -m pip install -q -c constraints.txt -e ".[all]"
	touch $@

$(DEV): $(READY)
	$(BIN)/python -m pip install -q -c constraints.txt --group dev
	touch $@

clean:
	rm -rf .venv results .pytest_cache .ruff_cache .import_linter_cache
