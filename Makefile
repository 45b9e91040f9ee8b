# Needs make, and a Python of 3.11 or newer with pip. Everything else is installed into .venv.
.DEFAULT_GOAL := help
.PHONY: help env serve test lint types format bench fuzz pages soak crash accuracy timing client pins clean

VENV := .venv
PY := $(VENV)/bin/python
# Under a version manager a command such as python3.13 may exist and refuse to run, so each is tried, not looked up.
FIND_PYTHON = for candidate in python3 python3.13 python3.12 python3.11 python; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& { echo "$$candidate"; exit; }; done
# Debian keeps ensurepip in a package of its own; without it, the pip that is there fills the environment.
MAKE_VENV = "$$python" -m venv $(VENV) >/dev/null 2>&1 \
	|| { "$$python" -m venv --clear --without-pip $(VENV) && "$$python" -m pip --python $(PY) install --quiet pip; }
# Installs a form of memplan with the pins of the environment's Python; where there are none, with what is newest.
INSTALL = set -e; \
	if ! $(PY) -m pip --version >/dev/null 2>&1; then \
		python="$$($(FIND_PYTHON))"; \
		[ -n "$$python" ] || { echo "no Python of 3.11 or newer found on the path" >&2; exit 1; }; \
		$(MAKE_VENV); \
	fi; \
	pins="constraints/$$($(PY) -c 'import sys; print("%d.%d" % sys.version_info[:2])').txt"; \
	if [ -f "$$pins" ]; then $(PY) -m pip install --quiet --constraint "$$pins" --editable '$(1)'; \
	else $(PY) -m pip install --quiet --editable '$(1)'; fi

help: ## Print this list
	@sed -n 's|^\([a-z]*\):.*## \(.*\)|\1 \2|p' $(MAKEFILE_LIST) | while read -r name text; do printf "  make %-8s %s\n" "$$name" "$$text"; done

env: $(VENV)/installed ## Make the virtual environment .venv, or bring it up to date

$(VENV)/installed: pyproject.toml $(wildcard constraints/*.txt)
	@echo "installing memplan and its tools into $(VENV), which takes a minute or two"
	@$(call INSTALL,.[dev])
	@touch $(VENV)/serving $@

serve: $(VENV)/serving ## Serve on 127.0.0.1:8000 with the SQLite file memplan.db
	$(VENV)/bin/memplan serve --host 127.0.0.1 --port 8000

# Who serves does not wait for the tools.
$(VENV)/serving: pyproject.toml $(wildcard constraints/*.txt)
	@echo "installing memplan into $(VENV), which takes half a minute"
	@$(call INSTALL,.[postgres])
	@touch $@

test: env ## Run the tests
	$(PY) -m pytest

lint: env ## Check style, formatting and the direction of imports
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports

types: env ## Check types
	$(VENV)/bin/mypy

format: env ## Rewrite the code in the project's format
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

bench: env ## Measure the calculator, the search and the service
	$(PY) -m tests.performance

pages: env ## Measure a page of a list over a million plans on PostgreSQL
	$(PY) -m tests.performance.pages

soak: env ## Ask for verdicts for ten minutes, with a search running; SOAK_SECONDS makes it shorter
	$(PY) -m tests.performance.soak

crash: env ## Kill the service during a thousand creates at a time, on both databases
	$(PY) -m tests.performance.crash

fuzz: env ## Ask a service of its own some twenty thousand questions made from the OpenAPI document
	$(PY) -m tests.api.fuzz -- --no-color --generation-database none

accuracy: env ## Compare measured runs with predictions; rewrite the intervals and docs/accuracy.md
	$(PY) -m tests.accuracy

timing: env ## Compare timed runs with predicted step times; rewrite docs/planner.md
	$(PY) -m tests.timing

client: env $(VENV)-client/installed ## Write the generated part of clients/python anew from the OpenAPI document
	mkdir -p build
	$(PY) -m service.api > build/openapi.json
	cd clients/python && PATH="$(CURDIR)/$(VENV)-client/bin:$$PATH" openapi-python-client generate \
		--path "$(CURDIR)/build/openapi.json" --config generator.yml --meta none --overwrite \
		--output-path src/memplan_client/generated
	$(PY) clients/python/write_codes.py build/openapi.json
	$(PY) -c 'import hashlib, pathlib; print(hashlib.sha256(pathlib.Path("build/openapi.json").read_bytes()).hexdigest())' \
		> clients/python/openapi.sha256

# The generator wants other versions of its libraries than the service, so it has an environment of its own.
$(VENV)-client/installed: clients/python/generator.txt
	$(PY) -m venv $(VENV)-client >/dev/null 2>&1 || $(PY) -m venv --clear --without-pip $(VENV)-client
	$(PY) -m pip --python $(VENV)-client/bin/python install --quiet --requirement $<
	touch $@

pins: env ## Pin the newest versions that pyproject.toml admits, in constraints/
	$(PY) -m pip install --quiet uv
	for minor in 3.11 3.12 3.13; do \
		$(VENV)/bin/uv pip compile --quiet --upgrade --all-extras --python-version $$minor --no-header --no-annotate \
			--no-emit-index-url --no-emit-find-links --output-file constraints/$$minor.txt pyproject.toml || exit 1; \
	done

clean: ## Remove the virtual environment, caches and builds
	rm -rf $(VENV) $(VENV)-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .coverage htmlcov
