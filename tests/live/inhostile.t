#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that patches could break behave as they do alone, with every function of theirs and of their
# libraries patched; and attaching and detaching again and again does not disturb a running one.
. "$(dirname "$0")/lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all "patches are made on x86-64 alone"
needs_command jq
needs_helper hostile hostile_cxx patched
H=$HELPERS/hostile
"$ISPOT" record -q --engine in-process -o probe.data -F leaf "$HELPERS/patched" 1 0 1 0 >probe.out 2>probe.err ||
	{ grep -q 'stamps by the TSC' probe.err && skip_all "no stable TSC here: $(cat probe.err)"; }

# unharmed NAME COMMAND...: output and status as alone
unharmed() {
	local name=$1
	shift
	"$@" >"$name.alone" 2>/dev/null </dev/null
	local alone=$?
	record "$name" --engine in-process -F '*' -F 'lib*:*' -- "$@" </dev/null
	is "$status" "$alone" "$name: status $alone" || diag "$name.err"
	cmp -s "$name.alone" "$name.out"
	ok $? "$name: output" || diag "$name.err"
}

unharmed thread_exit "$H" thread_exit 101
unharmed cancel_blocked "$H" cancel_blocked 50
unharmed signal_jump "$H" signal_jump 101
unharmed return_address "$H" return_address 11
unharmed deep "$H" deep 2
unharmed tail "$H" tail 3
unharmed threads "$H" threads 300
unharmed forks "$H" forks 50
unharmed vforks "$H" vforks 50
unharmed execs "$H" execs 20
unharmed filter "$H" filter 101
unharmed unwinding "${H}_cxx"
record locked --engine in-process -F one_step -- "$H" filter 101 </dev/null
is "$status" 5 "a program that locks itself up before its first record" || diag locked.err

# ---- unmodified programs ----

seq 1 100000 >numbers
! command -v xz >/dev/null || unharmed xz xz -c numbers
! command -v xz >/dev/null || unharmed xz_threads xz -T2 --block-size=100KiB -c numbers
! command -v gzip >/dev/null || unharmed gzip gzip -nc numbers
! command -v sort >/dev/null || unharmed sort sort -rn numbers
# shellcheck disable=SC2016 # they are perl's
! command -v perl >/dev/null || unharmed perl perl -e 'my %h; $h{$_ % 997} .= $_ for 1 .. 20000; print map { "$_ $h{$_}\n" } sort keys %h'
# shellcheck disable=SC2016 # they are awk's
! command -v awk >/dev/null || unharmed awk awk '{ n[$1 % 7] += $1 } END { for (k = 0; k < 7; k++) print n[k] }' numbers
! command -v sqlite3 >/dev/null || unharmed sqlite sqlite3 :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c where x < 5000) insert into t select x, hex(x) from c;
	select sum(a), count(distinct b), max(b) from t; select group_concat(a) from (select a from t order by b desc limit 100);'
[ ! -x /usr/bin/python3 ] || unharmed python /usr/bin/python3 -c 'import json, re, zlib
print(json.dumps({str(i): i * i for i in range(500)}), re.findall("a+", "aaabaa" * 100), zlib.crc32(zlib.compress(b"x" * 10000)))
try: raise KeyError(7)
except KeyError as e: print(e)'
! command -v gcc >/dev/null || unharmed gcc gcc -### -x c numbers

# ---- attached to again and again ----

"$HELPERS/patched" wait 4 >running.out &
running=$!
children+=("$running")
eventually [ -e "/proc/$running/maps" ] && sleep 0.2
done=0
for ((round = 0; round < 100; round++)); do
	"$ISPOT" record -q --engine in-process -o attached.data -F '*' -F 'libc.so.6:*' -p "$running" -d 0.02 >attached.out 2>&1 || break
	done=$((done + 1))
done
is "$done" 100 "attached to and detached from 100 times" || diag attached.out
kill "$running"
wait "$running"
is "$?/$(grep -c '^calls leaf' running.out)" 0/1 "the program ends as it would have"

done_testing
