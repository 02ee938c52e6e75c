# SPDX-License-Identifier: Apache-2.0
# The short names of what one does here; the build itself is CMake's (CMakePresets.json).

JOBS ?= $(shell nproc)
BUILD = cmake --build build/$(1) --parallel $(JOBS)
# Configured once per folder; after that CMake looks by itself whether it has to run again.
CONFIGURED = build/$(1)/build.ninja
CTEST = ctest --output-on-failure --no-tests=error --timeout 300

.DEFAULT_GOAL := all
.PHONY: all help demo test kernels asan tsan killed fuzz portable bench format clean
# One preset at a time: each uses all cores by itself.
.NOTPARALLEL:
.PRECIOUS: build/%/build.ninja

all: $(call CONFIGURED,release)  ## the programs: build/bin/whet and build/bin/whet-worker
	@$(call BUILD,release) --target whet whet-worker
	@mkdir -p build/bin
	@install -C -m 755 build/release/bin/whet build/release/bin/whet-worker build/bin/

demo:  ## installs what is missing, builds, and sharpens a real kernel before your eyes (under 10 minutes)
	@sh tools/setup --demo
	@$(MAKE) --no-print-directory all
	@build/bin/whet demo

test:  ## installs what is missing, builds, and runs every test
	@sh tools/setup
	@$(MAKE) --no-print-directory test-dev

kernels:  ## the CUDA kernels for Hopper: build/kernels/attention.so (needs nvcc 12.3 or later)
	@$(MAKE) --no-print-directory -f kernels/Makefile

asan: test-asan  ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
tsan: test-tsan  ## every test under ThreadSanitizer

test-%: $(call CONFIGURED,%)
	@$(call BUILD,$*) --target all headers
	@sh tools/run_tests build/$*

KILLS ?= 60
killed: $(call CONFIGURED,dev)  ## kill -9 of whet, worker and runners at random moments of real runs; KILLS=60 SEED=1
	@$(call BUILD,dev) --target killed_test
	@WHET_KILLS=$(KILLS) WHET_SEED=$(SEED) build/dev/bin/killed_test

SECONDS_EACH ?= 600
fuzz:  ## every parser under a fuzzer (needs clang-19: sh tools/setup --all); SECONDS_EACH=600
	@sh fuzz/run $(SECONDS_EACH)

portable: $(call CONFIGURED,portable)  ## one file per program, for hosts where only glibc is to be had: build/portable/bin
	@$(call BUILD,portable) --target whet whet-worker
	@ls -l build/portable/bin/whet build/portable/bin/whet-worker

bench: $(call CONFIGURED,release)  ## the tuner against random search, on the landscapes in bench/
	@$(call BUILD,release) --target tuner_vs_random
	@build/release/bin/tuner_vs_random bench/landscapes/*.json

format:  ## clang-format over all sources
	@git ls-files '*.cc' '*.h' | xargs $$(command -v clang-format-19 || command -v clang-format) -i

build/%/build.ninja: CMakeLists.txt CMakePresets.json
	@mkdir -p build
	@cmake --preset $* > $(@D).log 2>&1 || { cat $(@D).log; echo "make: could not configure; 'sh tools/setup' installs what is missing"; rm -f $(@D).log; exit 1; }
	@rm -f $(@D).log
	@touch $@

clean:  ## removes build/
	rm -rf build

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
