# Everything needs only Python 3.11, git and make; the environment is made on first use
# and made again when pyproject.toml or constraints.txt change.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# One thread per process: tests run in parallel, and BLAS threads would fight over the cores.
export OMP_NUM_THREADS ?= 1

# Some virtual machines announce matrix tiles (AMX) and kill the process that uses them, so that
# any product of torch in bfloat16 ends it. Without them everything runs, single precision no slower.
export ONEDNN_MAX_CPU_ISA ?= AVX512_CORE_BF16

.PHONY: demo test test-all attack docs notebooks release lint types contracts bench figures format clean help

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "lfds needs Python 3.11 or newer; set it with: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@# torch first and pinned: an unpinned torch would bring gigabytes of CUDA libraries along.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(READY)  ## compare three poolings on built-in graphs, in minutes, and end in a report
	$(BIN)/lfds compare --data pc-graphs --graphs 480 --pool max loop image --folds 3 --epochs 20 \
		--workers 2 --out build/demo
	$(BIN)/lfds report build/demo

# While the layer is tested, shapes are checked in every call, except where torch traces the code.
# Everything else trains networks, for which these checks would take more time than the training.
PYTEST := $(BIN)/python -m pytest -n auto
SHAPES := --jaxtyping-packages=lfds.nn,beartype.beartype
# Coverage, which takes 29 % more time, is judged once: fail_under holds for the report at the end.
COVER := --cov --cov-report= --cov-fail-under=0

test: lint types contracts  ## everything that must be green, in minutes
	$(PYTEST) $(SHAPES) -m "shapes and not slow" tests/nn tests/testing
	$(PYTEST) -m "not shapes and not slow"

test-all: lint types contracts  ## the same, and the slow tests; shapes are checked everywhere
	$(PYTEST) $(COVER) $(SHAPES) -m "not plain"
	$(PYTEST) $(COVER) --cov-append -m plain
	$(BIN)/coverage report

# A failure names its input or its trial; with `python -m tests.attack replay NAME` it runs alone.
ATTACK_INPUTS ?= 10000
ATTACK_KILLS  ?= 100
ATTACK_SEED   ?= 1
attack: $(READY)  ## mutated inputs for all readers, and kills at random moments; takes a while
	$(BIN)/python -m tests.attack fuzz --inputs $(ATTACK_INPUTS) --seed $(ATTACK_SEED)
	$(BIN)/python -m tests.attack kills --count $(ATTACK_KILLS) --seed $(ATTACK_SEED)

docs: $(READY)  ## build the documentation site into build/site; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

notebooks: $(READY)  ## execute the notebooks of the documentation anew
	$(BIN)/python docs/notebooks/execute.py

release: $(READY)  ## build sdist and wheel, check them, and use the wheel in a clean environment
	PYTHON=$(PYTHON) .ci/release

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

contracts: $(READY)
	$(BIN)/lint-imports

# What the demo has run already is not run again.
figures: demo  ## draw the pictures of README and docs anew
	$(BIN)/python docs/figures/landing.py
	$(BIN)/python docs/figures/pc_graphs.py docs/figures/pc-graphs.png
	$(BIN)/python docs/figures/atlas.py
	$(BIN)/python docs/figures/topography.py
	$(BIN)/python docs/figures/report.py build/demo/report.html docs/figures/report.png

bench: $(READY)  ## speed and memory beside the peers; rewrites the tables of benchmarks/README.md
	$(BIN)/python -m benchmarks

format: $(READY)  ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove the environment and the caches
	rm -rf $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage
