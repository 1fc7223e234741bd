#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The unit tests, the goldens and recordings of each command once more, with the sanitizers of addresses and of
# undefined behaviour: a loop that reads one row too many, and memory that nobody frees, pass them by luck else.
. "$(dirname "$0")/lib.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS
log=$planted/log
export ISPOT=$PWD/build/asan/ispot B=build/asan
build() {
	make ASAN=1 -j"$(nproc)" unit build/asan/ispot >"$log" 2>&1 || tail -20 "$log"
}
# tried NAME...: lines of tests that fail, and what the sanitizers say
tried() {
	tests/run "$@" >"$log" 2>&1 ||
		grep -aE -A12 '^not ok [0-9]+ -|runtime error|ERROR: \w+Sanitizer|\(Wstat' "$log"
}

holds "the build" build
holds "unit tests and goldens" tried unit golden
# A library of the system keeps a few bytes until the end.
export ASAN_OPTIONS=detect_leaks=0
holds "recordings" tried smoke stat
