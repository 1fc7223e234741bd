#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The unit tests once more, with the sanitizers of addresses and of undefined behaviour: a loop that reads one row too
# many, and memory that nobody frees, pass them by luck else.
. "$(dirname "$0")/lib.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS
log=$planted/log
unit_tests() {
	make ASAN=1 -j"$(nproc)" unit >"$log" 2>&1 || { tail -20 "$log" && return; }
	B=build/asan tests/run unit >"$log" 2>&1 || grep -aE -A12 '^not ok [0-9]+ -|runtime error|ERROR: \w+Sanitizer|\(Wstat' "$log"
}

holds "unit tests with sanitizers" unit_tests
