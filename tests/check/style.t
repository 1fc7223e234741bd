#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Format, licence lines, scripts.
. "$(dirname "$0")/lib.sh"

# Other versions of clang-format break lines elsewhere.
FORMAT_VERSION=14

format() { # format ROOT
	(cd "$1" && files "$1" '*.c' '*.h' '*.cc' | xargs -r clang-format --dry-run -Werror 2>&1 |
		sed -n 's/^\([^:]*\):[0-9]*:.*clang-format-violations.*/\1: not formatted; run clang-format -i \1/p' | sort -u)
}

# first_lines PROGRAM FILE...: awk runs it of each file, with its name in file and its first lines in line[1] to line[3];
# in one process, as there are thousands of files, some of them no text
first_lines() {
	LC_ALL=C awk 'BEGIN {
		for (i = 1; i < ARGC; i++) {
			file = ARGV[i]
			for (n = 1; n <= 3; n++)
				line[n] = ""
			for (n = 1; n <= 3 && (getline text <file) > 0; n++)
				line[n] = text
			close(file)
			'"$1"'
		}
	}' "${@:2}"
}
export -f first_lines

licence() { # licence ROOT
	# shellcheck disable=SC2016 # awk's
	(cd "$1" && files "$1" '*.c' '*.h' '*.cc' '*.S' '*.sh' '*.t' '*.py' '*.mk' Makefile '*.[1-8]' |
		xargs -r bash -c 'first_lines "$@"' sh '
			if (line[1] line[2] line[3] !~ /SPDX-License-Identifier: (GPL-3.0-or-later|MIT)/)
				print file ": no SPDX line"')
}

# Files that a shell runs, by suffix or first line.
scripts() {
	# shellcheck disable=SC2016 # awk's
	(cd "$1" && files "$1" '*' | xargs -r bash -c 'first_lines "$@"' sh '
		if (substr(line[1], 1, 80) ~ /^#!.*(\/|env )(ba)?sh$/ || file ~ /\.sh$/)
			print file')
}

# SC2319: `[ … ]; ok $?` is meant as it stands.
shells() { # shells ROOT
	(cd "$1" && scripts "$1" | sampled "$1" | xargs -r -P"$(nproc)" -n8 shellcheck -x -f gcc -P SCRIPTDIR -e SC1091,SC2319)
}

case $(clang-format --version 2>/dev/null) in
*"version $FORMAT_VERSION."*)
	holds "sources are formatted" format "$top"
	# shellcheck disable=SC2094 # two trees
	plant .clang-format <.clang-format
	plant src/f.c <<<'int f( void ) { return 0; }'
	catches "a file that is not formatted" "src/f.c: not formatted" format "$planted"
	;;
*)
	skip "sources are formatted" "needs clang-format $FORMAT_VERSION, here is $(clang-format --version 2>&1 | head -n 1)"
	;;
esac

# A function ends with a brace in the first column.
LONGEST=60
long_functions() { # long_functions ROOT
	(cd "$1" && files "$1" '*.c' '*.cc' | xargs -r awk -v most=$LONGEST '
		FNR == 1 { start = 0 }
		/^{/ { start = FNR }
		/^}/ && start { if (FNR - start > most) print FILENAME ":" start ": a function of " FNR - start " lines"
			start = 0 }')
}

holds "no function has over $LONGEST lines" long_functions "$top"
{ printf 'int f(void)\n{\n' && yes '	f();' | head -n 61 && printf '}\n'; } | plant src/long.c
catches "a long function" "src/long.c:2: a function of 62 lines" long_functions "$planted"
rm "$planted/src/long.c"

# What a person can read and change.
LONGEST_TRACE=250
long_traces() { # long_traces ROOT
	(cd "$1" && files "$1" '*.trace' | xargs -r wc -l |
		awk -v most=$LONGEST_TRACE '$2 != "total" && $1 > most {
			print $2 ": " $1 " lines; write what happens again as a repeat, see ispot-dump(1)" }')
}

holds "no trace has over $LONGEST_TRACE lines" long_traces "$top"
yes '+1us 0 1/1 inner' | head -n 251 | plant tests/golden/long.trace
catches "a long trace" "tests/golden/long.trace: 251 lines" long_traces "$planted"
rm "$planted/tests/golden/long.trace"

holds "every source has its SPDX line" licence "$top"
plant src/l.c <<<'int l;'
catches "a source without a licence" "src/l.c: no SPDX line" licence "$planted"

holds "shellcheck has nothing to say" shells "$top"
# shellcheck disable=SC2016 # planted as it is
plant s.sh <<<'#!/bin/sh
rm -rf $1/x'
catches "an unquoted variable" "SC2086" shells "$planted"
