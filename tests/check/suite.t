#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Which files tests/run begins within a limited time, and in which order: .ci/run asks it for the tests of what was
# changed, and a test that is always left out would find nothing.
. "$(dirname "$0")/lib.sh"

# A clock that stands still but for what files of tests say that they take, and one CPU: nothing here depends on time.
mkdir -p "$planted/bin" "$planted/tests/check" "$planted/tests/live"
cp tests/run tests/within "$planted/tests"
echo 1000 >"$planted/now"
plant bin/date <<<"cat '$planted/now'"
plant bin/nproc <<<'echo 1'
chmod +x "$planted"/bin/*
# file KIND NAME HOW SECONDS: a long test
file() {
	printf '%s\t%s\tlong\t%s\t-\n' "$1" "$2" "$3" >>"$planted/tests/suite.tsv"
	plant "tests/$1/$2.t" <<-END
		#!/bin/sh
		echo $2 >>'$planted/ran'
		echo \$((\$(cat '$planted/now') + $4)) >'$planted/now'
		echo 1..1
		echo ok 1
	END
	chmod +x "$planted/tests/$1/$2.t"
}
file check seen beside 10
file check built beside 700
file live second beside 250
file live first beside 10
file live third beside 10
file live lonelier alone 10
file live lonely alone 100

# ran ARGUMENT...: the files that run, then those that are left out
ran() {
	rm -f "$planted/ran" "$planted/left"
	echo 1000 >"$planted/now"
	touch "$planted/ran" "$planted/left"
	PATH=$planted/bin:$PATH TESTS_LEFT=$planted/left "$planted/tests/run" "$@" >"$planted/log" 2>&1 ||
		sed 's/^/# /' "$planted/log"
	paste -sd' ' "$planted/ran"
	echo "left: $(paste -sd' ' "$planted/left")"
}
# runs EXPECTED LEFT ARGUMENT...
runs() {
	diff <(printf '%s\nleft: %s\n' "$1" "$2") <(ran "${@:3}")
}

holds "without a limit the table gives the order, and checks begin" runs \
	'seen built second first third lonely' '' lonely third second first built seen
holds "with a limit names give the order, live tests begin, and each kind has its part of the time" runs \
	'first second lonely built' 'third lonelier seen' -l 480 built seen first second third lonely lonelier
holds "without time none begins" runs '' 'first lonely seen' -l 0 seen first lonely
catches "a test that is left out" "left: seen" runs 'seen' '' -l 0 seen
