#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Without -F ispot chooses: hot functions, the blocking functions that the program calls, those
# that become hot later; and says what it left out.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper phased queued marked

has() {
	local b
	b=$(block "$1" "$2" .calls)
	[ "$b" != null ] && [ "$b" != 0 ]
	ok $? "$1: shows $2" || diag "$(jq -r '[.blocks[] | "\(.name) \(.calls)"] | join(", ")' "$1.json")" \
		"$(jq -c '.not_traced, .self_cost' "$1.json")"
}

# named NAME FUNCTION: it is traced, or its price is said
named() {
	jq -e --arg f "$2" '[.blocks[] | select(.calls > 0) | .name] + [.not_traced[].name] | index($f)' \
		"$1.json" >/dev/null
	ok $? "$1: $2 is named" || diag "$(jq -c '[[.blocks[].name], [.not_traced[].name]]' "$1.json")"
}

# What a program does changes when the recording has got there, not after some time: on a busy machine the
# choice comes late.
# drive NAME PROGRAM [RECORD-ARGS...] [-- PROGRAM-ARGS...]: NAME.data and so on, in the background
drive() {
	local name=$1 program=$2 args=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		args+=("$1")
		shift
	done
	"$ISPOT" record -o "$name.data" "${args[@]}" -- "$program" "${@:2}" >"$name.out" 2>"$name.err" &
	recorder[$name]=$!
	children+=($!)
	eventually child $! "$(basename "$program")" && driven[$name]=$child && children+=("$child")
}
declare -A recorder driven

# told NAME LIMIT CONDITION: within so many seconds the file's lines about itself say so (jq, of all of them)
told() {
	local deadline=$((SECONDS + $2))
	until "$ISPOT" dump --meta -i "$1.data" 2>/dev/null | jq -se "$3" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] && kill -0 "${recorder[$1]}" 2>/dev/null || return 1
		sleep 0.2
	done
}
next() { kill -USR1 "${driven[$1]}"; }
# called NAME FUNCTION: often enough, and until now
called() { [ "$("$ISPOT" dump --events -i "$1.data" 2>/dev/null | awk -v f="$2" '$4 == "entry" && $5 == f { n++ } END { print n + 0 }')" -gt 100 ]; }
ended() {
	wait "${recorder[$1]}"
	status=$?
	report "$1"
}
traced() { printf 'any(.kind == "function" and .name == "%s")' "$1"; }

drive phases "$HELPERS/phased" -- calm other
told phases 120 "$(traced f)" && eventually called phases f
next phases
told phases 120 "$(traced g)" && eventually called phases g
next phases
ended phases
is "$status" 0 "phases: status" || diag phases.err
has phases f
has phases g

# A lock and its release are one choice. Where others have the CPUs, calls of the release may cost too much: then that
# is said.
for _ in 1 2 3; do
	record contended -- "$MB/contended"
	report contended
	"$ISPOT" report --by lock --json -i contended.data >locks.json 2>locks.err
	held=$(jq 'any(.blocks[]; (.lock.hold_p50_ns // 0) > 0 and .lock.holders != [])' locks.json)
	[ "$held" = true ] && break
done
is "$status" 0 "contended: status" || diag contended.err
if jq -e 'any(.not_traced[]; .name == "pthread_mutex_unlock" and .cost_share > 0.04)' contended.json >/dev/null; then
	held=true
fi
is "$held" true "contended: how long its lock was held, and by whom" || diag locks.json
nothing_lost contended
ranked=$(jq -r '[.blocks[] | select(.verdict == "interference") | .name] | join(" ")' contended.json)
[[ " $ranked " == *" cache_get "* || " $ranked " == *" pthread_mutex_lock "* ]]
ok $? "contended: the mutex is among what interferes" || diag "$ranked"
"$ISPOT" report -i contended.data >contended.screen 2>&1
is $? 0 "contended: the first screen"
# Columns, not bytes: awk counts the former in no locale or in some, so only first bytes are counted.
LC_ALL=C tr -d '\200-\277' <contended.screen | LC_ALL=C awk 'length > 80 { print; bad = 1 } END { exit bad }' >wide
ok $? "contended: no line beyond 80 columns" || diag wide
ok $(($(wc -l <contended.screen) > 23)) "contended: it is one screen, however busy the machine is" || diag contended.screen
like contended.screen 'LOST +TIME +CALLS' "contended: the table"
unlike contended.screen 'in fast / slow calls' "contended: no table of counters that were not asked for"

record short -- "$MB/exact" -n 11
is "$status" 0 "a program too short to sample: status"
like short.err '--two-pass' "a program too short to sample: says what takes two runs"
record short_twice --two-pass -- "$MB/mutex" -n 1
is "$status" 0 "--two-pass of one that is too short to count calls: status" || diag short_twice.err
report short_twice
[ "$(jq '[.blocks[] | select(.name == "pthread_mutex_lock") | .calls] | add' short_twice.json)" -ge 2 ]
ok $? "--two-pass of one that is too short to count calls: its locks" || diag "$(jq -c '.blocks[].name' short_twice.json)" short_twice.err
record two_pass --two-pass -- "$MB/mutex"
is "$status" 0 "--two-pass: status" || diag two_pass.err
report two_pass
jq -e '[.blocks[] | select(.calls > 0) | .name] | any(IN("locked_add", "pthread_mutex_lock"))' two_pass.json >/dev/null
ok $? "--two-pass: shows the mutex, or what holds it" || diag "$(jq -c '.not_traced, .self_cost' two_pass.json)"
named two_pass locked_add
is "$(jq -r '[.not_traced[] | select(.name == "clock_gettime") | .name] | join(" ")' two_pass.json)" \
	clock_gettime "--two-pass: what the first pass left out is told"
# What ran once, when the program started or ended, has a sample by chance.
is "$(jq -r '[.blocks[] | select(.kind == "function" and .calls > 0)
	| select((.object | test("/ld-[^/]*$")) or .name == "truth_sci") | .name] | join(" ")' two_pass.json)" \
	"" "--two-pass: nothing of the dynamic linker, nothing of the end"

# The hot empty function costs too much to trace: it is left out and named with its rate. What a sample
# costs is not known where others had the CPU while that was measured: then it is measured again.
for _ in 1 2 3; do
	record too_hot -- "$MB/empty" -n 2000000011
	report too_hot
	[ "$(jq .self_cost.sample_ns too_hot.json)" != null ] && break
done
is "$(jq -r '[.not_traced[] | select(.name == "empty_call")] | length' too_hot.json)" 1 \
	"a function too hot is named as left out" || diag "$(jq -c .not_traced too_hot.json)"
is "$(jq '[.not_traced[] | select(.name == "empty_call")][0].cpu_share > 0.02' too_hot.json)" true \
	"with its share of all samples" || diag "$(jq -c .not_traced too_hot.json)"

# Samples and the counting of calls are a part of what it was slowed by, and not for nothing.
jq -e '.self_cost | .sample_ns > 0 and .sampling_cost_ns >= .sample_ns and .counting_cost_ns > 0
	and .probes_cost_ns >= .sampling_cost_ns + .counting_cost_ns + .scheduling_cost_ns + .after_cost_ns' too_hot.json >/dev/null
ok $? "what samples and counting cost is in what probes cost" || diag "$(jq -c .self_cost too_hot.json)"

# Its neighbours of a short program may not cost a multiple of the program either.
head -c 60000000 /dev/urandom | base64 >lines
record sort -- sort --parallel=2 -S 64M lines
report sort
[ "$(jq '(.self_cost.overhead // 0) < 1' sort.json)" = true ]
ok $? "sort: the probes cost less than the program" || diag "$(jq .self_cost sort.json)"
[ "$(trace sort .cpu_ns)" -gt 0 ]
ok $? "sort: its CPU time is in the file"
jq -e '.trace.calls == 0 or .self_cost.after_cost_ns > 0' sort.json >/dev/null
ok $? "sort: its calls cost more than empty ones" || diag "$(jq -c .self_cost sort.json)"

# A hot leaf hides its callers where there are no frame pointers; the lock is the finding.
if "${CC:-cc}" -O2 -g -fomit-frame-pointer -o plain "$ROOT/tests/live/plain.c" -lpthread 2>plain.err; then
	drive plain ./plain -- 0
	# the lock is traced from the start, what is hot a while later
	told plain 120 "$(traced pthread_mutex_lock)" && eventually called plain pthread_mutex_lock &&
		told plain 120 'any(.name == "own_work" and (.kind == "function" or .kind == "not_traced"))'
	next plain
	ended plain
	has plain pthread_mutex_lock
	named plain locked_add
	named plain own_work
	is "$(jq -r '[.blocks[].name, .not_traced[].name] | map(select(test("^(__lll_|clone|start_thread)"))) | join(" ")' plain.json)" \
		"" "plain: neither parts of the lock nor what starts threads"
else
	skip "a hot leaf without frame pointers" "no compiler: $(head -1 plain.err)"
fi

# The lock that threads wait for, if it costs more than there is: it is traced in turns, and scores as the
# program itself has it. What it costs differs, so the budget that is too little is found.
turn='map(select(.kind == "not_traced" and .name == "pthread_mutex_lock" and .traced_again_ns > 0)) | length > 1'
for overhead in 1.5 2 3 4.5 7 10; do
	drive turns "$HELPERS/queued" --engine kernel --overhead "$overhead"
	told turns 20 "$turn" && eventually called turns pthread_mutex_lock
	turned=$?
	next turns
	ended turns
	[ $turned = 0 ] && break
done
ok "$turned" "turns: the lock that is too dear is traced more than once" ||
	diag "$(jq -c '.not_traced, .self_cost' turns.json)"
"$ISPOT" report -v -i turns.data 2>&1 | tr -s ' \n' ' ' >turns.screen
like turns.screen 'pthread_mutex_lock in turns, [1-9][0-9]?% of the time' "turns: and that is said" || diag turns.screen
score=$(jq '[.blocks[] | select(.name == "pthread_mutex_lock") | .sci] | max // 0' turns.json)
truth turns | awk '$2 == "sci" { print $3 }' >turns.truth
within "$score" "$(sed 's/+-.*/+-0.15/' turns.truth)"
ok $? "turns: its score is that of the whole" ||
	diag "$score of $(cat turns.truth)" "$(jq -c '.blocks[] | select(.name == "pthread_mutex_lock")' turns.json)" \
		"$(jq -c '.not_traced, .self_cost' turns.json)"

# Who put markers into the program wants to know of them; not at any price.
drive marked "$HELPERS/marked"
told marked 120 "$(traced request)" && eventually called marked request
next marked
ended marked
has marked request
is "$(block marked request .kind)" marker "marked: as what it is"
is "$(jq -c '[.not_traced[] | select(.name == "tiny") | .calls_per_s > 1000]' marked.json)" "[true]" \
	"marked: the one that is passed too often is said, with its rate" || diag "$(jq -c .not_traced marked.json)"
is "$("$ISPOT" dump --meta -i marked.data | jq -rs '[.[] | select(.kind == "calibration").class | select(. == "marker")] | length > 0')" \
	true "marked: what its probes cost is measured"
is "$("$ISPOT" imbalance --json -i marked.data | jq -c '[.sections[] | select(.name == "request") | .kind]')" '["named"]' \
	"marked: what lies between is a section of ispot imbalance"

record marked_twice --two-pass -F '!pthread_barrier_*' -- "$HELPERS/marked" 200
is "$status" 0 "marked --two-pass: status" || diag marked_twice.err
report marked_twice
is "$(block marked_twice request .calls)" 400 "marked --two-pass: all of them"
chosen_or_not() { jq -c --arg f "$2" '[.blocks[], .not_traced[] | .name | select(. == $f)] | length > 0' "$1.json"; }
is "$(chosen_or_not marked_twice tiny)" true "marked --two-pass: the one that is passed too often is said"
is "$(chosen_or_not marked_twice pthread_barrier_wait)" false "what -F takes out is neither traced nor listed"
# Of so short a run the first pass does not always see it wait.
for _ in 1 2 3 4 5; do
	record marked_all --two-pass -- "$HELPERS/marked" 200
	report marked_all
	[ "$(chosen_or_not marked_all pthread_barrier_wait)" = true ] && break
done
is "$(chosen_or_not marked_all pthread_barrier_wait)" true "which it is otherwise"
record marked_not --two-pass -F tiny -- "$HELPERS/marked" 200
is "$status" 2 "--two-pass with functions: status"
like marked_not.err 'leave out -p, and -F but for !patterns' "--two-pass with functions: said"

# What was cheap when it was chosen and is dear later is taken out: it was traced until then.
if "${CC:-cc}" -O1 -g -o later "$ROOT/tests/live/later.c" 2>later.err; then
	record later --two-pass -- ./later ran_once
	report later
	is "$(jq -c '[.not_traced[] | select(.name == "f") | .traced_until_ns > 0]' later.json)" "[true]" \
		"dear once traced: when its probes were taken out" || diag "$(jq -c .not_traced later.json)"
	has later f
	"$ISPOT" report -v -i later.data >later.screen 2>&1
	like <(tr '\n' ' ' <later.screen) 'Partly traced .*\bf until ' "dear once traced: not called untraced"
else
	skip "what is dear once traced" "no compiler: $(head -1 later.err)"
fi

# What was too dear when it was hot first is asked again, and traced once it fits.
drive calmer "$HELPERS/phased" -v -- dear calm
told calmer 120 'any(.kind == "not_traced" and .name == "f")'
ok $? "calmer: f is left out at first" || diag calmer.err
next calmer
told calmer 120 "$(traced f)" && eventually called calmer f
next calmer
ended calmer
[ "$(grep -c 'choice: f takes' calmer.err)" -ge 2 ]
ok $? "calmer: f was counted again" || diag "$(grep choice calmer.err)"
has calmer f
is "$(jq -c '[.not_traced[] | select(.name == "f")]' calmer.json)" "[]" "calmer: f is not said to be left out"

# So is what was cheap at first and was taken out when it became dear: it joins its set again.
drive braked "$HELPERS/phased" -v -- calm dear calm
told braked 120 "$(traced f)" && eventually called braked f
next braked
told braked 120 'any(.kind == "not_traced" and .name == "f" and .traced_until_ns > 0)'
next braked
told braked 120 'any(.kind == "not_traced" and .name == "f" and .traced_again_ns > 0)'
"$ISPOT" dump --meta -i braked.data | jq -s 'map(select(.name == "f").traced_again_ns // 0) | max' >again
# calls_since TIME
calls_since() {
	"$ISPOT" dump --events -i braked.data 2>/dev/null |
		awk -v again="$1" '$4 == "entry" && $5 == "f" && again && $1 > again { n++ } END { exit !(n > 100) }'
}
eventually calls_since "$(cat again)"
next braked
ended braked
is "$status" 0 "braked: status" || diag braked.err
is "$(jq -c '[.not_traced[] | select(.name == "f") | .traced_until_ns > 0 and .traced_again_ns > .traced_until_ns]
	| length > 0 and all' braked.json)" "true" "braked: f was taken out, and is traced again" ||
	diag "$(jq -c .not_traced braked.json)" "$(grep -E 'choice|set ' braked.err)"
calls_since "$(cat again)"
ok $? "braked: its calls are in the file from then on" || diag "again: $(cat again)"
# A place where it waited once, while its probes went in or out, is named f, too.
is "$(jq '[.blocks[] | select(.kind == "function" and .name == "f")] | length' braked.json)" 1 "braked: it is one block" ||
	diag "$(jq -c '[.blocks[] | [.name, .kind, .key, .calls]]' braked.json)"
"$ISPOT" report -i braked.data 2>&1 | tr -s ' \n' ' ' >braked.screen
like braked.screen ' f until .* and from .* on' "braked: the gap is told"
for name in phases contended too_hot sort; do
	is "$(jq -c '[.blocks[] | select(.calls > 0) | [.object, .name]] as $traced | [.not_traced[]
		| select(.traced_until_ns == null and ([.object, .name] | IN($traced[]))) | .name]' $name.json)" \
		"[]" "$name: what has calls was traced in part"
done

# Hot code without names is told by its object.
if command -v strip >/dev/null; then
	strip -o nameless "$MB/empty"
	record nameless -- ./nameless -n 2000000011
	like nameless.err 'nameless \([0-9]+% of the CPU time\) has no symbols' \
		"hot code without symbols: its object is named"
	like nameless.err 'build it without -s' "hot code without symbols: no package has those of a program of one's own"
else
	skip "hot code without symbols" "no strip here"
	skip "hot code without symbols: no package has those of a program of one's own" "no strip here"
fi

# An explicit -F is honoured whatever it costs, with a warning.
record forced -F empty_call -- "$MB/empty" -n 3000017
report forced
is "$(block forced empty_call .calls)" 3000017 "an explicit -F is honoured"
nothing_lost forced
like forced.err 'overhead|slow|budget|cost' "an explicit -F above the budget: a warning"

done_testing
