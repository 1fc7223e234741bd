#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The CPU time of processes that are born and end while a shell is attached to is in the file,
# however short their lives are: overhead is a share of it.
. "$(dirname "$0")/lib.sh"
needs_probes

# Seconds of CPU of a shell and its children, by its builtin `times`.
seconds() {
	tr ' ' '\n' <"$1" | awk -F '[ms]' 'NF > 1 { sum += 60 * $1 + $2 } END { print sum + 0 }'
}

MB=$MB bash -c 'until [ -e go ]; do sleep 0.05; done
	times >before
	for i in {1..40}; do "$MB/empty" -n 5000000 >/dev/null; done
	times >after
	: >done
	sleep 5' &
shell=$!
children+=("$shell")
# shellcheck disable=SC2016
record brief -F libc:waitpid -p "$shell" -- bash -c ': >go; until [ -e done ]; do sleep 0.05; done'
is "$status" 0 "attached to a shell: status" || diag brief.err
report brief
used=$(awk "BEGIN { print $(seconds after) - $(seconds before) }")
seen=$(trace brief .cpu_ns)
awk -v used="$used" -v seen="$seen" \
	'BEGIN { exit !(used > 0.1 && seen > 0.7e9 * used && seen < 1.3e9 * used + 0.2e9) }'
ok $? "the CPU time of 40 short processes is in the file" || diag "used $used s, recorded $seen ns"
kill "$shell"

done_testing
