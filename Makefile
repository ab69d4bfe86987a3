# Rondo. `make help` lists the targets; README.md describes the two main ones.
#
# All kinds of builds use the same rules. The sanitizer, coverage and fuzzing builds run this file
# again with another BUILD directory and other CFLAGS. Sources are found by wildcard and need not be
# listed here: a library module is a directory in src/, a unit test a file t/unit/test_*.c, a
# benchmark bench/bench_*.c, a fuzzing target t/fuzz/fuzz_*.c.

CC      ?= cc
CFLAGS  ?= -O2 -g
LDFLAGS ?=
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 360
FUZZ_LONG_SECONDS ?= 3600
FUZZ_MUTANTS ?= 20000
FUZZ_JOBS    ?= 2

# ASSERT=1 enables assertions. They are disabled by default, regardless of CFLAGS, because a failed
# assertion in the tracer would abort the traced program.
ASSERT ?=

WARN     := -Wall -Wextra -Wshadow -Wconversion
CPPFLAGS += -D_GNU_SOURCE $(if $(ASSERT),,-DNDEBUG) -Isrc -Iinclude -I$(BUILD)
LDLIBS   += -lzstd -lm

# --- sources and MPIs ----------------------------------------------------------------------

# Directories that run inside the traced program and include mpi.h. They are compiled once per MPI.
TRACER_DIRS := runtime preload trace record replay tracer
# Directories of the rondo program, which are not part of the library.
CMD_DIRS    := report launch cmd

sources_of   = $(foreach d,$(1),$(wildcard src/$(d)/*.c))
STUB_SRC    := src/preload/stub.c src/preload/stub_libc.c
TRACER_SRC  := $(filter-out $(STUB_SRC),$(call sources_of,$(TRACER_DIRS))) src/merge/merge_tree_mpi.c
CMD_SRC     := $(call sources_of,$(CMD_DIRS))
LIB_SRC     := $(filter-out $(STUB_SRC) $(TRACER_SRC) $(CMD_SRC),$(wildcard src/*/*.c))
TOOL_SRC    := $(wildcard bench/tool_*.c)
BENCH_SRC   := $(wildcard bench/bench_*.c)
VIRTUAL_SRC := $(filter-out $(BENCH_SRC) $(TOOL_SRC),$(wildcard bench/*.c))
UNIT_SRC    := $(wildcard t/unit/test_*.c)
FUZZ_SRC    := $(wildcard t/fuzz/fuzz_*.c)
SHELL_TESTS := $(wildcard t/t*.t)
HEADERS     := $(wildcard src/*/*.h include/*/*.h bench/*.h t/unit/*.h)
MPI_HEADERS := $(wildcard $(TRACER_DIRS:%=src/%/*.h)) src/merge/merge_tree_mpi.h

LIB     := $(BUILD)/librondo.a
VIRTUAL := $(BUILD)/libvirtual.a
RONDO   := $(if $(CMD_SRC),$(BUILD)/rondo)
TOOLS   := $(TOOL_SRC:bench/tool_%.c=$(BUILD)/%)
BENCHES := $(BENCH_SRC:bench/%.c=$(BUILD)/bench/%)
UNITS   := $(UNIT_SRC:t/unit/%.c=$(BUILD)/t/%)
FUZZERS := $(FUZZ_SRC:t/fuzz/%.c=$(BUILD)/bin/%)
MUTATE  := $(BUILD)/bin/mutate

GEN := $(BUILD)/gen

# The installed MPIs, and one tracer for each.
MPIS    := $(foreach m,ompi mpich,$(if $(shell tools/find-mpi $(m)),$(m)))
TRACERS := $(MPIS:%=$(BUILD)/librondo-%.so) $(BUILD)/librondo-stub.so

objects  = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
ALL_OBJ := $(call objects,$(wildcard src/*/*.c bench/*.c t/unit/*.c t/fuzz/*.c))

# Starts another make. It shares the job slots of this one, or else runs $(JOBS) jobs.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all help deps test check debug bench demo install uninstall check-headers check-format format asan cov fuzz \
	fuzz-smoke fuzz-long fuzz-mutants clean programs run-tests run-fuzz run-fuzz-long run-demo \
	virtual-demo bench-tracer bench-replay test-apps soak soak-replay tsan run-tsan golden

# --- building ------------------------------------------------------------------------------

all: $(LIB) $(RONDO) $(TOOLS) $(TRACERS) ## build the libraries, the rondo program and the generator (default)

programs: all $(UNITS) $(BENCHES) $(MUTATE)

# $(1): a value. Writes it to the target, but only if it differs, so that dependent files are remade
# only when the value changes.
define remember
@mkdir -p $(@D)
@printf '%s\n' '$(strip $(1))' | cmp -s - $@ || printf '%s\n' '$(strip $(1))' >$@
endef

# All compiled files depend on this file. The tools are checked before it is first created.
$(BUILD)/flags: FORCE
	@{ test -e $@ && command -v $(firstword $(CC)) >/dev/null; } || \
		CC='$(CC)' DEPS_FLAGS='$(CPPFLAGS) $(CFLAGS)' tools/deps --check
	$(call remember,$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS))

$(BUILD)/sources: FORCE
	$(call remember,$(LIB_SRC) $(VIRTUAL_SRC) $(CMD_SRC))

.PHONY: FORCE
FORCE:

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARN) $(CPPFLAGS) $(MORE_CPPFLAGS) $(CFLAGS) $(MORE_CFLAGS) -MMD -MP -c -o $@ $<

# Tests and benchmarks may use the generator of virtual ranks, as "bench/virtual.h".
$(call objects,$(UNIT_SRC) $(wildcard t/fuzz/*.c bench/*.c)): private MORE_CPPFLAGS := -I.

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

# Function names and lines of call sites are resolved only by programs that read traces, not in
# traced programs.
$(BUILD)/rondo: private LDLIBS += -ldw -lelf -ldl
$(BUILD)/rondo: $(call objects,$(CMD_SRC)) $(LIB) $(BUILD)/sources
	$(link)

$(TOOLS): $(BUILD)/%: $(BUILD)/obj/bench/tool_%.o $(VIRTUAL) $(LIB)
	$(link)

# bench_order compares its codecs with gzip.
$(BUILD)/bench/bench_order: private LDLIBS += -lz
$(BENCHES): $(BUILD)/bench/%: $(BUILD)/obj/bench/%.o $(VIRTUAL) $(LIB)
	$(link)

$(UNITS): $(BUILD)/t/%: $(BUILD)/obj/t/unit/%.o $(VIRTUAL) $(LIB)
	$(link)

# Fuzzing targets reuse memory (t/fuzz/reuse.c).
REUSED := mmap munmap $(foreach c,C D,ZSTD_create$(c)Ctx ZSTD_free$(c)Ctx) \
	ZSTD_compress_usingDict ZSTD_getCParams

$(FUZZERS): private MORE_LDFLAGS := -fsanitize=fuzzer $(REUSED:%=-Wl,--wrap=%)
$(FUZZERS): $(BUILD)/bin/%: $(BUILD)/obj/t/fuzz/%.o $(BUILD)/obj/t/fuzz/reuse.o $(VIRTUAL) $(LIB)
	$(link)

$(MUTATE): $(call objects,$(patsubst %,t/fuzz/%.c,mutate mutant run_command)) $(LIB)
	$(link)

# libFuzzer learns operands of comparisons from the decoders of single structures. In other files
# this would take a third of the time, and the inputs of their targets are edits of good files,
# which do not contain operands.
FUZZ_LEARNED := $(wildcard src/*/*codec*.c src/column/*.c) \
	src/encode/call_times.c src/merge/stream_set_codec.c src/file/container.c
ifneq ($(findstring fuzzer-no-link,$(CFLAGS)),)
$(call objects,$(filter-out $(FUZZ_LEARNED),$(LIB_SRC))): \
	private MORE_CFLAGS := -fno-sanitize-coverage=trace-cmp
endif

-include $(ALL_OBJ:.o=.d)

# --- the MPI tables ------------------------------------------------------------------------

$(GEN)/mpi_table.h: api/mpi.api api/gen.awk
	@mkdir -p $(@D)
	awk -v part=table -f api/gen.awk api/mpi.api >$@

$(GEN)/mpi_words.h: api/mpi.words api/gen.awk
	@mkdir -p $(@D)
	awk -v part=words -f api/gen.awk api/mpi.words >$@

$(call objects,src/encode/api_tables.c) $(BUILD)/pic/src/encode/api_tables.o: \
	$(GEN)/mpi_table.h $(GEN)/mpi_words.h

# --- the tracers: one library per MPI, from one source ---------------------------------------

# Open MPI declares the functions that MPI-3.0 removed only with this definition.
MPI_FLAGS = -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX
PIC_FLAGS = -fPIC -fvisibility=hidden -ftls-model=initial-exec

$(BUILD)/pic/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARN) $(CPPFLAGS) $(CFLAGS) $(PIC_FLAGS) -MMD -MP -c -o $@ $<

PIC_OBJ := $(LIB_SRC:%.c=$(BUILD)/pic/%.o)
-include $(PIC_OBJ:.o=.d)

# $(1): the MPI, $(2): its compiler. MPI headers are not written for -Wconversion.
define tracer
$(GEN)/$(1)/functions: tools/mpi-facts api/mpi.words | $(BUILD)/flags
	tools/mpi-facts api/mpi.words $(GEN)/$(1) $(2) $(MPI_FLAGS)

$(GEN)/$(1)/calls.h: $(GEN)/$(1)/functions api/mpi.api api/posix.api api/gen.awk
	awk -v part=next -v have=$(GEN)/$(1)/functions -f api/gen.awk api/mpi.api >$(GEN)/$(1)/next_mpi_calls.h
	awk -v part=next -f api/gen.awk api/posix.api >$(GEN)/$(1)/next_posix_calls.h
	awk -v part=hand -v have=$(GEN)/$(1)/functions -f api/gen.awk api/mpi.api >$(GEN)/$(1)/hand.h
	awk -v part=compare -v have=$(GEN)/$(1)/functions -f api/gen.awk api/mpi.api >$(GEN)/$(1)/compare_calls.h
	awk -v part=consts -v have=$(GEN)/$(1)/constants -f api/gen.awk api/mpi.words >$(GEN)/$(1)/constants.h
	awk -v part=calls -v have=$(GEN)/$(1)/functions -f api/gen.awk api/mpi.api >$$@

$(BUILD)/$(1)/%.o: %.c $(GEN)/$(1)/calls.h $(BUILD)/flags
	@mkdir -p $$(@D)
	$(2) -std=c11 -Wall -Wextra -Wshadow -Wno-deprecated-declarations $(CPPFLAGS) -I$(GEN)/$(1) \
		$(MPI_FLAGS) $$(CFLAGS) $(PIC_FLAGS) -MMD -MP -c -o $$@ $$<

-include $(TRACER_SRC:%.c=$(BUILD)/$(1)/%.d)

# --no-as-needed: if a program loads its MPI late (Python), the MPI must follow the tracer in the
# symbol search order.
$(BUILD)/librondo-$(1).so: $(TRACER_SRC:%.c=$(BUILD)/$(1)/%.o) $(PIC_OBJ)
	$(2) -shared $(CFLAGS) $(LDFLAGS) -Wl,--no-as-needed -Wl,-z,defs -o $$@ $$(filter %.o,$$^) \
		$(LDLIBS) -ldl -lpthread
endef
$(foreach m,$(MPIS),$(eval $(call tracer,$(m),$(shell tools/find-mpi $(m)))))

# The stub is preloaded into every process that a traced command starts. It is compiled without
# CFLAGS, which may enable sanitizers. Its constructor runs first, so that other constructors do not
# run twice. With -O2 the compiler would replace the loop in memcpy by a call of memcpy.
STUB_PARTS := $(STUB_SRC) src/base/status_file.c src/base/private_dir.c
$(BUILD)/librondo-stub.so: $(STUB_PARTS) src/base/mpi_detect.h src/base/sanitizer.h src/base/bounded_text.h \
		src/base/status_file.h src/base/private_dir.h Makefile | $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) -std=c11 $(WARN) $(CPPFLAGS) -O1 -fno-builtin -ffunction-sections -fPIC -shared \
		-fvisibility=hidden -Wl,--gc-sections -Wl,-z,initfirst \
		-Wl,-soname,librondo-stub.so -o $@ $(STUB_PARTS)

# --- the two commands of the README --------------------------------------------------------

# Open MPI runs as root, or with more ranks than processors, only with these variables.
DEMO_RUN = OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
	OMPI_MCA_rmaps_base_oversubscribe=1 $(BUILD)/rondo trace -o $(BUILD)/demo.rondo \
	$(if $(filter ompi,$(MPIS)),mpirun.openmpi,mpirun) -n 16 $(BUILD)/stencil 200

demo: ## trace a small program on 16 ranks and look inside
	@tools/deps build
	+@$(SUBMAKE) all
	@$(MAKE) --no-print-directory run-demo

run-demo:
	@echo "== A 2D stencil (examples/stencil.c) on 16 ranks, 200 steps, traced"
	$(firstword $(foreach m,$(MPIS),$(shell tools/find-mpi $(m)))) -O2 -w -o $(BUILD)/stencil \
		examples/stencil.c -lm
	$(DEMO_RUN)
	@echo "== What is in the file"
	$(BUILD)/rondo info $(BUILD)/demo.rondo
	@echo "== Where the time went"
	$(BUILD)/rondo info --calls $(BUILD)/demo.rondo
	@echo "== What the program does"
	$(BUILD)/rondo report $(BUILD)/demo.rondo
	@echo "== The first 20 calls of rank 5, read back from it"
	$(BUILD)/rondo dump $(BUILD)/demo.rondo --rank 5 --to 20

virtual-demo: ## compress 4096 virtual ranks into one file and look inside
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

# The tests that `make check` runs: unit tests, and shell tests that together take less than two
# minutes on two processors.
QUICK_TESTS := $(wildcard $(patsubst %,t/t%-*.t,0002 0003 0004 0009 0010 1001 1002 1003 1004 1011 1012 1013 \
	1014 1016 2000 2001 2002 2003 2007 2133))

check: ## run the unit tests and the quick shell tests
	@tools/deps build test
	+@$(SUBMAKE) programs
	@BUILD=$(BUILD) t/unit-runner $(QUICK_TESTS) $(UNITS)

debug: ## build everything with assertions and without optimization, in build/debug
	+@$(SUBMAKE) BUILD=$(BUILD)/debug ASSERT=1 CFLAGS='-O0 -g' programs

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

define compile_alone # headers, compiler and flags
@bad=; for h in $(1); do \
	printf '#include "%s"\n#include "%s"\n' $$h $$h | \
	$(2) -std=c11 -Werror $(CPPFLAGS) -I. -fsyntax-only -x c - || \
	{ echo "$$h does not compile alone"; bad=1; }; \
done; test -z "$$bad"
endef

bench-tracer: ## what tracing adds to a call, with each MPI; fails if a bar does not hold
	@tools/deps build
	+@$(SUBMAKE) all
	@BUILD=$(BUILD) bench/tracer-cost

SOAK_KILLS    ?= 200
SOAK_PROGRAMS ?= 10000

soak: ## SOAK_KILLS (default 200) random kills, all that can fail failing, SOAK_PROGRAMS (10000) random programs
	@tools/deps build test
	+@$(SUBMAKE) all $(BUILD)/t/test_elastic
	@BUILD=$(BUILD) RONDO_PROGRAMS=$(SOAK_PROGRAMS) t/unit-runner $(BUILD)/t/test_elastic
	@BUILD=$(BUILD) RONDO_KILLS=$(SOAK_KILLS) t/unit-runner t/t2120-killed.t t/t2129-noise.t
	@BUILD=$(BUILD) RONDO_FAULTS=1 JOBS=1 t/unit-runner t/t2125-faults.t t/t2126-small-disk.t \
		t/t2127-same-name.t

soak-replay: ## each program with races on 4 to 32 ranks, replayed RONDO_REPLAYS (default 100) times
	@tools/deps build test
	+@$(SUBMAKE) all
	@BUILD=$(BUILD) t/soak-replay

bench-replay: ## bytes of the order of messages, CPU time of recording and replaying it; fails if a bar does not hold
	@tools/deps build
	+@$(SUBMAKE) all $(BUILD)/bench/bench_order
	@bad=; for b in bench/order-size bench/replay-cost; do \
		BUILD=$(BUILD) BENCH_CSV=$(BENCH_CSV) $$b || bad=1; \
	done; test -z "$$bad"

test-apps: ## real programs from Debian packages, traced
	@tools/deps build test apps
	+@$(SUBMAKE) all
	@BUILD=$(BUILD) t/unit-runner $(wildcard t/apps/*.t)

check-headers: $(MPIS:%=$(GEN)/%/calls.h) ## each header compiles alone, and twice
	$(call compile_alone,$(filter-out $(MPI_HEADERS),$(HEADERS)),$(CC) $(WARN))
	$(if $(MPIS),$(call compile_alone,$(MPI_HEADERS),$(shell tools/find-mpi $(firstword $(MPIS))) -Wall \
		-Wno-deprecated-declarations $(MPI_FLAGS) -I$(GEN)/$(firstword $(MPIS))))

C_FILES = { git ls-files -co --exclude-standard '*.c' '*.h' 2>/dev/null || \
	find bench include src t -name '*.[ch]'; } | while read -r f; do [ -f "$$f" ] && echo "$$f"; done

check-format: ## clang-format has nothing to change
	@$(C_FILES) | xargs -r clang-format --dry-run -Werror

format: ## let clang-format change it
	@$(C_FILES) | xargs -r clang-format -i

# The tests of the tree itself (t00*) are omitted, because they do not need an instrumented program.
COMMAND_TESTS = $(filter-out t/t00%,$(SHELL_TESTS))
PROGRAM_TESTS = TESTS='$(COMMAND_TESTS) $(UNIT_SRC:t/unit/%.c=$(1)/t/%)'

# Tracers are not built for these (MPIS=): a sanitizer cannot be preloaded into a program without it.
SAN_FLAGS = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all

asan: ## unit and command tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@tools/deps build test
	+@$(SUBMAKE) BUILD=$(BUILD)/asan MPIS= ASSERT=1 CFLAGS='$(SAN_FLAGS)' \
		$(call PROGRAM_TESTS,$(BUILD)/asan) run-tests

# These sources run before ThreadSanitizer is initialized: its initialization calls interposed
# functions of libc.
TSAN_EARLY := $(wildcard src/track/memory*.c) $(patsubst %,src/base/%.c,arena budget map vec) \
	$(patsubst %,src/preload/%.c,alloc_hooks chain loaded_object) \
	src/runtime/tracer_config.c src/record/libc_values.c src/tracer/dlsym_hooks.c
$(TSAN_EARLY:%.c=$(BUILD)/pic/%.o) $(TSAN_EARLY:%.c=$(BUILD)/ompi/%.o): \
	private override CFLAGS := $(filter-out -fsanitize=thread,$(CFLAGS))

tsan: ## programs with threads, traced, recorded and replayed under ThreadSanitizer
	@tools/deps build test
	+@$(SUBMAKE) BUILD=$(BUILD)/tsan MPIS=ompi ASSERT=1 CFLAGS='-O1 -g -fsanitize=thread' run-tsan

run-tsan: $(BUILD)/librondo-ompi.so $(BUILD)/librondo-stub.so $(BUILD)/rondo
	@BUILD=$(BUILD) t/tsan

COV = $(BUILD)/cov
# lcov writes to standard error even on success. The initial capture includes files that no test
# executed.
LCOV = lcov --quiet --directory $(COV)/obj/src --base-directory .

cov: ## test coverage of src/: a page, and a summary line
	@tools/deps build test cov
	@find $(COV) -name '*.gcda' -delete 2>/dev/null || true
	+@$(SUBMAKE) BUILD=$(COV) MPIS= ASSERT=1 CFLAGS='-O0 -g --coverage' $(call PROGRAM_TESTS,$(COV)) run-tests
	@{ $(LCOV) --capture --initial --output-file $(COV)/none.info && \
		$(LCOV) --capture --output-file $(COV)/run.info && \
		lcov --quiet -a $(COV)/none.info -a $(COV)/run.info --output-file $(COV)/all.info && \
		lcov --quiet --extract $(COV)/all.info '$(CURDIR)/src/*' --output-file $(COV)/src.info && \
		genhtml --quiet --prefix $(CURDIR) --output-directory $(COV)/html $(COV)/src.info; \
	} >$(COV)/lcov.log 2>&1 || { cat $(COV)/lcov.log; exit 1; }
	@lcov --summary $(COV)/src.info 2>&1 | awk '/lines|functions/ { printf "%s ", $$0 } \
		END { print "in $(COV)/html/index.html" }'

FUZZ = $(BUILD)/fuzz
FUZZ_FLAGS = $(SAN_FLAGS) -O2 -fsanitize=fuzzer-no-link
FUZZ_LONG = $(patsubst %,$(BUILD)/bin/fuzz_%,trace salvage)

golden: ## regenerate the golden traces after a format change (GOLDEN='rich nested': only these)
	@tools/deps build test
	+@$(SUBMAKE) all $(BUILD)/virtual $(BUILD)/t/test_reader
	@BUILD=$(BUILD) t/golden/make $(GOLDEN)

fuzz: ## fuzz each decoder for FUZZ_SECONDS (default 360), FUZZ_JOBS (2) at a time; fails on a finding
	@tools/deps build fuzz
	+@$(SUBMAKE) BUILD=$(FUZZ) MPIS= ASSERT=1 CC=clang CFLAGS='$(FUZZ_FLAGS)' run-fuzz

fuzz-smoke: ## the same for 10 seconds each
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=10

fuzz-long: ## 600 s each, FUZZ_LONG_SECONDS (3600) for traces and part files, and FUZZ_MUTANTS (20000) mutants
	@tools/deps build fuzz
	+@$(SUBMAKE) BUILD=$(FUZZ) MPIS= ASSERT=1 CC=clang CFLAGS='$(FUZZ_FLAGS)' run-fuzz-long \
		$(if $(filter file,$(origin FUZZ_SECONDS)),FUZZ_SECONDS=600)
	@$(MAKE) --no-print-directory fuzz-mutants

fuzz-mutants: ## run the commands on FUZZ_MUTANTS (20000) mutants of traces and part files
	@tools/deps build
	+@$(SUBMAKE) all $(MUTATE)
	@mkdir -p $(FUZZ)/findings
	@$(MUTATE) --rondo $(RONDO) --mutants $(FUZZ_MUTANTS) --jobs $(FUZZ_JOBS) --save $(FUZZ)/findings \
		$(wildcard t/golden/*.rondo)

run-fuzz: $(FUZZERS)
	@BUILD=$(BUILD) t/fuzz/run -j $(FUZZ_JOBS) $(FUZZ_SECONDS) $(FUZZERS)

run-fuzz-long: $(FUZZERS)
	@BUILD=$(BUILD) t/fuzz/run -j $(FUZZ_JOBS) $(FUZZ_SECONDS) \
		$(FUZZ_LONG:%=%@$(FUZZ_LONG_SECONDS)) $(filter-out $(FUZZ_LONG),$(FUZZERS))

# --- installing ----------------------------------------------------------------------------

MAN1       := $(wildcard doc/man/*.1)
API        := $(wildcard include/rondo/*.h)
COMPLETION := $(wildcard tools/rondo.bash)

install: all ## install into PREFIX (default /usr/local), below DESTDIR
	$(if $(RONDO),install -D -m 755 $(RONDO) "$(DESTDIR)$(PREFIX)/bin/rondo")
	$(if $(MAN1),install -D -m 644 -t "$(DESTDIR)$(PREFIX)/share/man/man1" $(MAN1))
	$(if $(API),install -D -m 644 -t "$(DESTDIR)$(PREFIX)/include/rondo" $(API))
	for f in $(TRACERS); do \
		! test -e $$f || install -D -m 755 -t "$(DESTDIR)$(PREFIX)/lib/rondo" $$f || exit 1; \
	done
	$(if $(COMPLETION),install -D -m 644 $(COMPLETION) \
		"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/rondo")

# Tracers are removed by pattern, because other MPIs may have been installed since `make install`.
uninstall: ## remove the files that `make install` with the same PREFIX and DESTDIR installed
	rm -f "$(DESTDIR)$(PREFIX)/bin/rondo" \
		"$(DESTDIR)$(PREFIX)/share/bash-completion/completions/rondo" \
		"$(DESTDIR)$(PREFIX)/lib/rondo/"librondo-*.so \
		$(patsubst doc/man/%,"$(DESTDIR)$(PREFIX)/share/man/man1/%",$(MAN1)) \
		$(patsubst include/rondo/%,"$(DESTDIR)$(PREFIX)/include/rondo/%",$(API))
	for d in lib include; do \
		! test -d "$(DESTDIR)$(PREFIX)/$$d/rondo" || rmdir "$(DESTDIR)$(PREFIX)/$$d/rondo" || exit 1; \
	done

clean: ## remove the build folder
	rm -rf $(BUILD)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile
