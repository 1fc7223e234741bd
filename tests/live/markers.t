#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Markers and USDT probes: exact, timed, harmless to the red zone, and mistakes are said.
. "$(dirname "$0")/lib.sh"
needs_probes
unset ISPOT_CALIBRATION # what is measured, and the probes for that, are looked for

record_truth marked -F 'marker:*' -F '!marker:cost' -- "$MB/markers"
ok $? "marked: report" || diag marked.report-err
is "$status" 0 "marked: status (the red zone is whole)"
matches_truth marked calls sci
nothing_lost marked
is "$(block marked wait_reply .kind)" marker "kind"
for b in wait_reply red_zone nested; do
	is "$(block marked $b .timed_calls)" "$(block marked $b .calls)" "marked: every $b has its end"
done
# 2003 scans of 50 steps on two threads, each counting for itself; the first of a thread is taken.
is "$(block marked scan_step .calls)" 1002 "a loop: one iteration in 100 of each thread"
is "$(block marked scan_step .estimated_calls)" 100200 "a loop: the others are estimated"

# Their arguments: what each begin was given, under whatever register.
record given -F marker:wait_reply -F marker:nested -F marker:red_zone -- "$MB/markers" -t 1 -n 100
"$ISPOT" report --key marker:wait_reply@arg2 --json -i given.data >given.json
is "$(jq -r '[.blocks[] | select(.name == "wait_reply" and .key) | [.key, .calls]] | [length, (map(.[1]) | add)] | tojson' given.json)" \
	"[100,100]" "arguments: each of the 100 values once"
is "$(jq -r '[.blocks[] | select(.name == "wait_reply" and .key == "arg2=42") | .calls] | tojson' given.json)" "[1]" \
	"arguments: as they were given"
is "$("$ISPOT" dump --events -i given.data | awk '$4 == "entry" { at = $5 } $4 == "args" && at ~ /red_zone/ { print $9, $10, $11 }' | sort -u)" \
	"4 5 6" "arguments: six of them"
"$ISPOT" report --key marker:wait_reply@arg4 -i given.data >given.txt 2>given.err
like given.err "not with its arg4; it has 2 arguments$" "an argument that it does not have"
record two -F 'marker:wait_reply@arg1' -F 'marker:wait_reply@arg2' -- "$MB/markers" -t 1 -n 10
is "$("$ISPOT" dump --meta -i two.data | jq -c 'select(.kind == "function") | [.args[].name]')" '["arg1","arg2"]' \
	"arguments that several patterns name"
record few -F 'marker:wait_reply@arg4' -- "$MB/markers" -t 1 -n 10
is "$status" 2 "an argument that a marker does not have: status"
like few.err "wait_reply@arg4: there is no such argument; it has 2 arguments" "and said"

record beside -F wait_reply -- "$MB/markers" -n 50
like beside.err "no function 'wait_reply'" "a marker is no function"
record beside -F 'marker:wait_reply' -F take_reply -F send_request -- "$MB/markers" -n 500
report beside
is "$(block beside wait_reply .timed_calls)" 500 "a block across two traced functions"
is "$(block beside take_reply .timed_calls) $(block beside send_request .timed_calls)" "500 500" \
	"the functions that it crosses are timed too"
# Blocks are measured where there are any: each of their two events takes the kernel 0.1 s to close.
measured() { "$ISPOT" dump --meta -i "$1.data" | jq -rs '[.[] | select(.kind == "calibration").class | select(IN("marker", "usdt"))] | unique | join(" ")'; }
is "$(measured beside)" "marker usdt" "what probes of blocks cost is measured where there are blocks"
record functions -F take_reply -- "$MB/markers" -n 10
is "$(measured functions)" "" "and nowhere else"

record wrong -F 'marker:*' -- "$MB/markers" --fault 1001
report wrong
value() { awk -v k="$1" '$1 == k { print $2 }' wrong.out; }
is "$(block wrong early .calls)" "$(value early_calls)" "mistakes: calls"
is "$(block wrong early .timed_calls)" $(($(value early_calls) - $(value early_unended))) \
	"mistakes: what has no end is not timed"
jq -r '.notices[]' wrong.json >wrong.notices
like wrong.notices "^$(value early_unended) begins of marker early have no end" "begins without an end are said"
like wrong.notices "^$(value early_unbegun) ends of marker early have no begin" "ends without a begin are said"
like wrong.notices "^1001 blocks of marker first ended inside|^1.0k blocks of marker first ended inside" \
	"overlapping blocks are said"
is "$(block wrong first .timed_calls) $(block wrong second .timed_calls)" "1001 1001" "and timed"

record sampled -c 3 -F marker:red_zone -F marker:nested -- "$MB/markers" -t 1 -n 3000
report sampled
is "$(block sampled red_zone .calls)" 1000 "-c 3: one in three"
is "$(block sampled red_zone .timed_calls)" 1000 "-c 3: each with its end"
is "$(block sampled nested .estimated_calls)" 9000 "-c 3: a block in itself is counted"
is "$(block sampled nested .timed_calls)" "$(block sampled nested .calls)" "-c 3: and ends as itself"

if command -v gcc >/dev/null; then
	printf '%s\n' '#include "probes/ispot.h"' 'int main(void) {' \
		'for (int i = 0; i < 1009; i++) { ISPOT_BEGIN(opened); ISPOT_END(closed); ISPOT_BEGIN(both); ISPOT_END(both); } }' >half.c
	gcc -I"$ROOT" -o half half.c
	record half -F 'marker:*' -- ./half
	like half.err '^ispot: marker opened has no end in ' "a marker without an end: said when recording"
	like half.err '^ispot: marker closed in .* is not traced: it has ends, but no begin' \
		"a marker without a begin: said when recording"
	report half
	is "$(block half opened .calls) $(block half opened .timed_calls)" "1009 0" "its begins are counted"
	is "$(jq -r '.not_traced[] | "\(.name): \(.reason)"' half.json)" "closed: it has ends, but no begin" \
		"the other is among what is not traced"
	record closed -F marker:closed -- ./half
	is "$status" 125 "a marker without a begin, by its name: status"
	like closed.err "^ispot: .*-F 'marker:closed': it has ends, but no begin" "a marker without a begin, by its name: said"
	record pair -F 'usdt:ispot:opened__begin..opened__end' -- ./half
	is "$status" 125 "a pair whose end there is not: status"
	like pair.err "there is no such pair of probes; there is opened__begin" "a pair whose end there is not: said"
	jq -r '.notices[]' half.json >half.notices
	like half.notices '^marker opened has no end in the program' "and both by the report"
	unlike half.notices 'calibrated' "no end is no lack of calibration"
else
	skip "markers without an end or a begin" "no gcc here"
fi

record none -F marker:cost -- "$MB/markers" -n 20
like none.err "no calls were seen" "a marker that nobody passes"

record thrown -F 'usdt:libstdcxx:throw..catch' -- "$MB/exceptions" -t 1 -n 1001
if readelf -n "$(ldd "$MB/exceptions" | awk '/libstdc/ { print $3 }')" | grep -q libstdcxx; then
	report thrown
	caught=$(awk '$1 == "caught" { print $2 }' thrown.out)
	is "$(block thrown libstdcxx:throw..catch .timed_calls)" "$caught" "libstdc++: throw to catch"
	record types -F 'usdt:libstdcxx:throw..catch@arg2' -- "$MB/exceptions" -t 1 -n 1001
	report types --key 'usdt:libstdcxx:throw..catch@arg2'
	is "$(block types libstdcxx:throw..catch .calls)" "$caught" "libstdc++: with the type as its argument" ||
		diag types.err types.report-err
else
	skip "libstdc++: throw to catch" "no USDT probes in it"
fi

record reused -F @given.data -- "$MB/markers" -t 1 -n 100
report reused
is "$status $(block reused wait_reply .calls)" "0 100" "-F @FILE takes the blocks of a recording" || diag reused.err

if readelf -n /usr/bin/python3 2>/dev/null | grep -q gc__start; then
	record python -F 'usdt:python:gc__*..gc__*' -F 'usdt:python:gc__start..gc__done' -- \
		/usr/bin/python3 -c 'import gc; [gc.collect() for i in range(50)]'
	report python
	n=$(block python python:gc__start..gc__done .timed_calls)
	[ "$n" != null ] && [ "$n" -ge 50 ]
	ok $? "python: collections of garbage" || diag "got: $n" python.err
else
	skip "python: collections of garbage" "no USDT probes in it"
fi

# A database's own probes, in one process that reads its queries from a pipe.
postgres=$(printf '%s\n' /usr/lib/postgresql/*/bin/postgres | tail -1)
if [ -x "$postgres" ] && readelf -n "$postgres" 2>/dev/null | grep -q query__start; then
	chmod 755 . && mkdir -m 777 db
	setpriv --reuid=65534 --regid=65534 --clear-groups "${postgres%/*}/initdb" -N -D db/data >initdb.out 2>&1
	for i in $(seq 101); do echo "select count(*) from generate_series(1, $((i % 2 ? 10 : 10000)));"; done >queries
	"$ISPOT" record -o queries.data --user 65534 -F 'usdt:postgresql:query__start..query__done' \
		-F 'usdt:postgresql:*__start..*__done' -F 'usdt:postgresql:transaction__start..transaction__commit' \
		-- "$postgres" --single -D db/data postgres \
		<queries >queries.out 2>queries.err
	report queries
	is "$(block queries postgresql:query__start..query__done .timed_calls)" 101 "PostgreSQL: its queries" ||
		diag "$(tail -3 initdb.out queries.err)"
	n=$(block queries postgresql:transaction__start..transaction__commit .timed_calls)
	[ "$n" != null ] && [ "$n" -ge 101 ]
	ok $? "PostgreSQL: a transaction of each" || diag "got: $n" queries.err
else
	skip "PostgreSQL: its queries" "no PostgreSQL with USDT probes"
fi

# The probes of a library that is loaded while the program runs.
jvm=$(printf '%s\n' /usr/lib/jvm/*/lib/server/libjvm.so | head -1)
if [ -e "$jvm" ] && command -v java >/dev/null && readelf -n "$jvm" 2>/dev/null | grep -q gc__begin; then
	echo 'class G { public static void main(String[] a) { for (int i = 0; i < 23; i++) System.gc(); } }' >G.java
	record java -F 'usdt:hotspot:gc__begin..gc__end' -- java -Xmx64m -XX:+UseSerialGC G.java
	report java
	n=$(block java hotspot:gc__begin..gc__end .timed_calls)
	[ "$n" != null ] && [ "$n" -ge 23 ]
	ok $? "OpenJDK: collections of garbage" || diag "got: $n" java.err
else
	skip "OpenJDK: collections of garbage" "no OpenJDK with USDT probes"
fi

record never -F 'usdt:elsewhere:begin..end' -- "$MB/exact" -n 1
is "$status" 0 "a provider that may come with a library: status"
like never.err "no USDT probe of provider 'elsewhere' yet, but it joins" "and said"

record typo -F marker:wait_repl -- "$MB/markers"
is "$status" 125 "a marker that there is not: status"
like typo.err "no such marker; there is wait_reply" "a marker that there is not: near names"
record unmarked -F 'marker:*' -- "$MB/exact"
like unmarked.err "has no markers; include ispot.h" "a program without markers"

# The probes are those of every tool: the note, its semaphore, its arguments.
if command -v bpftrace >/dev/null; then
	timeout 60 bpftrace -q -c "$MB/markers -t 1 -n 100" -e "
		usdt:$MB/markers:ispot:wait_reply__begin { @begins = count(); @sum = sum(arg1); }" \
		>bpftrace.out 2>bpftrace.err
	if grep -q '@begins' bpftrace.out; then
		like bpftrace.out '^@begins: 100$' "bpftrace sees the marker"
		like bpftrace.out '^@sum: 4950$' "and its arguments"
	else
		skip "bpftrace sees the marker" "$(head -1 bpftrace.err)"
	fi
else
	skip "bpftrace sees the marker" "no bpftrace here"
fi
if command -v perf >/dev/null && HOME=$DIR perf buildid-cache --add "$MB/markers" 2>perf.err; then
	HOME=$DIR perf list sdt >perf.list 2>/dev/null
	like perf.list 'sdt_ispot:wait_reply__begin' "perf lists the marker"
	# An event of that name may be another program's.
	if HOME=$DIR perf probe --add sdt_ispot:wait_reply__begin >perf.out 2>perf.err; then
		HOME=$DIR perf stat -x, -e sdt_ispot:wait_reply__begin -o perf.stat "$MB/markers" -t 1 -n 100 >perf.out
		HOME=$DIR perf probe -q --del sdt_ispot:wait_reply__begin 2>>perf.err
		like perf.stat '^100,' "perf counts it"
	else
		skip "perf counts it" "$(head -1 perf.err)"
	fi
else
	skip "perf lists the marker" "no perf here"
fi

# What the manual shows, as a newcomer writes it: in C with a loop, in C++ with a template and early returns.
if command -v gcc >/dev/null && command -v g++ >/dev/null; then
	cat >new.c <<-'EOC'
		#include "ispot.h"
		int main(void)
		{
			volatile unsigned long x = 1;

			for (int i = 0; i < 503; i++) {
				ISPOT_BEGIN(parse, i % 3, i);
				x = x * 3 + 1;
				ISPOT_END(parse);
				for (int k = 0; k < 20; k++) {
					ISPOT_LOOP_BEGIN(step, 10, k);
					x = x * 3 + 1;
					ISPOT_LOOP_END(step);
				}
			}
			return 0;
		}
	EOC
	cat >new.cc <<-'EOC'
		#include "ispot.h"
		template <class T> static T parse(T n)
		{
			ISPOT_SCOPE(parse, n);
			if (n % 7 == 0)
				return 1;
			return n * 3;
		}
		int main()
		{
			volatile long sum = 0;
			for (int i = 0; i < 701; i++)
				sum = sum + parse(i % 7);
		}
	EOC
	gcc -Wall -Wextra -Werror -O2 -I"$ROOT/probes" -o new_c new.c && g++ -Wall -Wextra -Werror -O2 -I"$ROOT/probes" -o new_cc new.cc
	ok $? "programs as in the manual compile"
	record new_c -F 'marker:*' -- ./new_c
	report new_c --key marker:parse@arg1
	is "$(jq -c '[.blocks[] | select(.name == "parse") | [.key, .timed_calls]] | sort' new_c.json)" \
		'[[null,503],["arg1=0",168],["arg1=1",168],["arg1=2",167]]' "C: a block and its argument"
	is "$(block new_c step '| "\(.calls) \(.estimated_calls)"')" "1006 10060" "C: one iteration in ten"
	report new_c --key marker:step@arg1
	is "$(jq -c '[.blocks[] | select(.name == "step" and .key) | [.key, .timed_calls]] | sort' new_c.json)" \
		'[["arg1=0",503],["arg1=10",503]]' "C: and its argument"
	sed 's/step, 10,/step, 1000000,/' new.c >seldom.c
	gcc -O2 -I"$ROOT/probes" -o seldom seldom.c
	record seldom -F 'marker:*' -- ./seldom
	report seldom
	is "$(block seldom step .calls)" 1 "a loop whose number is above its iterations: the first of a thread"
	jq -r '.notices[]' seldom.json >seldom.notices
	like seldom.notices '^marker step records one iteration in 1000000, and no thread came to a second one: ' \
		"and that their number is not known"
	jq -r '.notices[]' new_c.json >new_c.notices
	unlike new_c.notices 'came to a second one' "not said of loops that went on"
	record new_cc -F marker:parse -- ./new_cc
	report new_cc --key marker:parse@arg1
	is "$(jq -c '[.blocks[] | select(.name == "parse") | [.key, .timed_calls]] | sort | .[:2]' new_cc.json)" \
		'[[null,701],["arg1=0",101]]' "C++: a scope, whatever way it is left"
	"$ISPOT" report -i new_cc.data --key marker:parse@n >new_cc.out 2>new_cc.err
	like new_cc.err "a marker's are called arg1, arg2" "arguments of markers have numbers, it says"
else
	skip "programs as in the manual" "no gcc and g++ here"
fi

done_testing
