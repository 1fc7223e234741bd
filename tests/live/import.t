#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What perf itself records of uprobes, read: every call that is in the file is in the report. The
# probes are those of the script that ispot check --perf-script prints.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root for probes"
[ -e /sys/kernel/tracing/uprobe_events ] || skip_all "no uprobes in this kernel, or no tracefs"
command -v perf >/dev/null || skip_all "perf is not installed (Debian: linux-perf)"

calls() { # calls FILE: of each block
	"$ISPOT" report -i "$1" --json 2>/dev/null | python3 -c '
import json, sys
for b in json.load(sys.stdin)["blocks"]:
    print(b["name"], b["calls"])' | sort
}

# Samples at entries, as perf prints them.
entries() { # entries FILE
	case $1 in pipe*) perf script -i - -F event <"$1" ;; *) perf script -i "$1" -F event ;; esac 2>/dev/null |
		sed -n 's/.*ispot_perf_[0-9]*:\([a-z_]*\): *$/\1/p' | grep -v __return | sort |
		uniq -c | awk '{ print $2, $1 }'
}

"$ISPOT" check --perf-script -F outer -F middle -F inner -F factorial -F 'tail_*' \
	"$MB/exact" -n 300 >script 2>err
if command -v shellcheck >/dev/null; then
	shellcheck -s sh script >lint
	ok $? "the script is clean" || diag lint
else
	skip "the script is clean" "no shellcheck"
fi
sh script >out 2>err
ok $? "it records" || diag err
entries perf.data >wanted
calls perf.data >got
like got '^factorial [1-9]' "calls were seen"
diff got wanted >difference
ok $? "the report has the calls that perf has" || diag difference
"$ISPOT" report -i perf.data --json 2>/dev/null | python3 -c '
import json, sys
t = json.load(sys.stdin)
late = [b["name"] for b in t["blocks"] if b["timed_calls"] < b["calls"]]
sys.exit(bool(late and not t["trace"]["lost_records"]))'
ok $? "every one of them is timed, where nothing was lost"

# perf's other ways to record: the same calls, as perf counts them.
mode() { # mode FILE [OPTION...]: the script with that perf record
	sed "s|-o perf.data|-o $1 ${*:2}|" script >"script.$1"
	if [ "$1" = - ]; then sh script.- >pipe.data 2>err; else sh "script.$1" >out 2>err; fi
}
agrees() { # agrees NAME FILE: the calls of each function
	entries "$2" >wanted
	calls "$2" >got
	grep -q '^factorial [1-9]' got && diff got wanted >difference
	ok $? "$1: the report has the calls that perf has" || diag difference || diag err
}
mode z.data -z
agrees "compressed" z.data
mode a.data -a
agrees "of the whole machine" a.data
mode -
agrees "through a pipe" pipe.data
sed -i 's/ --user-regs=sp//' script
mode nosp.data
agrees "without stack pointers" nosp.data
"$ISPOT" report -i perf.data --json 2>/dev/null | jq -c '[.blocks[] | [.name, .calls, .timed_calls]] | sort' >with
"$ISPOT" report -i nosp.data --json 2>/dev/null | jq -c '[.blocks[] | [.name, .calls, .timed_calls]] | sort' >without
diff with without >difference
ok $? "and times as many" || diag difference
"$ISPOT" check --perf-script -F outer -F inner "$MB/exact" -n 100000 | sed 's/-m 8M/-m 1/' >script
mode lost.data
lost=$(perf report -i lost.data --stats 2>/dev/null | awk '/LOST events:/ { n = $3 } END { print n + 0 }')
if [ "$lost" -gt 0 ]; then
	"$ISPOT" report -i lost.data --json 2>/dev/null | jq -e '.trace.lost_records > 0' >out
	ok $? "what perf lost is said"
else
	skip "what perf lost is said" "perf lost nothing, with a buffer of a page"
fi
# Its own: of the file's other recordings there may be more at the same time.
events=$(for f in perf.data lost.data; do perf script -i "$f" -F event 2>/dev/null | sed -n 's/^ *\(ispot_perf_[0-9]*\):.*/\1/p'; done | sort -u)
is "$(wc -w <<<"$events")" 2 "each script has a group of probes"
grep -qwF "$events" /sys/kernel/tracing/uprobe_events
is $? 1 "its probes are gone"

# Values that perf's probes fetch are arguments: as many calls of each as perf prints.
group=ispot_perf_$$
case $(uname -m) in aarch64) first=%x0 second=%x1 ;; *) first=%di second=%si ;; esac
trap 'perf probe -q -d "$group:*" 2>/dev/null; cleanup' EXIT
perf probe -q -x "$MB/arguments" -a "$group:weigh=weigh item=$first:s32 size=$second:u64" \
	-a "$group:weigh__return=weigh%return ret=\$retval:s64" 2>err &&
	perf record -q -m 8M -o values.data -e "$group:*" "$MB/arguments" -n 200 >out 2>>err
ok $? "perf fetches arguments" || diag err
perf script -i values.data -F event,trace 2>/dev/null >printed
for of in item size ret; do
	sed -n "s/.*[ (]$of=\(-\?[0-9a-fx]*\).*/\1/p" printed | while read -r v; do echo $((v)); done | sort -n | uniq -c |
		awk '{ print $2, $1 }' >wanted
	"$ISPOT" report -i values.data --key "weigh@$of" --json 2>err | jq -r --arg of "$of=" '.blocks[] |
		select(.name == "weigh" and .key != null) | [(.key | ltrimstr($of)), .calls] | @tsv' |
		while read -r v n; do echo $((v)) "$n"; done | sort -n >got
	[ "$(wc -l <wanted)" -gt 2 ] && diff got wanted >difference
	ok $? "--key weigh@$of: the calls that perf has" || diag difference || diag err
done

# By debug information the place of a value among the parameters is known, though registers skip a double.
"$ISPOT" report -i values.data --key weigh@arg3 --json 2>err | jq -r '.blocks[] |
	select(.name == "weigh" and .key != null) | .key' | sort >got
is "$(paste -sd' ' got)" "size=1000 size=2000 size=4000" "the third parameter by its number" || diag err

# The script fetches what -F names.
"$ISPOT" check --perf-script -F 'weigh@item,size,ret' "$MB/arguments" -n 200 >script 2>err &&
	sed -i 's/-o perf.data/-o named.data/' script && sh script >out 2>>err
ok $? "a script that fetches arguments" || diag err
for of in item size ret; do
	for file in values named; do
		"$ISPOT" report -i $file.data --key "weigh@$of" --json 2>err | jq -r '.blocks[] |
			select(.name == "weigh" and .key != null) | [.key, .calls] | @tsv' | sort >of.$file
	done
	[ -s of.values ] && diff of.values of.named >difference
	ok $? "and --key weigh@$of is as with perf probe" || diag difference || diag err
done

# The scheduler's event, of the program alone: it knows of switches, of each one half.
perf record -q -m 8M -o half.data -e "$group:*" -e sched:sched_switch "$MB/arguments" -n 200 >out 2>err &&
	"$ISPOT" report -i half.data >out 2>err
grep -q 'sched_switch was recorded of single processes' out err
ok $? "sched_switch of a process: what it does not say is said" || diag out || diag err
grep -qi 'no \(context \)\?switch' out err
is $? 1 "and not that there were no switches"
done_testing
