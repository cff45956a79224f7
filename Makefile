# The one front door. `make` alone lists the commands.
#
# Each command is a few steps. A step that succeeds prints one line; one that fails prints all it
# has to say, and its log stays in build/log.

SHARED ?= ../shared
JOBS ?= $(shell nproc)
MUTANTS ?= --count 100

STEP := tools/step.sh
CTEST := ctest --output-on-failure --timeout 900 -j $(JOBS) --preset
OFFICIAL := $(wildcard $(addprefix $(SHARED)/,spec-tests spec-tests-sdam-2023 spec-tests-2026-08))
SUITES := $(notdir $(OFFICIAL))

# Files of newer specifications run under the profile that follows those.
profile_of_spec-tests-2026-08 := --profile upstream_2026_07

# On sockets a process waits for nine tenths of its time; but more than a few make each other late.
SOCKET_JOBS ?= 4

# Where Debian keeps llvm-symbolizer, without which a sanitizer's report has no line numbers.
export PATH := $(PATH):/usr/lib/llvm-19/bin

.NOTPARALLEL:
.PHONY: help setup build program drill truth test bench fuzz sanitize trace mutants interop interop-all format
.PHONY: format-check clean

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "make %-14s%s\n", $$1, $$2 }'

setup: ## install the Debian packages that are missing for tests (as root, or with sudo)
	@tools/setup.sh test

build: setup build/release.built ## build the library, the program, tests and examples (release)

program: ## build the program alone: build/bin/holdfast
	@tools/setup.sh build
	@$(STEP) "build holdfast" tools/build.sh program $(JOBS) holdfast_program

drill: program ## prove on an embedded set that nothing is lost and nothing is done twice
	@build/bin/holdfast drill

truth: build ## the same, harder: 3,000 storms in the simulator, a minute on sockets, planted defects
	@$(STEP) --show ' storms in ' "truth in 1,000 storms" build/bin/truth sim --seeds 1..1000 --jobs $(JOBS) --progress
	@$(STEP) --show ' storms in ' "truth in 2,000 Couchbase storms" build/bin/truth sim --couchbase --seeds 1..2000 --jobs $(JOBS) --progress
	@$(STEP) --show '^faults: ' "truth on sockets" build/bin/truth sockets --clients 16 --seconds 60
	@$(STEP) --show '^faults: ' "Couchbase truth on sockets" build/bin/truth sockets --couchbase --clients 16 --seconds 20
	@for defect in forgetful early renumber; do \
	    $(STEP) --show '^the planted' "finds the defect $$defect" \
	        build/bin/truth_planted sim --seeds 1..50 --defect $$defect || exit; \
	done
	@for defect in reused_opaque old_configuration repeated_write missed_deadline kept_collection \
	        kept_slot unproven_login long_wait; do \
	    $(STEP) --show '^the planted' "finds the defect $$defect" \
	        build/bin/truth_planted sim --couchbase --seeds 1..60 --defect $$defect || exit; \
	done

test: build unit-tests official-tests sanitized-tests interop-tests ## all that must pass before a commit
	@$(if $(OFFICIAL),echo "all tests passed",echo "OFFICIAL TESTS NOT RUN")

bench: setup build/bench.built ## measure against libbson, and what one operation costs
	@python3 bench/op/run.py --peer-bench $(SHARED)/peer-bench
	@python3 bench/lab/run.py --peer-bench $(SHARED)/peer-bench
	@python3 bench/core/run.py
	@python3 bench/run.py

fuzz: setup build/fuzz.built ## fuzz every parser of foreign bytes: 60 s and 1,000,000 runs each
	@tools/fuzz.py --spec-tests $(SHARED)/spec-tests

sanitize: setup build/asan.built build/tsan.built ## all tests in the address and thread sanitizers
	@$(STEP) "test asan" $(CTEST) asan
	@$(STEP) "test tsan" $(CTEST) tsan
	@$(MAKE) --no-print-directory $(foreach kind,asan tsan,$(SUITES:%=$(kind)-simulated/%))

trace: build unit-tests ## join test results and requirements into docs/conformance.md
	@tools/trace.py --requirements $(SHARED)/requirements/requirements.tsv

mutants: setup ## break the pure code in small ways and report what no unit test notices
	@tools/mutants.py $(MUTANTS)

interop: build interop-tests ## let clients that we did not write test the lab (STRICT=1: none may be missing)

interop-all: build ## the same, and mongosh
	@command -v npm >/dev/null || tools/setup.sh test nodejs npm || true
	@tests/interop/run.sh --all
	@$(STEP) "no secret in any output" tools/no_secrets.sh

format: setup ## format all C++ files
	@tools/format.py

format-check: setup ## say which C++ files are not formatted
	@$(STEP) "format" tools/format.py --check

clean: ## remove all that was built
	rm -rf build

# The steps that the commands above are made of.

.PHONY: unit-tests official-tests sanitized-tests interop-tests FORCE
.PHONY: $(foreach kind,official asan-simulated tsan-simulated,$(SUITES:%=$(kind)/%))

# Old results are removed first: a test that crashes writes none, and must not live on its last ones.
unit-tests: format-check
	@rm -rf build/results
	@$(STEP) "test release" $(CTEST) release
	@$(STEP) "no secret in any output" tools/no_secrets.sh

official-tests: $(SUITES:%=official/%)

$(SUITES:%=official/%): official/%:
	@$(STEP) --show '[0-9]+ passed, ' "official $*" \
	    build/bin/spec_runner $(SHARED)/$* $(profile_of_$*) --jobs $(SOCKET_JOBS)
	@$(STEP) --show '[0-9]+ passed, ' "simulated $*" \
	    build/bin/spec_runner $(SHARED)/$* $(profile_of_$*) --runtime sim --topology every \
	        --jobs $(JOBS)

$(SUITES:%=asan-simulated/%): asan-simulated/%:
	@$(STEP) --show '[0-9]+ passed, ' "simulated $* asan" \
	    build/asan/bin/spec_runner $(SHARED)/$* $(profile_of_$*) --runtime sim
$(SUITES:%=tsan-simulated/%): tsan-simulated/%:
	@$(STEP) --show '[0-9]+ passed, ' "simulated $* tsan" \
	    build/tsan/bin/spec_runner $(SHARED)/$* $(profile_of_$*) --runtime sim

sanitized-tests:
	@$(STEP) "build asan" tools/build.sh asan $(JOBS) sanitized_tests
	@$(STEP) "test asan" $(CTEST) asan -L '^(unit|property|runtime|toolchain)$$'
	@$(STEP) "same seeds, same histories" tests/world/determinism/run.py --seeds 50 \
	    build/bin/sim_determinism build/asan/bin/sim_determinism

# Where there is no npm and none can be had, its clients are skipped, and say so.
interop-tests:
	@command -v npm >/dev/null || tools/setup.sh test nodejs npm || true
	@tests/interop/run.sh
	@$(STEP) "no secret in any output" tools/no_secrets.sh

# Ninja knows what is out of date; this only says where each preset is built.
build/%.built: FORCE
	@$(STEP) "build $*" tools/build.sh $* $(JOBS)
