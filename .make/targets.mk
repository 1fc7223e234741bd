# SPDX-License-Identifier: GPL-3.0-or-later
# Everything but compiling. A target whose parts are not there says so and fails.
.PHONY: deps deps-bench demo demo-run pictures tutorial example test test-long test-run test-parts check bench paper field fuzz test-vm arm64 bless \
	install deb rpm docs clean help helpers test-asan test-tsan test-valgrind test-compilers coverage \
	fuzz-coverage fuzz-fixed

SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
T ?=

help:
	@echo 'make            build ./ispot and the microbenchmarks (DEBUG=1 ASAN=1 TSAN=1 COVERAGE=1 CC=clang V=1)'
	@echo 'make demo       install what is missing, build, record a contended program, print its report'
	@echo 'make test       install what is missing, build, run the quick tests, in minutes; T=NAME runs one'
	@echo 'make test-long  all tests, in half an hour'
	@echo 'make check      format, headers, layers, man pages, scripts'
	@echo 'make deps       install the packages that building and testing need'
	@echo 'make bench      what a traced call costs here, beside perf and bpftrace (make deps-bench installs them)'
	@echo 'make paper      the experiments of the four papers beside ours, as pages; QUICK=1 in minutes; SPLASH3=, PHOENIX=: checkouts'
	@echo 'make fuzz       fuzz the parsers of files; SECONDS=N per target (60); fuzz-fixed: each time the same'
	@echo 'make test-asan  unit, golden and some live tests with sanitizers; also test-tsan, test-valgrind,'
	@echo '                test-compilers (gcc and clang, warnings as errors)'
	@echo 'make coverage   which lines unit and golden tests reach (gcov); fuzz-coverage: of the reader, fuzzing'
	@echo 'make test-vm    what could harm a kernel, and recording, in guest kernels; T=NAME one test or kernel'
	@echo 'make arm64      cross-build ispot for arm64 (build/aarch64-linux-gnu/ispot) with its Debian packages'
	@echo 'make field      ispot on programs that others wrote; T=NAME one of them, SPLASH3=DIR PHOENIX=DIR their checkouts'
	@echo 'make bless      rewrite the golden reports; T=NAME one of them'
	@echo 'make install    into PREFIX ($(PREFIX)) under DESTDIR'
	@echo 'make deb        a Debian package of that, in build/; make rpm: an RPM package'
	@echo 'make docs       the man pages as HTML and Markdown, in build/docs/'
	@echo 'make pictures   record again what README shows; make tutorial, make example: what ispot-tutorial(7) and ispot-sci(7) show'
	@echo 'make clean      remove what make made'

deps:
	@.make/deps install

# Beside which make bench measures; it says of each that is missing that its columns are empty.
deps-bench:
	@.make/deps install "build bench"

# Called again after the packages are there: only then can make know the libraries' flags.
demo:
	@$(if $(SUDO),command -v sudo >/dev/null || { echo 'recording needs root; as root run: make demo' >&2; exit 1; })
	@.make/deps install build
	@$(MAKE) --no-print-directory $(JOBS) ispot build/microbench/contended
	@$(MAKE) --no-print-directory demo-run

demo-run: ispot build/microbench/contended
	@mkdir -p build/demo
	$(SUDO) ./ispot record -o build/demo/ispot.data build/microbench/contended >build/demo/expect
	ISPOT_PAGER=cat ./ispot report -i build/demo/ispot.data

# What pages show of screens, as ispot prints it now.
pictures: ispot build/microbench/contended
	$(SUDO) .make/pictures man

example: ispot build/microbench/mutex
	$(SUDO) .make/tutorial man/ispot-sci.7

tutorial: ispot build/microbench/contended
	$(SUDO) .make/tutorial man/ispot-tutorial.7

# As many jobs as there are CPUs, if the user has not said how many.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

test test-long:
	@.make/deps install
	@$(MAKE) --no-print-directory $(JOBS) test-parts
	@$(MAKE) --no-print-directory test-run ALL=$(if $(filter test-long,$@),-a)

test-parts: ispot microbench unit $(HELPERS)

test-run: test-parts
	@B=$(B) tests/run $(ALL) $(T)

check: test-parts
	@B=$(B) tests/run check

bless: test-parts
	@B=$(B) tests/golden/run bless $(T)

# $(1): the program that does it, $(2): what is missing without it
part = @test -x $(1) || { echo "make $@: $(2) (no $(1))" >&2; exit 1; }

# PARTS: of the measurements only these, as tests/bench/run names them
bench: ispot microbench build/bench/trace_speed build/bench/cluster_speed build/bench/points build/bench/ring_speed
	$(call part,tests/bench/run,no benchmark beside perf and bpftrace yet; ./ispot bench measures ispot alone)
	$(SUDO) tests/bench/run $(PARTS)

# PARTS: of the experiments only these, as tests/paper/run names them; SPLASH3, PHOENIX: checkouts of those suites
paper: ispot microbench build/bench/cluster_speed
	@.make/deps install "build paper"
	$(SUDO) QUICK=$(QUICK) PARTS="$(PARTS)" SPLASH3="$(SPLASH3)" PHOENIX="$(PHOENIX)" tests/paper/run

# T: rows of tests/field/programs; SPLASH3, PHOENIX: checkouts of those suites. Packages are installed row by row.
field: ispot
	@.make/deps install "build bench"
	$(SUDO) T="$(T)" SPLASH3="$(SPLASH3)" PHOENIX="$(PHOENIX)" tests/field/run

# T: a kernel of tests/vm/kernels.txt or a test of tests/vm/guest; without, CI=true takes what the kernels have
# for CI. Kernels that cannot be had are skipped.
test-vm:
	@.make/deps install "build vm" || echo 'guests that need these packages are skipped'
	prove -v --timer --exec '' tests/vm/run $(if $(T),:: $(T),$(if $(filter true 1,$(CI)),:: -c))

arm64:
	@.make/deps install "build vm"
	@.make/cross arm64 >/dev/null

helpers: $(HELPERS)

test-asan test-tsan test-valgrind test-compilers coverage:
	@tests/strict $(@:test-%=%)

SECONDS ?= 60

fuzz:
	CLANG=$(CLANG) tests/fuzz/run -j "$$(nproc)" $(SECONDS)

# Of CI: what it finds is of the change, not of chance. LIMIT: seconds in all
fuzz-fixed:
	CLANG=$(CLANG) tests/fuzz/run -f -j "$$(nproc)" $(LIMIT)

# What of the reader's lines the corpus of `make fuzz` reaches.
fuzz-coverage:
	CLANG=$(CLANG) tests/fuzz/run -c

D := $(DESTDIR)$(PREFIX)
MAN := $(wildcard man/*.[1-8])

install: ispot $(EDGES_LIB)
	install -d $(D)/bin $(D)/lib/ispot $(D)/share/bash-completion/completions $(D)/share/zsh/site-functions \
		$(D)/share/fish/vendor_completions.d
	install -m 755 ispot $(D)/bin/ispot
	install -m 644 $(EDGES_LIB) $(D)/lib/ispot/libispot-edges.so
	./ispot --completion bash >$(D)/share/bash-completion/completions/ispot
	./ispot --completion zsh >$(D)/share/zsh/site-functions/_ispot
	./ispot --completion fish >$(D)/share/fish/vendor_completions.d/ispot.fish
	$(foreach m,$(MAN),install -D -m 644 $m $(D)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m)$(newline))
	$(if $(wildcard probes/ispot.h),install -D -m 644 probes/ispot.h $(D)/include/ispot.h)

deb: ispot
	@.make/deb $(VERSION) build

rpm: ispot $(EDGES_LIB)
	@.make/rpm $(VERSION) build

docs:
	@.make/docs build/docs

define newline

	
endef

clean:
	rm -rf build ispot
