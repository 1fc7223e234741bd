#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A perf.data of uprobes scores as ispot's own recording of the same events: seekable, from a pipe,
# compressed, with CPUs out of order, without stack pointers, without switches, with losses. It is
# written by import.py, which shares nothing with the reader; what perf itself writes is in
# tests/live/import.t.
. "$(dirname "$0")/lib.sh"

work=$planted/import
mkdir "$work"

# What a perf.data can say: calls, switches of threads that were there, threads. Their probes' costs it cannot.
importable() { # importable TRACE [without switches: any word]
	"$ISPOT" dump --from-text "tests/golden/$1.trace" -o "$work/whole.data"
	"$ISPOT" dump -i "$work/whole.data" | sed 's/std::map<[^"]*/map_find/' |
		grep -E '^#|"kind":"function"|^[0-9]+ [0-9]+ [0-9/]+ (entry|args|exit|fork|task-exit|switch-in|switch-out)( |$)' |
		awk '$4 == "switch-out" { out[$3] = 1 } $4 == "switch-in" && !out[$3]-- { next } 1' >"$work/$1.all"
	grep -Ev "${2:+ switch-(in|out)|}^# nothing" "$work/$1.all"
}

# What the score is made of, a line a block; shares of time to $digits digits.
numbers() { # numbers FILE
	"$ISPOT" report -i "$1" --json 2>/dev/null | jq -r --argjson digits "${DIGITS:-17}" '
		def share: if type != "number" or . == 0 or $digits == 17 then . else
			pow(10; $digits - 1 - (fabs | log10 | floor)) as $by | (. * $by | round) / $by end;
		.blocks | sort_by(.name)[] | [.name, .calls, .timed_calls, .min_ns, .p50_ns, .max_ns, .total_ns, .excess_ns] +
			[.sci, .self_sci, .lost_threads | share] | map(tostring) | join(" ")'
}

same() { # same TRACE OPTIONS...: the trace, whose numbers are made once, and the perf.data made of it
	local trace=$1 own
	own=$work/$trace.${DIGITS-}.own
	shift
	if [ "$work/$trace.text" -nt "$own" ]; then
		"$ISPOT" dump --from-text "$work/$trace.text" -o "$work/own.data" && numbers "$work/own.data" >"$own" || return
	fi
	python3 -S tests/check/import.py "$@" <"$work/$trace.text" >"$work/perf.data" && numbers "$work/perf.data" >"$work/perf" || return
	[ -s "$own" ] && diff "$own" "$work/perf" | sed 's/^/# /' && cmp -s "$own" "$work/perf"
}

for trace in svc sequence waits; do
	importable $trace >"$work/$trace.text"
	ok "$trace scores the same" same $trace
	ok "$trace with its CPUs out of order" same $trace --shuffle
	ok "$trace from a pipe" same $trace --pipe --shuffle
	ok "$trace compressed" same $trace --zstd --shuffle
	ok "$trace without stack pointers" same $trace --no-sp --shuffle
done
importable svc no-switches >"$work/svc.text"
ok "svc without switches" same svc

# The tracing data say where samples have their fields: on kernels with a common field more, with words of 4 bytes,
# of events that the file does not name, of the scheduler.
importable svc >"$work/svc.text"
for kind in usual moved words32; do
	for how in "" --pipe --zstd "--pipe --no-names" "--no-names --no-sp --shuffle"; do
		# shellcheck disable=SC2086 # options
		ok "fields by name: $kind $how" same svc --formats $kind $how
	done
	# of a whole machine a thread is the program's from its first call on
	DIGITS=3 ok "switches by name: $kind" same svc --formats $kind --sched wide
done

keys() { # keys FILE KEY: the blocks that --key makes
	"$ISPOT" report -i "$1" --key "$2" --json 2>"$work/keys.err" | jq -er '.blocks | sort_by(.name, .key // "")[] |
		"\(.name) \(.key) \(.calls) \(.timed_calls) \(.min_ns) \(.p50_ns) \(.total_ns)"' || {
		sed 's/^/# /' "$work/keys.err"
		return 1
	}
}

fetched() { # fetched KEY OPTIONS...: what --key makes of the values in samples, and of those in a trace
	local key=$1 own=$work/$1.own
	shift
	if [ "$work/keys.text" -nt "$own" ]; then
		"$ISPOT" dump --from-text "$work/keys.text" -o "$work/own.data" && keys "$work/own.data" "$key" >"$own" || return
	fi
	python3 -S tests/check/import.py "$@" <"$work/keys.text" >"$work/perf.data" && keys "$work/perf.data" "$key" >"$work/perf" || return
	grep -q "${key#*@}=" "$own" && diff "$own" "$work/perf" | sed 's/^/# /' && cmp -s "$own" "$work/perf"
}
"$ISPOT" dump --from-text tests/golden/keys.trace -o "$work/whole.data"
"$ISPOT" dump -i "$work/whole.data" | grep -E '"kind":"function"|^[0-9]+ [0-9]+ [0-9/]+ (entry|args|exit) ' |
	sed '/pthread_mutex_unlock/s/"key":false/"key":true/; s/"is_signed":true/"is_signed":false/g; s/\("name":"ret",[^}]*"class":\)"size"/\1"value"/' >"$work/keys.text"
for kind in usual moved words32; do
	for how in "" --pipe "--no-sp --shuffle"; do
		# shellcheck disable=SC2086 # options
		ok "arguments by name: $kind $how" fetched write@fd --formats $kind $how
	done
	ok "what a call returns: $kind" fetched write@ret --formats $kind
done

unplaced() { # without debug information a name says nothing of the place: no lock's address, not the first argument
	sed 's/\<write\>/put/g' "$work/keys.text" | python3 -S tests/check/import.py --formats usual >"$work/perf.data" &&
		"$ISPOT" dump -i "$work/perf.data" --meta | grep -q '"bit":7,"name":"fd".*"number":1008,"name":"fd"' &&
		keys "$work/perf.data" put@fd | grep -q '^put fd=3 60 ' && ! "$ISPOT" report -i "$work/perf.data" --key put@arg1 2>"$work/err"
}
ok "a value whose place is unknown is not the first argument" unplaced

locks() { # FILE: each lock, its calls, how often it was found taken, how long it was held
	"$ISPOT" report -i "$1" --by lock --json 2>/dev/null | python3 -S -c '
import json, sys
for b in sorted(json.load(sys.stdin)["blocks"], key=lambda b: b["name"]):
    print(b["name"], b["calls"], b["total_ns"], b["lock"])'
}

locked() { # of well-known functions the arguments are known by their names: which lock it is
	python3 -S tests/check/import.py --formats usual --pipe <"$work/keys.text" >"$work/perf.data" || return
	"$ISPOT" dump --from-text "$work/keys.text" -o "$work/own.data" && locks "$work/own.data" >"$work/own" &&
		locks "$work/perf.data" >"$work/perf" || return
	[ "$(wc -l <"$work/own")" = 4 ] && diff "$work/own" "$work/perf" | sed 's/^/# /' && cmp -s "$work/own" "$work/perf"
}
ok "locks by what perf fetched" locked

unfetched() { # a value that the probe does not have: how perf gets it
	python3 -S tests/check/import.py --formats usual <"$work/keys.text" >"$work/perf.data" &&
		! "$ISPOT" report -i "$work/perf.data" --key write@buf 2>"$work/err" &&
		grep -q "write was recorded with fd, count, .*, not with its buf" "$work/err" &&
		grep -q "^hint: have perf fetch it: perf probe -x FILE 'write buf'" "$work/err"
}
ok "an argument that was not fetched" unfetched

halves() { # the scheduler's event of single processes: no switch-in, and no word that there were no switches
	python3 -S tests/check/import.py --formats usual --sched process <"$work/svc.text" >"$work/half.data" &&
		"$ISPOT" report -i "$work/half.data" >"$work/half" 2>&1 &&
		grep -q 'sched_switch was recorded of single processes' "$work/half" &&
		grep -q 'when threads ran again was not recorded' "$work/half" && ! grep -qi 'no \(context \)\?switch' "$work/half"
}
ok "switches of single processes are not none" halves

loses() { # a loss is said, and what it hides is not timed
	local now
	python3 -S tests/check/import.py --no-sp --lost "1:$1:7" <"$work/svc.text" >"$work/lost.data" &&
		now=$("$ISPOT" report -i "$work/lost.data" --json 2>/dev/null | python3 -S -c '
import json, sys
t = json.load(sys.stdin)["trace"]
print(t["lost_records"], t["coverage"] is not None)') && [ "${now% *}" = 7 ]
}
ok "losses are counted" loses "$(awk '/ entry /{ t[n++] = $1 } END { print t[int(n / 2)] }' "$work/svc.text")"

reads() { # every command reads it
	python3 -S tests/check/import.py <"$work/svc.text" >"$work/svc.perf" &&
		"$ISPOT" report -i "$work/svc.perf" >/dev/null 2>&1 &&
		"$ISPOT" report -i - <"$work/svc.perf" >/dev/null 2>&1 &&
		"$ISPOT" dump -i "$work/svc.perf" --meta | grep -q '"producer":"import"' &&
		"$ISPOT" export -i "$work/svc.perf" --format folded -o "$work/svc.folded" 2>/dev/null &&
		[ -s "$work/svc.folded" ] && "$ISPOT" diff "$work/svc.perf" -- "$work/svc.perf" >/dev/null 2>&1
}
ok "report, dump, export and diff read it" reads

# Ctrl-C while it is converted, or read afterwards: what there is until then is reported, and said to
# be that; nothing is left behind. (Where exactly it stops is tests/unit/test_perfdata.c's.)
interrupted() {
	python3 -S tests/check/import.py --pipe <"$work/svc.text" >"$work/pipe.perf" && mkdir "$work/tmp" || return
	python3 -S - "$ISPOT" "$work/pipe.perf" "$work/tmp" <<-'EOP'
	import json, os, signal, subprocess, sys, time
	ispot, path, tmp = sys.argv[1:]
	one = open(path, "rb").read()
	with open(path, "wb") as f:
	    f.write(one + one[16:] * (30000000 // len(one)))
	def run(wait):
	    p = subprocess.Popen([ispot, "report", "-i", path, "--json", "--top", "1"], env={**os.environ, "TMPDIR": tmp},
	                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
	                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
	    while wait and p.poll() is None and not os.listdir(tmp):
	        time.sleep(0.001)
	    if wait:
	        time.sleep(wait)
	        p.send_signal(signal.SIGINT)
	    out, err = p.communicate(timeout=300)
	    return p.returncode, out, err.decode()
	def calls(out):
	    t = json.loads(out)
	    return t["trace"]["calls"], any(n.startswith("interrupted") for n in t["notices"])
	whole, said = calls(run(0)[1])
	bad = said
	for wait in (0.001, 0.01, 0.05):
	    status, out, err = run(wait)
	    n, said = calls(out) if status == 0 else (0, "interrupted before" in err)
	    if status not in (0, 1) or not (said or n == whole) or n > whole or os.listdir(tmp):
	        print("# after", wait, status, n, "of", whole, said, err[:200], os.listdir(tmp))
	        bad = True
	sys.exit(bad)
	EOP
}
ok "Ctrl-C: what was read until then is reported, and nothing is left" interrupted

# Nothing in the file is believed: cut off anywhere, or with any byte wrong, ispot ends in order.
damaged() {
	python3 -S tests/check/import.py --zstd --shuffle <"$work/svc.text" >"$work/z.perf"
	python3 -S tests/check/import.py --formats moved <"$work/keys.text" >"$work/f.perf"
	python3 -S tests/check/import.py --formats words32 --pipe --no-names <"$work/keys.text" >"$work/p.perf"
	python3 -S - "$ISPOT" "$work/svc.perf" "$work/z.perf" "$work/f.perf" "$work/p.perf" <<-'EOP'
	import random, subprocess, sys
	random.seed(5)
	ispot, bad = sys.argv[1], 0
	for path in sys.argv[2:]:
	    whole = open(path, "rb").read()
	    for i in range(60):
	        data = bytearray(whole)
	        if i % 3 == 0:
	            data = data[:random.randrange(len(data))]
	        else:
	            for _ in range(1 + i % 5):
	                top = 4000 if i % 3 == 1 else len(data)
	                data[random.randrange(16, top)] = random.choice([0, 1, 127, 255])
	        p = subprocess.run([ispot, "dump", "--meta"], input=bytes(data), capture_output=True, timeout=20)
	        if p.returncode not in (0, 1) or (p.returncode == 1 and b"\nhint: " not in p.stderr):
	            print("# exit", p.returncode, p.stderr[:200])
	            bad = 1
	sys.exit(bad)
	EOP
}
ok "damaged files end in order" damaged
