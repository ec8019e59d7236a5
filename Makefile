# SPDX-License-Identifier: Apache-2.0
# A thin front for Meson and Ninja. `make demo` and `make check` also install what is missing.
BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
# Of a new build folder. Unit tests take as long again as the program; `make check` builds them in any case.
OPTIONS ?= -Dtests=disabled

.PHONY: all configure demo check check-quick check-vm install bench fuzz deps clean

all: configure
	@ninja -C $(BUILD)

configure:
	@scripts/configure.py $(BUILD) --prefix $(PREFIX) $(OPTIONS)

deps:
	@scripts/deps.sh build

demo:
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh $(BUILD)

check:
	@scripts/deps.sh check
	@python3 scripts/check.py

# In two minutes: the form of the code, units, fixtures.
check-quick:
	@scripts/deps.sh check
	@python3 scripts/check.py --quick

# sonde itself on other kernels (x86-64, arm64, s390x), under QEMU's emulation.
check-vm:
	@scripts/deps.sh vm
	@$(MAKE) --no-print-directory all
	tests/vm/guests.py setup
	meson test -C $(BUILD) --no-rebuild --suite vm --print-errorlogs

install: configure
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	@ninja -C $(BUILD)
	meson install -C $(BUILD) --no-rebuild

bench: all
	@bench/run.sh $(BUILD)

fuzz:
	@scripts/deps.sh fuzz
	@fuzz/run.sh $(FUZZ_SECONDS)

clean:
	rm -rf build build-asan build-tsan build-quick build-fuzz
