# suffice: what you can do with a clone. Nothing is needed beforehand but Python 3.11+ (with venv) and make.
# uv is used when it is on the PATH, plain pip when it is not.

PYTHON ?= python3
WORKERS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)

VENV := .venv
PY := $(VENV)/bin/python
UV := $(shell command -v uv 2>/dev/null)
CODE := $(wildcard src tests benchmarks)
SITE := docs/_build/html
SAY := @echo "suffice:"

# Tests run side by side, so each keeps its matrix products to one thread.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

# An editable install of $(1), echoed; a venv made by uv has no pip, so pip is put back where uv has gone.
ifdef UV
create = $(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
create_words = uv venv
install = $(UV) pip install --quiet --python $(PY) --editable "$(1)"
install_words = uv
else
create = $(PYTHON) -m venv $(VENV)
create_words = $(PYTHON) -m venv
install = { $(PY) -m pip --version >/dev/null 2>&1 || $(PY) -m ensurepip >/dev/null; } && $(PY) -m pip install --quiet --disable-pip-version-check --editable "$(1)"
install_words = pip
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint docs bench figures fuzz clean

help:
	@echo "make demo    fit, explain and predict on a small table, in the terminal"
	@echo "make test    run the tests ($(WORKERS) at a time; WORKERS=n changes that)"
	@echo "make lint    check style, formatting, types and the direction of imports"
	@echo "make docs    build the documentation site in docs/_build/html and check its links"
	@echo "make bench   measure the library against scikit-learn on this machine"
	@echo "make figures draw the figures of the documentation"
	@echo "make fuzz    run the long randomised tests, and the laws on new examples"
	@echo "make clean   remove the environment and everything generated"
	@echo
	@echo "Each makes its own environment in $(VENV) the first time. PYTHON=python3.13 chooses another Python."

demo: $(VENV)/.installed-library
	$(SAY) "running python -m suffice demo"
	@$(PY) -m suffice demo

test: $(VENV)/.installed-dev
	$(SAY) "running the tests, $(WORKERS) at a time"
	@$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist loadgroup --randomly-seed 1

fuzz: $(VENV)/.installed-dev
	$(SAY) "running the long randomised tests and the laws on new examples, $(WORKERS) at a time (this takes a while)"
	@$(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --dist loadgroup -m "slow or hypothesis" --hypothesis-profile "new examples"

lint: $(VENV)/.installed-dev
	$(SAY) "checking style (ruff check)"
	@$(PY) -m ruff check $(CODE)
	$(SAY) "checking formatting (ruff format --check)"
	@$(PY) -m ruff format --check $(CODE)
	$(SAY) "checking types (mypy)"
	@$(PY) -m mypy
	$(SAY) "checking the direction of imports (lint-imports)"
	@$(VENV)/bin/lint-imports

docs: $(VENV)/.installed-dev
	$(SAY) "building the site in $(SITE)"
	@rm -rf docs/reference/generated
	@$(ONE_THREAD) $(VENV)/bin/sphinx-build -q -E -W --keep-going -d docs/_build/doctrees docs $(SITE)
	$(SAY) "checking its links"
	@$(PY) docs/_site/check.py $(SITE)

bench: $(VENV)/.installed-dev
	$(SAY) "measuring $(or $(PARTS),everything; PARTS=\"naive_bayes growth\" would measure some)"
	@$(PY) benchmarks/run.py $(PARTS)

figures: $(VENV)/.installed-dev
	$(SAY) "drawing the figures in docs/figures"
	@for script in $(filter-out %/panels.py,$(wildcard docs/figures/*.py)); do $(PY) $$script || exit 1; done

clean:
	$(SAY) "removing $(VENV), caches and build output"
	@rm -rf $(VENV) build dist docs/_build docs/reference/generated .pytest_cache .hypothesis .mypy_cache .ruff_cache .import_linter_cache
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "suffice: Python 3.11 or newer is needed; $(PYTHON) is missing or older. Try make PYTHON=python3.13"; exit 1; }
	$(SAY) "creating $(VENV) with $(create_words)"
	@$(create)
	@touch $@

# The stamps depend on pyproject.toml: a change there installs again, an edit to the code does not need to.
$(VENV)/.installed-library: pyproject.toml | $(VENV)/.created
	$(SAY) "installing the library with $(install_words) (once; about a minute)"
	@$(call install,.)
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/.created
	$(SAY) "installing the library and its test tools with $(install_words) (once; about a minute)"
	@$(call install,.[dev])
	@touch $(VENV)/.installed-library $@
