# iclkin: the race between in-context and in-weights learning. See README.md; `make help` lists what can be made.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   CC=clang       another compiler            BUILD=DIR      objects and programs in DIR
#   SAN=1          ASan and UBSan              MPI=1          ensembles over MPI
#   WERROR=1       warnings are errors         PREFIX, DESTDIR  where `make install` puts things
VERSION := 0.1.0

ifeq ($(origin CC),default)
CC := gcc
endif
MPICC   ?= mpicc
CFLAGS  ?= -O2 -g
PREFIX  ?= /usr/local
JOBS    ?= $(shell nproc)
# ./iclkin is the program of the ordinary build; a build elsewhere, or under sanitizers, keeps its own.
PROGRAM := $(if $(filter undefined,$(origin BUILD)),$(if $(SAN),,iclkin))
BUILD   ?= build$(if $(SAN),/san)$(if $(MPI),/mpi)
RUN     := $(if $(PROGRAM),./iclkin,$(BUILD)/iclkin)

# Never -ffast-math: NaN and Inf must keep their meaning, and sums their order.
WARN    := -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
X86     := $(filter x86_64-%,$(shell $(CC) -dumpmachine 2>/dev/null))
DEFS    := -Iinclude -Isrc -D_POSIX_C_SOURCE=200809L $(if $(X86),,-DICL_NO_ISA)
UNSAFE  := -O1 -fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SANITY  := $(if $(SAN)$(FUZZ),$(UNSAFE)) $(if $(FUZZ),-fsanitize=fuzzer-no-link)
STRICT  := $(if $(WERROR),-Werror)
# -lopenblas, never -lgslcblas: a test asks which library cblas_sgemm came from.
LDLIBS  := -lgsl -lopenblas -linih -lm -lpthread

MPISRC   := $(wildcard src/run/comm_mpi.c)
MPIPACK  := libopenmpi-dev openmpi-bin
# What Debian calls what is needed: to build, run and draw; and, for `make check`, to judge the code.
PACKAGES := gcc libc6-dev make pkg-config libgsl-dev libopenblas-dev libcmocka-dev libinih-dev librandom123-dev gnuplot-nox \
            fonts-dejavu-core $(if $(MPI),$(MPIPACK))
CHECKERS := procps clang clang-format clang-tidy cppcheck libclang-rt-dev mandoc shellcheck $(if $(MPISRC),$(MPIPACK))

# ---- sources -------------------------------------------------------------------------------------------------------

# One of two: the same calls for one process and on MPI.
OTHER_COMM := src/run/comm$(if $(MPI),,_mpi).c
SRC     := $(filter-out $(OTHER_COMM),$(sort $(wildcard $(addprefix src/,$(addsuffix /*.c,\
             base param num theory sim run validate)))))
# X_isa.c is compiled once for each level of the x86-64 instruction set; the program chooses at run time.
ISA     := v1 $(if $(X86),v3 v4)
ISA_v3  := -march=x86-64-v3
ISA_v4  := -march=x86-64-v4 -mprefer-vector-width=512
ISASRC  := $(filter %_isa.c,$(SRC))
OBJ     := $(patsubst src/%.c,$(BUILD)/%.o,$(filter-out $(ISASRC),$(SRC))) \
           $(foreach v,$(ISA),$(ISASRC:src/%.c=$(BUILD)/%_$(v).o))
CLIOBJ  := $(patsubst src/%.c,$(BUILD)/%.o,$(sort $(wildcard src/cli/*.c)))
# tests/test_*.c and tests/bench_*.c are programs; every other .c there is linked into each of them.
TESTSRC := $(sort $(wildcard tests/test_*.c))
BENCHES := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/bench_*.c)))
TESTS   := $(TESTSRC:%.c=$(BUILD)/%)
TESTLIB := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/test_%.c tests/bench_%.c,$(sort $(wildcard tests/*.c))))
SHELLS  := $(sort $(wildcard tests/test_*.sh))
LIB     := $(BUILD)/libiclkin.a

# ---- building ------------------------------------------------------------------------------------------------------

FLAGS   := $(strip $(WARN) $(DEFS) $(CPPFLAGS) $(CFLAGS) $(SANITY))
MPICOMP := OMPI_CC=$(CC) MPICH_CC=$(CC) $(MPICC)
COMPILE := $(CC) $(FLAGS) -MMD -MP
LINK    := $(if $(MPI),$(MPICOMP),$(CC)) $(strip $(CFLAGS) $(SANITY) $(LDFLAGS))

all: $(or $(PROGRAM),$(BUILD)/iclkin)   ## the program, ./iclkin (the default)

.PHONY: FORCE
iclkin: $(BUILD)/iclkin FORCE
	@cmp -s $< $@ || cp -f $< $@

# The links let a program in $(BUILD) find its tables and plot scripts beside itself, as ./iclkin does.
$(BUILD)/iclkin: $(CLIOBJ) $(LIB)
	@ln -sfn $(CURDIR)/params $(@D)/params
	@ln -sfn $(CURDIR)/plots $(@D)/plots
	$(LINK) -o $@ $(CLIOBJ) $(LIB) $(LDLIBS)

$(LIB): $(OBJ)
	@rm -f $@
	$(AR) rcs $@ $(OBJ)

# The commands without main(), so that a test can call them.
$(BUILD)/libcli.a: $(filter-out %/main.o,$(CLIOBJ))
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: src/%.c $(BUILD)/flags | $(BUILD)/libraries
	@mkdir -p $(@D)
	$(COMPILE) $(STRICT) $(DEFINES) -c -o $@ $<

# CFLAGS stand before, so that they cannot take the instruction set away. Vectors passed between static functions of one
# object need no ABI (-Wno-psabi).
define isa_rule
$(BUILD)/%_isa_$(1).o: src/%_isa.c $(BUILD)/flags | $(BUILD)/libraries
	@mkdir -p $$(@D)
	$(COMPILE) $(STRICT) -O3 -fno-math-errno -fno-trapping-math -Wno-psabi $(ISA_$(1)) -DICL_ISA=$(1) -c -o $$@ $$<
endef
$(foreach v,$(ISA),$(eval $(call isa_rule,$(v))))

$(BUILD)/run/comm_mpi.o: COMPILE := $(MPICOMP) $(FLAGS) -MMD -MP

$(BUILD)/tests/%.o: tests/%.c $(BUILD)/flags | $(BUILD)/libraries
	@mkdir -p $(@D)
	$(COMPILE) $(STRICT) -Itests -c -o $@ $<

$(TESTS) $(BENCHES): $(BUILD)/tests/%: $(BUILD)/tests/%.o $(TESTLIB) $(BUILD)/libcli.a $(LIB)
	$(LINK) -o $@ $^ -lcmocka $(LDLIBS)

# Version, commit and place of the data are known to one object only.
GIT    := git -c safe.directory='*' -c core.fsmonitor=false
COMMIT := $(or $(if $(wildcard .git),$(shell $(GIT) rev-parse --short=12 HEAD 2>/dev/null)$(shell \
            $(GIT) diff --quiet HEAD 2>/dev/null; [ $$? -ne 1 ] || echo -dirty)),unknown)
DEFINE_VERSION := -DICL_VERSION='"$(VERSION)"' -DICL_COMMIT='"$(COMMIT)"' -DICL_DATADIR='"$(PREFIX)/share/iclkin"'
$(BUILD)/base/version.o: DEFINES = $(DEFINE_VERSION)
$(BUILD)/base/version.o: $(BUILD)/version

# A file that holds a value and changes only when the value does: what depends on it is made again then.
define stamp
ifneq ($$(strip $$(file <$(BUILD)/$(1))),$$(strip $(2)))
$(BUILD)/$(1): FORCE
endif
$(BUILD)/$(1):
	@mkdir -p $$(@D)
	@printf '%s\n' '$$(subst ','\'',$$(strip $(2)))' >$$@
endef
$(eval $(call stamp,flags,$$(COMPILE) / $$(LINK)))
$(eval $(call stamp,version,$$(DEFINE_VERSION)))

# Asks once, before the first object, whether the compiler and the libraries are there.
$(BUILD)/libraries:
	@mkdir -p $(@D)
	@if echo 'int main(void) { return 0; }' | $(CC) -include gsl/gsl_math.h -include ini.h -include Random123/philox.h \
	    -x c - -o $@.tmp $(LDLIBS) 2>$@.log $(if $(MPI),&& command -v $(MPICC) >>$@.log); \
	then rm $@.tmp; mv $@.log $@; else ! tests/deps.sh -n $(PACKAGES) || cat $@.log >&2; exit 1; fi

-include $(OBJ:.o=.d) $(CLIOBJ:.o=.d) $(TESTS:=.d) $(BENCHES:=.d) $(TESTLIB:.o=.d)

# ---- what else can be made -----------------------------------------------------------------------------------------

MAKE_J = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))

deps:       ## installs the Debian packages that are missing (as root; otherwise prints the line to run)
	@tests/deps.sh $(PACKAGES)
deps-check:
	@tests/deps.sh $(PACKAGES) $(CHECKERS)

FIGURES := levels landscape initial context threshold transient

demo: deps  ## installs what is missing, builds, predicts and draws
	@echo 'Building ./iclkin'
	@$(MAKE_J) -s all
	@PROGRAM=$(RUN) tests/demo.sh $(FIGURES)

figures: all  ## every figure to out/, as PNG, SVG and PDF
	@mkdir -p out
	@for f in $$($(RUN) plot list | cut -d' ' -f1); do \
	    echo "out/$$f.png"; $(RUN) plot $$f -o out/$$f.png || exit; \
	    for e in svg pdf; do echo "out/$$f.$$e"; $(RUN) plot $$f --table out/$$f.tsv -o out/$$f.$$e || exit; done; done

tests: $(BUILD)/iclkin $(TESTS) $(BENCHES)

test: tests  ## builds and runs the tests, without lint and sanitizers
	@BUILD=$(BUILD) MAKE_ARGS='BUILD=$(BUILD) CC=$(CC)' tests/run.sh $(TESTS) $(SHELLS)

check: deps-check  ## everything: lint, gcc and clang with -Werror, every test plain and under sanitizers
	@build() { echo "== building: $$1"; shift; $(MAKE_J) -s "$$@"; }; \
	{ build 'gcc -Werror'   tests CC=gcc   WERROR=1 BUILD=$(BUILD)/gcc && \
	  build 'clang -Werror' tests CC=clang WERROR=1 BUILD=$(BUILD)/clang && \
	  build 'ASan, UBSan'   tests CC=gcc   SAN=1    BUILD=$(BUILD)/san \
	  $(if $(MPISRC),&& build 'MPI' all CC=gcc WERROR=1 MPI=1 BUILD=$(BUILD)/mpi); } || \
	{ echo '0 passed, 1 failed'; exit 1; }
	@export BUILD=$(BUILD)/gcc ICLKIN_MPI=$(if $(MPISRC),$(abspath $(BUILD)/mpi/iclkin)); \
	MAKE_ARGS='BUILD=$(BUILD)/gcc CC=gcc WERROR=1' \
	    tests/run.sh tests/lint.sh $(TESTSRC:%.c=$(BUILD)/gcc/%) $(TESTSRC:%.c=$(BUILD)/san/%) $(SHELLS)

lint: $(LIB) $(CLIOBJ)  ## the rules of the house: layers, names, sizes, tags, format, static analysis
	@BUILD=$(BUILD) tests/lint.sh

slack: $(TESTS)  ## checks that pass with a thousandfold to spare, wherever they are run: they test little
	@for t in $(TESTS); do ICLKIN_SLACK=1 $$t 2>&1; done | awk '/: seen .* used / { \
	    split($$1, at, ":"); place = at[1] ":" at[2]; if (!(place in most) || $$NF > most[place]) { \
	        most[place] = $$NF; text[place] = $$0 } } \
	    END { for (p in most) if (most[p] > 0 && most[p] < 1e-3) { print text[p]; n++ } \
	        printf "%d of %d checks never use 0.001 of their tolerance\n", n, length(most) }' | sort

bench: $(BENCHES)  ## measures speed
	@for v in OPENBLAS_CORETYPE OPENBLAS_L2_SIZE; do echo "# $$v = $$(printenv $$v || echo not set)"; done
	@for b in $(BENCHES); do echo "# $$b"; $$b || exit; done
	@if echo '#include <cvode/cvode.h>' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1; \
	then $(MAKE) --no-print-directory -s $(CVODE) && echo '# $(CVODE)' && $(CVODE); \
	else echo '# tests/bench/cvode.c is left out: no cvode/cvode.h (libsundials-dev)'; fi

# A yardstick, by a library that nothing else here needs.
CVODE := $(BUILD)/tests/bench/cvode
$(CVODE): $(CVODE).o $(LIB)
	$(LINK) -o $@ $^ -lsundials_cvode -lsundials_nvecserial $(LDLIBS)
-include $(CVODE).d

bench-scaling: iclkin  ## what a second core brings: threads and, with ICLKIN_MPI, ranks
	@ICLKIN=./iclkin tests/bench_scaling.sh

validate: iclkin   ## holds every prediction against simulation; says first how long that will take, and can be stopped
	@./iclkin validate

# A table's own header is the command that made it, seed and all.
MEMORY := $(wildcard params/memory/*.tsv)
calibrate: iclkin  ## measures the shipped memory tables again (two hours on two cores; can be stopped, goes on)
	mkdir -p out/memory
	@for t in $(notdir $(MEMORY)); do \
	    ./iclkin calibrate params/memory/$$t --resume -o out/memory/$$t && cp out/memory/$$t params/memory/$$t || exit; \
	done

FUZZ_SECONDS ?= 60
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/*.c)))
$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(BUILD)/libcli.a $(LIB)
	$(LINK) -fsanitize=fuzzer -o $@ $^ $(LDLIBS)

# tests/fuzz/X.c reads the seeds in tests/fuzz/X/; what else it learns stays in the build folder.
fuzz:       ## feeds the readers made-up input, each for FUZZ_SECONDS (60)
	@$(MAKE_J) FUZZ=1 CC=clang BUILD=$(BUILD)/fuzz $(FUZZERS:%=$(BUILD)/fuzz/tests/fuzz/%)
	@for f in $(FUZZERS); do mkdir -p $(BUILD)/fuzz/found/$$f; seeds=; [ ! -d tests/fuzz/$$f ] || seeds=tests/fuzz/$$f; \
	    $(BUILD)/fuzz/tests/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 \
	        -artifact_prefix=$(BUILD)/fuzz/$$f- $(BUILD)/fuzz/found/$$f $$seeds || exit; done

clean:      ## removes what was built; out/ stays
	rm -rf $(BUILD) iclkin

# ---- installing ----------------------------------------------------------------------------------------------------

TO       = $(DESTDIR)$(PREFIX)
COMPLETE = $(TO)/share/bash-completion/completions
HEADERS  := $(wildcard include/iclkin/*)
FOLDERS  := params plots $(patsubst %/.,%,$(wildcard params/*/. params/*/*/.))
DATA     := $(foreach f,$(wildcard $(FOLDERS:=/*)),$(if $(wildcard $(f)/.),,$(f)))

# The program prints its own manual page and completion, from the tables that it runs on.
$(BUILD)/iclkin.1: $(BUILD)/iclkin
	$(BUILD)/iclkin _man >$@.tmp && mv $@.tmp $@
$(BUILD)/iclkin.bash: $(BUILD)/iclkin
	$(BUILD)/iclkin _completion >$@.tmp && mv $@.tmp $@

install: $(BUILD)/iclkin $(LIB) $(BUILD)/iclkin.1 $(BUILD)/iclkin.bash  ## to PREFIX (default /usr/local)
	install -d $(TO)/bin $(TO)/lib/pkgconfig $(TO)/include/iclkin $(TO)/share/man/man1 $(COMPLETE) \
	    $(FOLDERS:%=$(TO)/share/iclkin/%)
	install -m 755 $(BUILD)/iclkin $(TO)/bin/iclkin
	install -m 644 $(LIB) $(TO)/lib/libiclkin.a
	install -m 644 $(HEADERS) $(TO)/include/iclkin
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@LIBS@|$(LDLIBS) $(if $(MPI),-lmpi)|' \
	    src/iclkin.pc.in >$(TO)/lib/pkgconfig/iclkin.pc
	chmod 644 $(TO)/lib/pkgconfig/iclkin.pc
	install -m 644 $(BUILD)/iclkin.1 $(TO)/share/man/man1/iclkin.1
	install -m 644 $(BUILD)/iclkin.bash $(COMPLETE)/iclkin
	$(foreach f,$(DATA),install -m 644 $(f) $(TO)/share/iclkin/$(f) &&) true

uninstall:  ## removes what `make install` put there
	rm -f $(TO)/bin/iclkin $(TO)/lib/libiclkin.a $(TO)/lib/pkgconfig/iclkin.pc $(TO)/share/man/man1/iclkin.1 \
	    $(COMPLETE)/iclkin $(HEADERS:include/%=$(TO)/include/%) $(DATA:%=$(TO)/share/iclkin/%)
	-rmdir --ignore-fail-on-non-empty $(TO)/include/iclkin \
	    $(patsubst %,$(TO)/share/iclkin/%,$(shell printf '%s\n' $(FOLDERS) | sort -r)) $(TO)/share/iclkin

help:       ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 12

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all calibrate deps deps-check demo figures tests test check lint slack bench bench-scaling fuzz validate clean install uninstall help
