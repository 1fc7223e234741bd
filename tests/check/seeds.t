#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each fuzz target gets through its seeds and through what was once found, without sanitizers: a change of what it
# calls would else be seen by `make fuzz` alone.
. "$(dirname "$0")/lib.sh"

log=$planted/log
seeds() {
	tests/fuzz/run -s >"$log" 2>&1 || grep -B1 FOUND "$log"
}

# What `run -s` makes of a target that ends at the second file of two.
ending() {
	cat >"$planted/target.c" <<-'END'
		#include <stdint.h>
		#include <stdlib.h>
		int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
		int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
		{
			if (size && *data == 'b')
				abort();
			return 0;
		}
	END
	echo a >"$planted/first"
	echo b >"$planted/second"
	gcc -o "$planted/target" "$planted/target.c" tests/fuzz/each.c &&
		{ "$planted/target" "$planted/first" "$planted/second" || echo "ended with $?"; }
}

if command -v clang >/dev/null; then
	holds "each fuzz target gets through its seeds" seeds
else
	skip "each fuzz target gets through its seeds" "clang is not installed"
fi
catches "a target that aborts" "ended with 134" ending
