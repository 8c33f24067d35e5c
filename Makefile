# Two commands for a fresh machine: `make demo` and `make test`. They need Python 3.10+ and make, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLD := .venv-old

.PHONY: demo test test-old lint docs site ecosystem mutants benchmark clean

# Findings are what the demo is for, so they do not fail the target.
demo: $(VENV)/.installed
	$(BIN)/gradlint check demo/ --exit-zero

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/mypy

# Writes what is generated in docs/ and README.md: pages of rules, settings and their schema, commands,
# tables, what commands print.
# `python tools/generate_docs.py --run` also writes what programs print that run TensorFlow.
docs: $(VENV)/.installed-docs
	$(BIN)/python tools/generate_docs.py

# The site, in build/site; a broken link or a page that is not in the navigation fails.
site: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Those below download packages or take minutes; none is part of `make test`.
ecosystem: $(VENV)/.installed
	$(BIN)/python tests/ecosystem.py

mutants: $(VENV)/.installed
	$(BIN)/python tests/mutants.py

benchmark: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/parse_ratio.py
	$(BIN)/python benchmarks/imports.py
	$(BIN)/python benchmarks/probe.py

# The probe's tests on the oldest TensorFlow that it supports, in an environment of its own. Not part of `make test`.
test-old: $(OLD)/.installed
	$(OLD)/bin/python -m pytest -p no:cacheprovider -n 2 tests/test_private_api.py tests/test_pytest_plugin.py tests/test_probe_*.py

$(OLD)/.installed: pyproject.toml setup.py
	test -x $(OLD)/bin/python || $(PYTHON) -m venv $(OLD)
	$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check --editable . \
		'tensorflow-cpu==2.16.*' 'keras==3.*' hypothesis pytest pytest-xdist
	$(OLD)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps 'tf_keras==2.16.*'
	touch $@

$(VENV)/.installed: pyproject.toml setup.py
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

# tf_keras asks for `tensorflow`, which would come beside `tensorflow-cpu`.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,docs]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps tf_keras
	touch $@

clean:
	rm -rf $(VENV) $(OLD) build dist .mypy_cache .ruff_cache .pytest_cache ./*.egg-info
