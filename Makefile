# SPDX-License-Identifier: Apache-2.0
# The short names of what one does here; the build itself is CMake's (CMakePresets.json).

JOBS ?= $(shell nproc)
BUILD = cmake --build build/$(1) --parallel $(JOBS)
# Configured once per folder; after that CMake looks by itself whether it has to run again.
CONFIGURED = build/$(1)/build.ninja
CTEST = ctest --output-on-failure --no-tests=error --timeout 300

.DEFAULT_GOAL := all
.PHONY: all help demo test kernels asan tsan fuzz portable bench format clean
# One preset at a time: each uses all cores by itself.
.NOTPARALLEL:
.PRECIOUS: build/%/build.ninja

all: $(call CONFIGURED,release)  ## the programs: build/bin/whet and build/bin/whet-worker
	@$(call BUILD,release)
	@mkdir -p build/bin
	@for program in whet whet-worker; do \
	  if [ -e build/release/bin/$$program ]; then install -C -m 755 build/release/bin/$$program build/bin/$$program; fi; done

demo:  ## installs what is missing, builds, and sharpens a real kernel before your eyes (under 10 minutes)
	@sh tools/setup --demo
	@$(MAKE) --no-print-directory all
	@build/bin/whet demo

test:  ## installs what is missing, builds, and runs every test
	@sh tools/setup
	@$(MAKE) --no-print-directory test-dev

kernels:  ## the CUDA kernels
	@if [ -d kernels ]; then echo "make kernels: the folder kernels/ has no build rule yet"; exit 1; \
	else echo "make kernels: there are none yet (no folder kernels/), so nothing was built"; fi

asan: test-asan  ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
tsan: test-tsan  ## every test under ThreadSanitizer

test-%: $(call CONFIGURED,%)
	@$(call BUILD,$*) --target all headers
	@sh tools/run_tests build/$*

SECONDS_EACH ?= 600
fuzz: $(call CONFIGURED,fuzz)  ## every parser under a fuzzer: SECONDS_EACH=600
	@$(call BUILD,fuzz)
	@sh tools/run_fuzzers build/fuzz $(SECONDS_EACH)

portable: $(call CONFIGURED,portable)  ## one file per program, for hosts where only glibc is to be had: build/portable/bin
	@$(call BUILD,portable)
	@ls -l build/portable/bin/whet build/portable/bin/whet-worker

bench: all  ## the tuner against random search, on the landscapes in bench/
	@if [ ! -x bench/run ]; then echo "make bench: bench/run is missing"; exit 1; fi
	@bench/run

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
