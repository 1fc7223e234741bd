#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every header compiles alone; the public one in every C and C++, for both machines; sources compile
# with clang too.
. "$(dirname "$0")/lib.sh"

flags=$(pkg-config --cflags libtraceevent libtracefs libunwind-generic capstone 2>/dev/null)

headers() { # headers ROOT
	files "$1" '*.h' | grep -v '^probes/bpf/' | grep -v '^microbench/' | sampled "$1" | while read -r h; do
		# shellcheck disable=SC2086 # words
		printf '#include "%s"\n' "$h" |
			(cd "$1" && gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Isrc -I. \
				-Itests/unit $flags -fsyntax-only -x c - 2>&1) >/dev/null ||
			echo "$h does not compile alone"
	done
}

warnings=$(sed -n 's/^WARNINGS := //p' Makefile)
sources() { # sources ROOT: what is neither BPF, Java's nor measured
	# shellcheck disable=SC2086 # words
	files "$1" '*.c' | grep -vE '^(probes/(bpf|java/agent|java/preload)|microbench|tests/(live|bench|fuzz))/|^tests/unit/all.c' |
		sampled "$1" | (cd "$1" && xargs -P"$(nproc)" -n8 clang -std=gnu11 -D_GNU_SOURCE $warnings -Werror \
			-Isrc -I. $flags -DISPOT_VERSION='""' -fsyntax-only 2>&1) | grep -E 'error|warning' || true
}

fuzzers() { # fuzzers ROOT: they are built by `make fuzz` alone, so a change elsewhere breaks them unseen
	# shellcheck disable=SC2086 # words
	files "$1" 'tests/fuzz/*.c' | (cd "$1" && xargs -P"$(nproc)" -n4 gcc -std=gnu11 -D_GNU_SOURCE -Wall -Werror \
		-Isrc -I. -Itests/fuzz $flags -fsyntax-only 2>&1) | grep -E 'error|warning' || true
}

# What a program does with the public header; 8 notes: two begins, two ends, two loops and their ends. C++
# has two more, of a scope.
marked='#include "probes/ispot.h"
int work(int n);
int work(int n)
{
	int i, sum = 0;
#ifdef __cplusplus
	ISPOT_SCOPE(scope, n);
#endif
	ISPOT_BEGIN(all, n, &sum, 3, 4, 5, 6);
	ISPOT_BEGIN(plain);
	for (i = 0; i < n; i++) {
		ISPOT_LOOP_BEGIN(step, 100);
		sum += i;
		ISPOT_LOOP_END(step);
		{
			ISPOT_LOOP_BEGIN(given, 10, i, &sum, 3, 4, 5, 6);
			ISPOT_LOOP_END(given);
		}
	}
	ISPOT_END(plain);
	ISPOT_END(all);
	return ISPOT_ENABLED(all) ? 0 : sum;
}'
public() { # public NOTES COMPILER ARGS...
	local notes
	"${@:2}" -O2 -pedantic-errors -Wundef -Wall -Wextra -Werror -I. -c -o "$object" - 2>&1 <<<"$marked" || return
	notes=$(readelf -Wn "$object" | grep -c NT_STAPSDT)
	[ "$notes" = "$1" ] || echo "$notes notes"
	"${@:2}" -DISPOT_DISABLE -pedantic-errors -Wundef -Wall -Wextra -Werror -I. -c -o "$object" - 2>&1 <<<"$marked" || return
	! readelf -Wn "$object" | grep NT_STAPSDT
}
object=$planted/marked.o

holds "headers compile alone" headers "$top"
plant src/base/bad.h <<<'size_t bad(void);'
catches "a header that needs another" "src/base/bad.h does not compile alone" headers "$planted"
holds "fuzzers compile" fuzzers "$top"
plant tests/fuzz/bad.c <<<'int bad(void) { return missing; }'
catches "a fuzzer that does not compile" "missing" fuzzers "$planted"
if command -v clang >/dev/null; then
	holds "sources compile with clang, without a warning" sources "$top"
	plant src/base/bad.c <<<'__attribute__((noclone)) int bad(void) { return 0; }'
	catches "a source that only gcc compiles" "noclone" sources "$planted"
	rm "$planted/src/base/bad.c"
else
	skip "sources compile with clang" "no clang here"
fi
for compiler in gcc clang aarch64-linux-gnu-gcc 'clang --target=aarch64-linux-gnu'; do
	if command -v "${compiler%% *}" >/dev/null; then
		for std in c89 c99 gnu11; do
			# shellcheck disable=SC2086 # words
			holds "probes/ispot.h: $compiler, $std" public 8 $compiler -std=$std -x c
		done
	else
		skip "probes/ispot.h: $compiler" "no $compiler here"
	fi
done
for compiler in g++ clang++ 'clang++ --target=aarch64-linux-gnu'; do
	if command -v "${compiler%% *}" >/dev/null; then
		for std in c++98 c++20; do
			# shellcheck disable=SC2086 # words
			holds "probes/ispot.h: $compiler, $std" public 10 $compiler -std=$std -x c++
		done
	else
		skip "probes/ispot.h: $compiler" "no $compiler here"
	fi
done
right=$marked
for n in 0 -3 4294967297; do
	marked=${right/step, 100/step, $n}
	for compiler in gcc clang; do
		if command -v $compiler >/dev/null; then
			catches "$compiler: a loop that records one iteration in $n" \
				"ISPOT_LOOP_BEGIN_of_step_takes_1_to_2147483647" public 8 $compiler -x c
		else
			skip "$compiler: a loop that records one iteration in $n" "no $compiler here"
		fi
	done
done
marked=${right/ISPOT_END(all)/missing}
catches "a program that does not compile" "missing" public 8 gcc -x c
