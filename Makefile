# Rondo. `make help` lists the targets; README.md has the two that matter.
#
# One set of rules for every kind of build: the sanitizer, coverage and fuzzing builds call this
# file again with another BUILD folder and other CFLAGS. Sources are found by wildcard; a library
# module is a folder in src/, a unit test a file t/unit/test_*.c, a benchmark bench/bench_*.c, a
# fuzzing target t/fuzz/fuzz_*.c, and nothing has to be listed here.

CC      ?= cc
CFLAGS  ?= -O2 -g
LDFLAGS ?=
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 360

WARN     := -Wall -Wextra -Wshadow -Wconversion
CPPFLAGS += -D_GNU_SOURCE -Isrc -Iinclude
LDLIBS   += -lzstd -lm

# --- what there is -------------------------------------------------------------------------

LIB_SRC     := $(filter-out src/cmd/%,$(wildcard src/*/*.c))
CMD_SRC     := $(wildcard src/cmd/*.c)
TOOL_SRC    := $(wildcard bench/tool_*.c)
BENCH_SRC   := $(wildcard bench/bench_*.c)
VIRTUAL_SRC := $(filter-out $(BENCH_SRC) $(TOOL_SRC),$(wildcard bench/*.c))
UNIT_SRC    := $(wildcard t/unit/test_*.c)
FUZZ_SRC    := $(wildcard t/fuzz/fuzz_*.c)
SHELL_TESTS := $(wildcard t/t*.t)
HEADERS     := $(wildcard src/*/*.h include/*/*.h bench/*.h t/unit/*.h)

LIB     := $(BUILD)/librondo.a
VIRTUAL := $(BUILD)/libvirtual.a
RONDO   := $(if $(CMD_SRC),$(BUILD)/rondo)
TOOLS   := $(TOOL_SRC:bench/tool_%.c=$(BUILD)/%)
BENCHES := $(BENCH_SRC:bench/%.c=$(BUILD)/bench/%)
UNITS   := $(UNIT_SRC:t/unit/%.c=$(BUILD)/t/%)
FUZZERS := $(FUZZ_SRC:t/fuzz/%.c=$(BUILD)/bin/%)

objects  = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
ALL_OBJ := $(call objects,$(wildcard src/*/*.c bench/*.c t/unit/*.c t/fuzz/*.c))

# A make below this one: shares its job slots, or takes as many as there are processors.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help deps test bench demo install check-headers check-format format asan cov fuzz \
	fuzz-smoke clean programs run-tests run-fuzz

# --- building ------------------------------------------------------------------------------

all: $(LIB) $(RONDO) $(TOOLS) ## build the library, the rondo program and the generator (default)

programs: all $(UNITS) $(BENCHES)

# Rewritten only when what it holds changes, so that what depends on it is made again.
define remember
@mkdir -p $(@D)
@printf '%s\n' '$(strip $(1))' | cmp -s - $@ || printf '%s\n' '$(strip $(1))' >$@
endef

$(BUILD)/flags: FORCE
	$(call remember,$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))

$(BUILD)/sources: FORCE
	$(call remember,$(LIB_SRC) $(VIRTUAL_SRC) $(CMD_SRC))

.PHONY: FORCE
FORCE:

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARN) $(CPPFLAGS) $(MORE_CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# Tests and benchmarks may use the generator of virtual ranks, as "bench/virtual.h".
$(call objects,$(UNIT_SRC) $(FUZZ_SRC) $(wildcard bench/*.c)): private MORE_CPPFLAGS := -I.

define archive
@rm -f $@
ar rcs $@ $(filter %.o,$^)
endef

define link
@mkdir -p $(@D)
$(CC) $(CFLAGS) $(LDFLAGS) $(MORE_LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)
endef

$(LIB): $(call objects,$(LIB_SRC)) $(BUILD)/sources
	$(archive)

$(VIRTUAL): $(call objects,$(VIRTUAL_SRC)) $(BUILD)/sources
	$(archive)

$(BUILD)/rondo: $(call objects,$(CMD_SRC)) $(LIB) $(BUILD)/sources
	$(link)

$(TOOLS): $(BUILD)/%: $(BUILD)/obj/bench/tool_%.o $(VIRTUAL) $(LIB)
	$(link)

$(BENCHES): $(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(VIRTUAL) $(LIB)
	$(link)

$(UNITS): $(BUILD)/t/%: $(BUILD)/obj/t/unit/%.o $(VIRTUAL) $(LIB)
	$(link)

$(FUZZERS): private MORE_LDFLAGS := -fsanitize=fuzzer
$(FUZZERS): $(BUILD)/bin/%: $(BUILD)/obj/t/fuzz/%.o $(VIRTUAL) $(LIB)
	$(link)

-include $(ALL_OBJ:.o=.d)

# --- the two commands of the README --------------------------------------------------------

demo: ## compress 4096 virtual ranks into one file and look inside
	@tools/deps build
	+@$(SUBMAKE) all
	@echo "== A 2D stencil on 4096 ranks, 100 steps: every rank's calls, merged into one file"
	$(BUILD)/virtual --pattern stencil2d --ranks 4096 --steps 100 -o $(BUILD)/demo.rondo
	@echo "== What is in the file"
	$(BUILD)/rondo info $(BUILD)/demo.rondo
	@echo "== The first 20 calls of rank 1365, read back from it"
	$(BUILD)/rondo dump $(BUILD)/demo.rondo --rank 1365 --to 20

test: ## run all tests
	@tools/deps build test
	+@$(SUBMAKE) programs
	@$(MAKE) --no-print-directory run-tests

TESTS ?= $(SHELL_TESTS) $(UNITS)

run-tests: programs
	@BUILD=$(BUILD) t/unit-runner $(TESTS)

deps: ## install the Debian packages that building and testing need, if any is missing
	@tools/deps build test

# --- more checks ---------------------------------------------------------------------------

BENCH_CSV = bench/results.csv

bench: ## run the benchmarks, one after the other; fails if a bar does not hold
	@tools/deps build
	+@$(SUBMAKE) $(BENCHES)
	@echo "bench,what,value,unit,bar,holds" > $(BENCH_CSV)
	@bad=; for b in $(BENCHES); do \
		echo "== $${b##*/}"; BENCH_CSV=$(BENCH_CSV) $$b || bad=1; \
	done; test -z "$$bad"

check-headers: ## each header compiles alone, and twice
	@bad=; for h in $(HEADERS); do \
		printf '#include "%s"\n#include "%s"\n' $$h $$h | \
		$(CC) -std=c11 $(WARN) -Werror $(CPPFLAGS) -I. -fsyntax-only -x c - || \
		{ echo "$$h does not compile alone"; bad=1; }; \
	done; test -z "$$bad"

C_FILES = { git ls-files -co --exclude-standard '*.c' '*.h' 2>/dev/null || \
	find bench include src t -name '*.[ch]'; } | while read -r f; do [ -f "$$f" ] && echo "$$f"; done

check-format: ## clang-format has nothing to change
	@$(C_FILES) | xargs -r clang-format --dry-run -Werror

format: ## let clang-format change it
	@$(C_FILES) | xargs -r clang-format -i

# The tests of the tree itself (t00*) have nothing to gain from an instrumented program.
COMMAND_TESTS = $(filter-out t/t00%,$(SHELL_TESTS))
PROGRAM_TESTS = TESTS='$(COMMAND_TESTS) $(UNIT_SRC:t/unit/%.c=$(1)/t/%)'

SAN_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

asan: ## unit and command tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/deps build test
	+@$(SUBMAKE) BUILD=$(BUILD)/asan CFLAGS='$(SAN_FLAGS)' \
		$(call PROGRAM_TESTS,$(BUILD)/asan) run-tests

COV = $(BUILD)/cov
# lcov talks to standard error even when all is well. The initial capture counts files that no test
# has touched.
LCOV = lcov --quiet --directory $(COV)/obj/src --base-directory .

cov: ## test coverage of src/: a page, and a summary line
	@tools/deps build test cov
	@find $(COV) -name '*.gcda' -delete 2>/dev/null || true
	+@$(SUBMAKE) BUILD=$(COV) CFLAGS='-O0 -g --coverage' $(call PROGRAM_TESTS,$(COV)) run-tests
	@{ $(LCOV) --capture --initial --output-file $(COV)/none.info && \
		$(LCOV) --capture --output-file $(COV)/run.info && \
		lcov --quiet -a $(COV)/none.info -a $(COV)/run.info --output-file $(COV)/all.info && \
		lcov --quiet --extract $(COV)/all.info '$(CURDIR)/src/*' --output-file $(COV)/src.info && \
		genhtml --quiet --prefix $(CURDIR) --output-directory $(COV)/html $(COV)/src.info; \
	} >$(COV)/lcov.log 2>&1 || { cat $(COV)/lcov.log; exit 1; }
	@lcov --summary $(COV)/src.info 2>&1 | awk '/lines|functions/ { printf "%s ", $$0 } \
		END { print "in $(COV)/html/index.html" }'

FUZZ = $(BUILD)/fuzz
FUZZ_FLAGS = $(SAN_FLAGS) -fsanitize=fuzzer-no-link

fuzz: ## fuzz each decoder for FUZZ_SECONDS (default 360); fails on a finding
	@tools/deps build fuzz
	+@$(SUBMAKE) BUILD=$(FUZZ) CC=clang CFLAGS='$(FUZZ_FLAGS)' run-fuzz

fuzz-smoke: ## the same for 10 seconds each
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=10

run-fuzz: $(FUZZERS)
	@BUILD=$(BUILD) t/fuzz/run $(FUZZ_SECONDS) $(FUZZERS)

# --- installing ----------------------------------------------------------------------------

MAN1       := $(wildcard doc/man/*.1)
API        := $(wildcard include/rondo/*.h)
COMPLETION := $(wildcard tools/rondo.bash)

install: all ## install into PREFIX (default /usr/local), below DESTDIR
	$(if $(RONDO),install -D -m 755 $(RONDO) "$(DESTDIR)$(PREFIX)/bin/rondo")
	$(if $(MAN1),install -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/man/man1" $(MAN1))
	$(if $(API),install -D -m 644 -t "$(DESTDIR)$(PREFIX)/include/rondo" $(API))
	$(if $(COMPLETION),install -D -m 644 $(COMPLETION) \
		"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/rondo")

clean: ## remove the build folder
	rm -rf $(BUILD)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
