#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every header compiles alone; the public one as C++ too.
. "$(dirname "$0")/lib.sh"

flags=$(pkg-config --cflags libtraceevent libtracefs libunwind-generic capstone 2>/dev/null)

headers() { # headers ROOT
	files "$1" '*.h' | grep -v '^probes/bpf/' | grep -v '^microbench/' | while read -r h; do
		# shellcheck disable=SC2086 # words
		printf '#include "%s"\n' "$h" |
			(cd "$1" && gcc -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -Isrc -I. \
				-Itests/unit $flags -fsyntax-only -x c - 2>&1) >/dev/null ||
			echo "$h does not compile alone"
	done
}

public() { # public FILE
	printf '#include "%s"\n' "$1" | g++ -Wall -Wextra -Werror -fsyntax-only -I. -x c++ - 2>&1
}

holds "headers compile alone" headers "$top"
plant src/base/bad.h <<<'size_t bad(void);'
catches "a header that needs another" "src/base/bad.h does not compile alone" headers "$planted"
if [ -e probes/ispot.h ]; then
	holds "probes/ispot.h is C++ too" public probes/ispot.h
else
	skip "probes/ispot.h is C++ too" "no probes/ispot.h yet"
fi
