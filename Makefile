# iclkin: see README.md. `make` builds ./iclkin; `make check` builds and runs every test.
CC       ?= gcc
BUILD    ?= build
CFLAGS   ?= -O2 -g
WARN     := -std=c11 -Wall -Wextra -Wpedantic -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
CPPFLAGS += -Iinclude -Isrc -D_POSIX_C_SOURCE=200809L
LDLIBS   := -lgsl -lopenblas -linih -lm -lpthread

SRC := $(wildcard src/base/*.c src/param/*.c src/num/*.c src/theory/*.c src/sim/*.c src/run/*.c src/validate/*.c)
OBJ := $(SRC:src/%.c=$(BUILD)/%.o)
CLI := $(wildcard src/cli/*.c)
CLIOBJ := $(CLI:src/%.c=$(BUILD)/%.o)
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/test_*.c))

all: iclkin
iclkin: $(CLIOBJ) $(BUILD)/libiclkin.a
	$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)
$(BUILD)/libiclkin.a: $(OBJ)
	rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/%: tests/%.c tests/check.c $(BUILD)/libiclkin.a
	@mkdir -p $(@D)
	$(CC) $(WARN) $(CPPFLAGS) -Itests $(CFLAGS) -MMD -MP -o $@ tests/$*.c tests/check.c $(BUILD)/libiclkin.a -lcmocka $(LDLIBS)
test: $(TESTS)
	@for t in $(TESTS); do $$t || exit 1; done
clean:
	rm -rf $(BUILD) out iclkin
-include $(OBJ:.o=.d) $(CLIOBJ:.o=.d) $(TESTS:=.d)
.PHONY: all test clean
