#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# check says beforehand what record will do, and why; most of it without root.
. "$(dirname "$0")/lib.sh"
[ -x "$ISPOT" ] || skip_all "no $ISPOT: run make"
needs_command jq awk

# check NAME ARGS...: NAME.json, NAME.err, $status
check() {
	local name=$1
	shift
	"$ISPOT" check --json "$@" >"$name.json" 2>"$name.err"
	status=$?
}

# of NAME FUNCTION JQ-PATH
of() { jq -r --arg f "$2" ".functions[] | select(.name == \$f) | $3" "$1.json"; }

# ---- where probes go, at which class ----
check classes -F 'entry_*' "$MB/entry_classes"
is "$status" 0 "check: status 0" || diag classes.err
is "$(jq '.functions | length' classes.json)" 5 "all five chosen"
is "$(jq '[.functions[] | select(.possible)] | length' classes.json)" 5 "all five possible"
if [ "$(uname -m)" = x86_64 ]; then
	for expect in entry_push:0:emulated entry_endbr:4:emulated entry_jcc:8:emulated \
		entry_step:0:single-step; do
		IFS=: read -r name offset class <<<"$expect"
		is "$(of classes "$name" '"\(.probe.offset):\(.probe.class)"')" "$offset:$class" "$name"
	done
	is "$(of classes entry_jcc .probe.moved_past_load)" true "entry_jcc: a load is passed, and it says so"
	is "$(of classes entry_push .probe.moved_past_load)" false "entry_push: none"
	release=$(uname -r)
	if printf '6.18\n%s\n' "${release%%-*}" | sort -V -C; then
		is "$(of classes entry_nop5 .probe.class)" nop5 "entry_nop5 on a kernel that optimises it"
	else
		is "$(of classes entry_nop5 .probe.class)" single-step "entry_nop5 on an older kernel"
	fi
else
	skip "classes of entry_classes" "the expected offsets are x86-64's"
fi

# ---- a function that is its own loop ----
needs_helper looped
check looped -F looped "$HELPERS/looped"
is "$(of looped looped .possible)" false "a function whose first instruction heads its own loop is left alone"
like looped.json 'begins with its own loop: a probe there fires in every round' "and the reason"

# ---- how exits are seen ----
is "$(of classes entry_push .probe.exit)" return "a plain C program: return probes"
check harm -F 'case_*' -F 'libc.so.6:dlsym' -F 'libc.so.6:swapcontext' -F 'libc.so.6:__sigsetjmp' "$MB/harm"
is "$(of harm case_cancel .probe.exit)" ret-sites "alternate stacks: probes on exits"
like harm.json 'alternate stacks' "and the reason"
is "$(of harm dlsym .probe.exit)" ret-sites "dlsym looks at its caller"
is "$(of harm swapcontext .probe.exit)" none "swapcontext returns elsewhere"
is "$(of harm __sigsetjmp .possible)" false "setjmp is left alone"
like harm.json 'more than once' "and the reason"
if [ -x "$MB/exceptions" ]; then
	check cxx -F catch_above "$MB/exceptions"
	is "$(jq -r '.functions[0].probe.exit' cxx.json)" ret-sites "C++: probes on exits" || diag cxx.json
else
	skip "C++: probes on exits" "no C++ compiler made exceptions"
fi
"$ISPOT" check -F libc.so.6:setjmp -F libc.so.6:read "$MB/exact" >text.out 2>text.err
like text.out '^Cannot be traced' "as text: what cannot be traced"
like text.out 'setjmp .*more than once' "as text: with the reason"
like text.out 'read\+0x[0-9a-f]+ \(libc' "as text: the probe's address"

# ---- what could be traced in process ----
is "$(of classes entry_push .in_process)" true "in process: jumps fit into a usual function"
is "$(of classes entry_push .in_process_reason)" null "and there is no reason against it"
is "$(of looped looped .in_process_reason)" "begins with its own loop" "in process: not the head of a loop"
is "$(of harm __sigsetjmp .in_process_reason)" "returns more than once for one call" "in process: not setjmp"
is "$(of harm swapcontext .in_process)" false "in process: not what changes stacks"
like text.out '^ +[0-9a-z/.]+ +[a-z0-9-]+ +[a-z-]+ +kernel +read\+0x' "as text: the engine"
"$ISPOT" check -F read -p $$ >running.out 2>&1
like running.out '^ +[0-9a-z/.]+ +[a-z0-9-]+ +[a-z-]+ +(yes|no) +read\+0x' "of a running process: whether it could be patched"
like text.out '1 of the 2 that match in libc.so.6' "as text: the total of an object"

# ---- processes ----
sleep 60 &
sleeper=$!
children+=("$sleeper")
started "$sleeper" sleep
check attached -F libc.so.6:nanosleep -p "$sleeper"
is "$status" 0 "-p: status 0" || diag attached.err
is "$(of attached nanosleep .possible)" true "-p: a function of a mapped library"
is "$(of attached nanosleep .waits)" sleep "-p: what it waits for"

# ---- the whole object ----
"$ISPOT" check --stats --json "$MB/exact" >stats.json 2>stats.err
is "$(jq '[.objects[] | select(.cheap + .single_step + .impossible != .functions)] | length' stats.json)" 0 \
	"--stats: every function is in one class"
is "$(jq '[.objects[] | select(.object | test("libc.so")) | .cheap > .cheap_at_0] | length > 0 and all' stats.json)" true \
	"--stats: placement makes more of libc cheap"

is "$(jq '[.objects[] | select(.object | test("libc.so")) | .in_process >= 0.85 * .functions] | length > 0 and all' stats.json)" true \
	"--stats: jumps fit into at least 85 % of libc"
is "$(jq '[.objects[] | .in_process + ([.not_in_process[].functions] | add // 0) == .functions] | all' stats.json)" true \
	"--stats: every other function has a reason"

# ---- bad input ----
# refuses NAME STATUS REGEX
refuses() {
	is "$status" "$2" "$1: status $2" || diag "$1.err"
	is "$(grep -c '^ispot: ' "$1.err")" 1 "$1: one line" || diag "$1.err"
	like "$1.err" "$3" "$1: says what"
}
check nothing
refuses nothing 2 'CMD|command'
check both -p 1 -- "$MB/exact"
refuses both 2 '-p'
check notpid -p abc
refuses notpid 2 'process id'
check gone -F read -p 999999999
refuses gone 1 '999999999'
check nofunction -F no_such_function_xyz "$MB/exact"
refuses nofunction 1 'no_such_function_xyz'
check nocommand -F read ./no-such-program
refuses nocommand 1 'no-such-program'
check statsf --stats -F read "$MB/exact"
refuses statsf 2 'stats'

# ---- record does what check said ----
if [ "$(id -u)" != 0 ]; then
	skip "record does the same" "creating probes needs root"
	skip "costs are measured" "creating probes needs root"
else
	record loops -F main -F looped -- "$HELPERS/looped" 101
	report loops
	is "$(jq -r '[.not_traced[] | select(.name == "looped") | .reason] | join(" ")' loops.json)" \
		"begins with its own loop: a probe there fires in every round" "record leaves it alone, and says why"
	# On a busy machine the choice may fall before the loop has begun. With less overhead there are so
	# few samples that the first choice is made without shares of CPU time.
	for overhead in 10 2; do
		name=chosen_loops_$overhead
		for calls in 2000 6000 18000; do
			record $name -v --overhead $overhead -- "$HELPERS/looped" $calls
			report $name
			grep -q 'begins with its own loop' $name.json && break
		done
		is "$(block $name looped .calls)" null "without -F, too, with an overhead of $overhead%"
		is "$(jq -r '[.not_traced[] | select(.name == "looped") | .reason] | join(" ")' $name.json)" \
			"begins with its own loop: a probe there fires in every round" "and says why" || {
			jq -c '.trace, .notices, .not_traced' $name.json | sed 's/^/# /' >&2
			diag $name.err
		}
	done
	record recorded -F 'entry_*' -- "$MB/entry_classes" -n 1009
	report recorded
	for name in entry_nop5 entry_push entry_endbr entry_jcc entry_step; do
		is "$(block recorded $name '.probe | "\(.offset) \(.class) \(.exit)"')" \
			"$(of classes $name '.probe | "\(.offset) \(.class) \(.exit)"')" "$name: record did as check said"
	done
	matches_truth recorded calls
	is "$(of classes entry_step '.cost_ns > 0')" true "costs are measured" || diag classes.json
fi
done_testing
