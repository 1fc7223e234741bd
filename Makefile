# SPDX-License-Identifier: GPL-3.0-or-later
# `make help` lists the targets. Sources are found by wildcard: a new file needs no line here.

VERSION := 0.1

# One directory of objects per kind of build, so that they never mix.
B := build
CFLAGS ?= -O2 -g
ifdef DEBUG
B := build/debug
CFLAGS := -O0 -g3
endif
ifdef ASAN
B := build/asan
CFLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifdef TSAN
B := build/tsan
CFLAGS := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
endif
ifdef COVERAGE
B := build/coverage
CFLAGS := -O0 -g --coverage
endif
ifdef CROSS_COMPILE
B := build/$(CROSS_COMPILE:-=)
endif

ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS_COMPILE)g++
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
LDFLAGS ?= -Wl,-z,relro,-z,now
CLANG ?= clang
PREFIX ?= /usr/local

# V=1 shows the commands.
Q := $(if $(V),,@)
# By make itself: a process for each line, and one for each folder that is there, are seconds of a build.
empty :=
say = $(if $(V),,$(info $(empty)  $(1)  $@))
folder = $(if $(wildcard $(@D)/.),,@mkdir -p $(@D))

# As Debian names its directories; clang puts a vendor into it.
MACHINE := $(subst -pc-,-,$(shell $(CC) -dumpmachine 2>/dev/null))
BPF_ARCH := $(if $(findstring aarch64,$(MACHINE)),arm64,x86)

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(filter true 1,$(CI) $(WERROR)),)
WARNINGS += -Werror
endif

# PC_CFLAGS and PC_LIBS; made by .make/deps, which answers a missing package with one line.
CONFIG := $(B)/config.mk
BARE_GOALS := deps deps-bench demo docs test test-long test-vm arm64 help clean
ifneq ($(filter-out $(BARE_GOALS),$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell mkdir -p $(B); test $(CONFIG) -nt .make/deps && echo there),there)
MISSING := $(shell PKG_CONFIG="$(PKG_CONFIG)" CC="$(CC)" .make/deps config 2>&1 >$(CONFIG).new && \
	mv $(CONFIG).new $(CONFIG))
ifneq ($(MISSING),)
$(error $(MISSING))
endif
endif
include $(CONFIG)
endif

# Not in what is built without optimisation or with sanitizers, which have ways of their own.
HARDENED := $(if $(DEBUG)$(ASAN)$(TSAN)$(COVERAGE)$(filter -O0,$(CFLAGS)),,$(HARDEN))
# Libraries that go into other programs are built the same in every kind of build.
LIBRARY_LDFLAGS := -shared -s -Wl,-z,defs,-z,relro,-z,now,-z,noexecstack

ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARNINGS) -Isrc -I. $(PC_CFLAGS) $(HARDENED) $(CFLAGS) -pthread
LIBS = -Wl,--as-needed $(PC_LIBS) -lpfm -liberty -lm -pthread

SRC := $(wildcard $(foreach d,src probes analysis report pmu,$d/*.c $d/*/*.c $d/*/*/*.c))
SRC := $(filter-out probes/bpf/% probes/java/agent/% probes/java/preload/% probes/edges/runtime/%,$(SRC))
OBJ := $(SRC:%.c=$(B)/obj/%.o)
LIB_OBJ := $(filter-out $(B)/obj/src/main.o,$(OBJ))
BPF := $(patsubst probes/bpf/%.bpf.c,%,$(wildcard probes/bpf/*.bpf.c))
BPF_OBJ := $(BPF:%=$(B)/bpf/%.embed.o)
# The Java agent is a library inside of ispot; without a JDK's headers ispot is built without it.
JDK_HEADERS := $(firstword $(patsubst %/jvmti.h,%,$(wildcard $(addsuffix /include/jvmti.h,$(JAVA_HOME) \
	       /usr/lib/jvm/default-java /usr/lib/jvm/*))))
# Without curl's headers ispot asks no servers; the library is opened when it does.
CURL_HEADER := $(firstword $(wildcard $(foreach d,/$(MACHINE) ,/usr/include$d/curl/curl.h)))
JAVA_SRC := $(wildcard probes/java/agent/*.c)
JAVA_TESTED := $(patsubst %.c,$(B)/obj/%.o,$(filter-out %/agent.c %/context.c %/helper.c %/monitor.c %/virtual.c,$(JAVA_SRC)))
# The runtime of programs that count their edges: a library of its own, which ispot carries, too.
EDGES_SRC := $(wildcard probes/edges/runtime/*.c)
EDGES_LIB := $(B)/libispot-edges.so
comma := ,
# $(1): the compiler
edges_cflags = -fsanitize-coverage=$(if $(findstring clang,$(1)),bb$(comma)trace-pc$(comma)no-prune \
	       -fno-sanitize-link-runtime,trace-pc)
TEXT_OBJ := $(B)/edges.embed.o $(if $(JDK_HEADERS),$(B)/java/agent.embed.o $(B)/java/preload.embed.o) $(patsubst report/html/%.css,$(B)/report/%.embed.o,$(wildcard report/html/*.css)) $(B)/groups.embed.o
GROUPS := $(sort $(wildcard pmu/groups/*.txt))
# The microbenchmarks are measured objects: always built the same, whatever the kind of build, and
# with frame pointers, as distributions build programs now.
MICROBENCH := $(patsubst microbench/%.c,build/microbench/%,$(wildcard microbench/*.c)) \
	      $(patsubst microbench/%.cc,build/microbench/%,$(wildcard microbench/*.cc))
# All unit tests are one program: each is a name of it, by which it knows which tests are asked for.
UNIT_OBJ := $(patsubst tests/unit/%.c,$(B)/unit/%.o,$(wildcard tests/unit/test_*.c))
UNIT := $(UNIT_OBJ:%.o=%)
HELPERS := $(patsubst tests/live/%.c,build/live/%,$(wildcard tests/live/*.c)) \
	   $(patsubst tests/live/%.cc,build/live/%,$(wildcard tests/live/*.cc)) \
	   $(patsubst tests/live/edges/%.cc,build/edges/%,$(wildcard tests/live/edges/*.cc))

.SECONDARY:
.PHONY: all objects microbench unit FORCE
all: ispot microbench $(EDGES_LIB)
objects: $(OBJ) $(BPF_OBJ)
microbench: $(MICROBENCH) build/edges/uneven build/edges/in_turn
unit: $(UNIT) $(B)/many $(B)/static/ispot

# The top level always holds the program of the latest make.
ispot: $(B)/ispot FORCE
	@cmp -s $< $@ || { cp $< $@.new && mv $@.new $@; }

$(B)/ispot: $(OBJ) $(BPF_OBJ) $(TEXT_OBJ)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The same program, of archives and at fixed addresses. Checks start it thousands of times, each time to read a small
# trace, of which loading and relocating the libraries would be most. Made last: one that is older is of another make.
$(B)/static/ispot: $(B)/ispot
	$(folder)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -no-pie -o $@ $(OBJ) $(BPF_OBJ) $(TEXT_OBJ) -Wl,--start-group $(ARCHIVES) -Wl,--end-group \
		-lm -pthread $(if $(V),,2>/dev/null) || cp $< $@

# Unit tests take from here what they call.
$(B)/libispot.a: $(LIB_OBJ) $(JAVA_TESTED) $(BPF_OBJ) $(TEXT_OBJ)
	@rm -f $@
	$(call say,AR  )
	$(Q)$(AR) rcs $@ $^

# Changed flags rebuild everything.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CXX) $(ALL_CFLAGS) $(VERSION) $(CURL_HEADER)' | cmp -s - $@ || \
	 echo '$(CC) $(CXX) $(ALL_CFLAGS) $(VERSION) $(CURL_HEADER)' >$@

$(B)/obj/%.o: %.c $(B)/flags
	$(folder)
	$(call say,CC  )
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/obj/src/cli/command.o: ALL_CFLAGS += -DISPOT_VERSION='"$(VERSION)"'

# -O2 -g: types for CO-RE; then the DWARF goes and the BTF stays.
$(B)/bpf/%.bpf.o: probes/bpf/%.bpf.c $(B)/flags
	$(folder)
	$(call say,BPF )
	$(Q)$(CLANG) -target bpf -O2 -g -Wall $(filter -Werror,$(WARNINGS)) -D__TARGET_ARCH_$(BPF_ARCH) \
		-Isrc -I. -I/usr/include/$(MACHINE) -MMD -MP -c -o $@ $<
	@if command -v llvm-strip >/dev/null; then llvm-strip -g $@; fi

$(B)/bpf/%.embed.o: $(B)/bpf/%.bpf.o .make/embed
	$(call say,EMBED)
	$(Q).make/embed bpf_$* $< | $(CC) $(if $(filter --coverage,$(CFLAGS)),,$(CFLAGS)) -x assembler-with-cpp -c -o $@ -

# It is loaded by programs that know nothing of sanitizers: always built the same.
$(B)/java/%.o: probes/java/agent/%.c $(B)/flags
	$(folder)
	$(call say,CC  )
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(HARDEN) $(WARNINGS) -fPIC -fvisibility=hidden -Isrc -I. \
		-isystem $(JDK_HEADERS) -isystem $(JDK_HEADERS)/linux -pthread -MMD -MP -c -o $@ $<

$(B)/libispot-java.so: $(patsubst probes/java/agent/%.c,$(B)/java/%.o,$(JAVA_SRC))
	$(call say,LINK)
	$(Q)$(CC) $(LIBRARY_LDFLAGS) -o $@ $^ -pthread

$(B)/java/agent.embed.o: $(B)/libispot-java.so .make/embed
	$(call say,EMBED)
	$(Q).make/embed java_agent $< | $(CC) $(if $(filter --coverage,$(CFLAGS)),,$(CFLAGS)) -x assembler-with-cpp -c -o $@ -

# It goes into programs of any C library, so it needs none; -z defs holds it to that.
$(B)/libispot-preload.so: probes/java/preload/preload.c probes/java/preload/preload.h $(B)/flags
	$(call say,LINK)
	$(Q)$(CC) -std=gnu11 -O1 -ffreestanding $(filter %-protection %-protection=standard,$(HARDEN)) -fno-stack-protector \
		$(WARNINGS) -fPIC -fvisibility=hidden -I. $(LIBRARY_LDFLAGS) -nostdlib -o $@ $<

$(B)/java/preload.embed.o: $(B)/libispot-preload.so .make/embed
	$(folder)
	$(call say,EMBED)
	$(Q).make/embed java_preload $< | $(CC) $(if $(filter --coverage,$(CFLAGS)),,$(CFLAGS)) -x assembler-with-cpp -c -o $@ -

# As the agent. It stands in every block of the programs that are linked with it.
$(EDGES_LIB): $(EDGES_SRC) $(wildcard probes/edges/runtime/*.h) $(B)/flags
	$(folder)
	$(call say,LINK)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 $(HARDEN) $(WARNINGS) -fPIC -fvisibility=hidden -I. $(LIBRARY_LDFLAGS) \
		-Wl,-soname,$(@F) -o $@ $(EDGES_SRC) -pthread -ldl

$(B)/edges.embed.o: $(EDGES_LIB) .make/embed
	$(folder)
	$(call say,EMBED)
	$(Q).make/embed edges_runtime $< | $(CC) $(if $(filter --coverage,$(CFLAGS)),,$(CFLAGS)) -x assembler-with-cpp -c -o $@ -

$(B)/groups.embed.o: $(GROUPS) $(B)/flags .make/embed
	$(call say,EMBED)
	$(Q)cat $(GROUPS) >$(B)/groups.txt
	$(Q).make/embed groups $(B)/groups.txt | $(CC) $(if $(filter --coverage,$(CFLAGS)),,$(CFLAGS)) -x assembler-with-cpp -c -o $@ -

$(B)/report/%.embed.o: report/html/%.css .make/embed
	$(folder)
	$(call say,EMBED)
	$(Q).make/embed $*_css $< | $(CC) $(if $(filter --coverage,$(CFLAGS)),,$(CFLAGS)) -x assembler-with-cpp -c -o $@ -

build/microbench/%: microbench/%.c $(wildcard probes/ispot.h)
	$(folder)
	$(call say,CC  )
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -fno-omit-frame-pointer $(WARNINGS) -I. -pthread -MMD -MP \
		-MF $@.d -o $@ $< -lm

build/microbench/%: microbench/%.cc $(wildcard probes/ispot.h)
	$(folder)
	$(call say,CXX )
	$(Q)$(CXX) -O2 -g -Wall -Wextra -I. -pthread -MMD -MP -MF $@.d -o $@ $< -lm

# The same, counting its own edges.
build/edges/%: microbench/%.c $(EDGES_LIB)
	$(folder)
	$(call say,CC  )
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O2 -g -fno-omit-frame-pointer $(WARNINGS) -I. -pthread $(call edges_cflags,$(CC)) \
		-MMD -MP -MF $@.d -o $@ $< $(EDGES_LIB) -Wl,-rpath,'$$ORIGIN/..' -lm

build/edges/%: tests/live/edges/%.cc $(EDGES_LIB)
	$(folder)
	$(call say,CXX )
	$(Q)$(CXX) -O2 -g -Wall -Wextra -pthread $(call edges_cflags,$(CXX)) -MMD -MP -MF $@.d \
		-o $@ $< $(EDGES_LIB) -Wl,-rpath,'$$ORIGIN/..'

# Programs that live tests record: built plainly for the same reason.
build/live/%: tests/live/%.c
	$(folder)
	$(call say,CC  )
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -O1 -g $(WARNINGS) -I. -pthread -MMD -MP -MF $@.d -o $@ $< -lm -ldl

build/live/%: tests/live/%.cc
	$(folder)
	$(call say,CXX )
	$(Q)$(CXX) -O1 -g -Wall -Wextra -I. -pthread -MMD -MP -MF $@.d -o $@ $< -lm -ldl

# What they call is optimised, they themselves are not: that would be a sixth of the time of a build.
UNIT_CFLAGS = $(if $(HARDENED),$(patsubst -O%,-O0,$(filter-out $(HARDENED),$(ALL_CFLAGS))),$(ALL_CFLAGS))

$(B)/unit/%.o: tests/unit/%.c $(B)/flags
	$(folder)
	$(call say,CC  )
	$(Q)$(CC) $(UNIT_CFLAGS) -Itests/unit -include unit.h -Dmain=$*_main -MMD -MP -c -o $@ $<

# One of them by itself, for guests of another machine; CMOCKA: where its library is.
$(B)/alone/%: tests/unit/%.c $(B)/libispot.a $(B)/flags
	$(folder)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(CMOCKA:%=-I%/usr/include) -Itests/unit -include unit.h -o $@ $< $(B)/libispot.a \
		$(CMOCKA:%=-L%/usr/lib/$(MACHINE)) -l:libcmocka.so.0 $(LIBS)

# The table of names and functions that tests/unit/all.c reads.
$(B)/unit/names.h: $(UNIT_OBJ)
	@printf 'TEST(%s)\n' $(notdir $(UNIT)) >$@

$(B)/unit/all: tests/unit/all.c $(UNIT_OBJ) $(B)/unit/names.h $(B)/libispot.a $(B)/flags
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -I$(B)/unit -o $@ $< $(UNIT_OBJ) $(B)/libispot.a -lcmocka $(LIBS)

$(UNIT): $(B)/unit/all
	@ln -sf all $@

# It runs commands of ispot one after the other, for checks that have hundreds.
$(B)/many: tests/check/many.c $(B)/flags
	$(call say,CC  )
	$(Q)$(CC) $(ALL_CFLAGS) -o $@ $<

build/bench/%: tests/bench/%.c $(B)/libispot.a $(B)/flags
	$(folder)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -MF $@.d -o $@ $< $(B)/libispot.a $(LIBS)

-include $(wildcard build/bench/*.d build/edges/*.d)
-include $(wildcard $(B)/java/*.d) $(JAVA_TESTED:.o=.d)
-include $(OBJ:.o=.d) $(BPF:%=$(B)/bpf/%.bpf.d) $(MICROBENCH:%=%.d) $(UNIT_OBJ:.o=.d) $(HELPERS:%=%.d)

include .make/targets.mk
