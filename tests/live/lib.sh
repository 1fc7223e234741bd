# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the live tests share: TAP, a place of their own, recording, and the comparison with what a
# microbenchmark prints about itself. Run from anywhere: prove tests/live/NAME.t

set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ISPOT=${ISPOT:-$ROOT/ispot}
MB=$ROOT/build/microbench
# On a disk, not in memory: O_DIRECT and fdatasync are among the subjects.
DIR=$(mktemp -d "${TMPDIR:-/var/tmp}/ispot-live.XXXXXX")
export TMPDIR=$DIR
export PAGER=cat NO_COLOR=1
tests=0
status=0 # of the latest record
children=()
cd "$DIR" || exit 1

# Whoever has ended may have left its number to another program: only what still is of this test.
cleanup() {
	local pid mine
	mine=" $(jobs -pr | paste -sd' ') "
	for pid in "${children[@]}"; do
		[[ $mine == *" $pid "* || /proc/$pid/cwd -ef $DIR ]] && kill "$pid" 2>/dev/null
	done
	cd / && rm -rf "$DIR"
}
trap cleanup EXIT

# ---- TAP ----

skip_all() {
	echo "1..0 # SKIP $*"
	exit 0
}

# ok STATUS NAME
ok() {
	tests=$((tests + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tests - $2"
	else
		echo "not ok $tests - $2"
	fi
	return "$1"
}

pass() { ok 0 "$1"; }
skip() {
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

# diag FILE|TEXT...: why a test failed, as TAP comments; on stderr, which prove shows
diag() {
	if [ $# -eq 1 ] && [ -f "$1" ]; then
		head -30 "$1" | sed 's/^/#   /'
	else
		printf '#   %s\n' "$@"
	fi >&2
}

# is GOT WANTED NAME
is() {
	if [ "$1" = "$2" ]; then
		pass "$3"
	else
		ok 1 "$3"
		diag "got:    $1" "wanted: $2"
		return 1
	fi
}

# joined FILE: an error and its hint in one line, "what; what to do"; in guests awk is busybox's
joined() {
	awk '{ if (sub(/^hint: /, "; ")) line = line $0; else { if (NR > 1) print line; line = $0 } }
		END { if (NR) print line }' "$1"
}

# like FILE REGEX NAME
like() {
	if joined "$1" | grep -E -- "$2" >/dev/null; then
		pass "$3"
	else
		ok 1 "$3"
		diag "no line matches: $2"
		diag "$1"
		return 1
	fi
}

unlike() {
	if [ ! -e "$1" ]; then
		ok 1 "$3"
		diag "there is no $1"
		return 1
	fi
	if joined "$1" | grep -E -- "$2" >/dev/null; then
		ok 1 "$3"
		diag "$(joined "$1" | grep -E -m1 -- "$2")"
		return 1
	fi
	pass "$3"
}

done_testing() { echo "1..$tests"; }

# ---- what a live test needs ----

needs_command() {
	for command in "$@"; do
		command -v "$command" >/dev/null || skip_all "no $command here"
	done
}

needs_probes() {
	[ -x "$ISPOT" ] || skip_all "no $ISPOT: run make"
	needs_command jq awk
	[ "$(id -u)" = 0 ] || skip_all "creating probes needs root"
	grep -qw tracefs /proc/filesystems || skip_all "this kernel has no tracefs"
	[ -e /sys/bus/event_source/devices/uprobe ] || skip_all "this kernel has no uprobes"
	[ -e /proc/sys/kernel/unprivileged_bpf_disabled ] || skip_all "this kernel has no bpf()"
	[ -e /sys/kernel/btf/vmlinux ] || skip_all "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
	# Not read from tracefs: it may be mounted by ispot only. Containers may take away what is above.
	if ! "$ISPOT" record -o "$DIR/try.data" -F main -- "$MB/exact" -n 1 >/dev/null 2>"$DIR/try.err"; then
		grep -Eq 'permitted|EPERM|capabilit' "$DIR/try.err" &&
			skip_all "this environment forbids probes: $(head -1 "$DIR/try.err")"
	fi
}

# may_probe: whether kernel probes can be made here, for a test that has more to do than that
may_probe() {
	[ "$(id -u)" = 0 ] && "$ISPOT" record -q --engine kernel -o "$DIR/try.data" -F main -- "$MB/exact" -n 1 >/dev/null 2>&1
}

# eventually COMMAND...: waits until it succeeds; not for ever, but as long as a busy machine takes
eventually() {
	local deadline=$((SECONDS + 120))
	until "$@"; do
		[ $SECONDS -lt $deadline ] || return 1
		sleep 0.1
	done
}

# outlives_recorders PID DELAY...: whether a program that is recorded in process lives on, although its recorder is
# killed, after each of these times
outlives_recorders() {
	local delay recorder
	for delay in "${@:2}"; do
		"$ISPOT" record -q --engine in-process -o killed.data -F leaf -p "$1" -d 60 &
		recorder=$!
		sleep "$delay"
		kill -KILL $recorder
		wait $recorder
		kill -0 "$1" || return
	done 2>/dev/null
}

# child PARENT NAME: $child is a process of that name that it has started
# shellcheck disable=SC2034 # for the tests
child() { child=$(pgrep -P "$1" -x "$2"); }
gone() { ! kill -0 "$1" 2>/dev/null; }

# started PID NAME: what `&` has begun is that program, which its loader has given libc, and no longer
# a copy of this shell that is about to be it. Before anything is asked of a process or done to it.
started() {
	eventually is_started "$@"
	ok $? "$2 has started" || diag "$(readlink "/proc/$1/exe")"
}
is_started() {
	[[ $(readlink "/proc/$1/exe") == */"$2" ]] &&
		grep -Eq '^[^ ]+ r-x.* /.*/libc[.-][^/]*$' "/proc/$1/maps" 2>/dev/null
}

# needs_helper NAME...: programs of tests/live, which $HELPERS has then
HELPERS=$ROOT/build/live
needs_helper() {
	for helper in "$@"; do
		[ -x "$HELPERS/$helper" ] || make -s -C "$ROOT" "build/live/$helper" >/dev/null 2>&1 ||
			skip_all "build/live/$helper cannot be made: run make build/live/$helper"
	done
}

# has_omp COMPILER NAME FLAGS...: ./omp-COMPILER, an OpenMP program by that compiler; where it has no
# OpenMP the test of that name is skipped
OMP=$ROOT/tests/live/openmp/omp.c
has_omp() {
	"$1" -g -O1 -fopenmp "$OMP" -o "omp-$1" "${@:3}" 2>cc.err && return
	skip "$1 -fopenmp: $2" "$1 has no OpenMP here"
	return 1
}

# ---- recording ----

# Ahead of what else the machine does, in a session of its own. by=ahead: recordings are.
ahead() {
	if ! command -v setsid >/dev/null; then
		"$@"
		return
	fi
	setsid -w sh -c '{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -20 "$@"' sh "$@"
}
by=

# record NAME RECORD-ARGS...: NAME.data, NAME.out (the target's stdout), NAME.err; sets $status.
# By the kernel's probes, unless the arguments name an engine.
# RING: of each CPU, where the recorder itself is slowed (tests/strict)
record() {
	local name=$1 engine="--engine kernel"
	shift
	[[ " $* " == *" --engine "* || " $* " == *" --java "* ]] && engine=
	# shellcheck disable=SC2086 # an option and its value
	$by "$ISPOT" record -o "$name.data" ${RING:+-m "$RING"} $engine "$@" >"$name.out" 2>"$name.err"
	# shellcheck disable=SC2034 # for the tests
	status=$?
}

# report NAME: NAME.json
# report NAME [OPTIONS]
report() {
	"$ISPOT" report --json -i "$1.data" "${@:2}" >"$1.json" 2>"$1.report-err" && jq -e . "$1.json" >/dev/null
}

# begun NAME: of a recording under way, its probes fire and the file says so
begun() { "$ISPOT" dump --events -i "$1.data" 2>/dev/null | grep -q ' set-on '; }

# block NAME FUNCTION JQ-PATH: one member of the block, "null" where there is none; [n]: n of them
block() {
	jq -r --arg f "$2" "[.blocks[] | select((.kind == \"function\" or .kind == \"marker\") and .name == \$f)] |
		if length == 1 then .[0]$3 elif length == 0 then null else \"[\(length)]\" end" "$1.json"
}

trace() { jq -r ".trace$2" "$1.json"; }

# ---- truth ----

# truth NAME: the program's "expect" lines as BLOCK KEY VALUE lines
truth() {
	awk '$1 == "expect" {
		split($2, b, "=")
		for (i = 3; i <= NF; i++) { split($i, kv, "="); print b[2], kv[1], kv[2] }
	}' "$1.out"
}

# within GOT VALUE+-TOLERANCE [MORE]: of tolerance
within() {
	awk -v got="$1" -v want="$2" -v more="${3:-0}" 'BEGIN {
		split(want, w, "[+]-")
		d = got - w[1]
		w[2] += more
		exit !(got != "null" && d <= w[2] && -d <= w[2])
	}'
}

# score_within NAME BLOCK VALUE+-TOLERANCE. Where the CPU was taken away between the stamps of program
# and probe only one of them knows, so what of the score is that may be missing, or more; and the
# program's hold the probes, whose price varies, so the floor may be.
score_within() {
	within "$(block "$1" "$2" .sci)" "$3" "$(block "$1" "$2" '| (.floor // 0) +
		(.sci // 0) * ([.causes[] | select(.kind == "cpu-wait") | .share] | add // 0)')"
}

# first_cause NAME BLOCK KIND: the largest cause, besides what a busy machine and the probes add to
# any block (KIND itself counts)
first_cause() {
	jq -r --arg f "$2" --arg want "$3" '.blocks[] | select(.kind == "function" and .name == $f)
		| [.causes[] | .kind
		| select(. == $want or (IN("cpu-wait", "ispot", "callee") | not))] | .[0]' "$1.json"
}

# sums_up NAME BLOCK: the causes' shares are all of the excess (less what is too small to print)
sums_up() {
	local sum
	sum=$(block "$1" "$2" "| [.causes[].share] | add")
	within "$sum" 1+-0.02
	ok $? "$1: causes of $2 add up to its excess" || diag "$sum"
}

# is_in_process NAME BLOCK
is_in_process() { [ "$(block "$1" "$2" .probe.engine)" = in-process ]; }

# is_untold NAME BLOCK: the test has named it, as NAME/BLOCK, among those whose cause takes what is not
# recorded in process, and there its calls are timed
untold=
is_untold() { [[ " $untold " == *" $1/$2 "* ]] && is_in_process "$1" "$2"; }

# seen_as NAME BLOCK KIND: its first cause. Where only counters could tell, not to know is right; to name
# a wrong one is an error everywhere.
seen_as() {
	local got
	got=$(first_cause "$1" "$2" "$3")
	if [ "$got" = unknown ] && is_untold "$1" "$2"; then
		got=$3
	fi
	case $3 in
	cache-sharing | memory-bandwidth | numa | frequency-smt)
		[ "$got" != unknown ] || got=$3 ;;
	esac
	echo "$got"
}

# cause_agrees NAME BLOCK KIND
cause_agrees() {
	local got
	sums_up "$1" "$2"
	got=$(seen_as "$1" "$2" "$3")
	if [ "$got" != "$3" ] && [ "$(block "$1" "$2" ".causes[0].kind")" = cpu-wait ]; then
		skip "$1: cause of $2" "the CPUs were taken: most of it is cpu-wait"
		return
	fi
	is "$got" "$3" "$1: cause of $2" || diag "$(block "$1" "$2" ".causes | tojson")"
}

# taken NAME BLOCK: what other programs and the probes took is so much that no verdict of the block itself
# has most of its excess
taken() {
	[ "$(block "$1" "$2" '| .causes[0].kind == "cpu-wait" or
		([.causes[] | select(.kind | IN("cpu-wait", "ispot")) | .share] | add // 0) > 0.4')" = true ]
}

# verdict_agrees NAME BLOCK VERDICT
verdict_agrees() {
	local got
	got=$(block "$1" "$2" .verdict)
	if [ "$got" = "$3" ]; then
		pass "$1: verdict of $2"
	elif [ "$3" = idle ] && awk -v b="$2" '$1 == b && $2 == "sci" { exit !($3 + 0 < 0.05) }' <(truth "$1"); then
		skip "$1: verdict of $2" "the machine was too busy for it to wait"
	elif taken "$1" "$2"; then
		skip "$1: verdict of $2" "the CPUs were taken: most of it is cpu-wait"
	elif [ "$got" = cannot-tell ] && [ "$(block "$1" "$2" '.causes[0].kind')" = unknown ] && is_untold "$1" "$2"; then
		skip "$1: verdict of $2" "its cause is not told in process"
	else
		is "$got" "$3" "$1: verdict of $2"
	fi
}

# is_left NAME BLOCK: the test has named it, as NAME/BLOCK, among those that cannot be patched, and so the
# recording says
left=
is_left() {
	[[ " $left " == *" $1/$2 "* ]] &&
		[ "$(jq --arg f "$2" '[.not_traced[]? | select(.name == $f and (.reason | test("^it ")))] | length' "$1.json")" -gt 0 ]
}

# agrees NAME BLOCK KEY VALUE: the report on NAME says so too
agrees() {
	if is_left "$1" "$2" && [ "$(block "$1" "$2" .calls)" = null ]; then
		skip "$1: $3 of $2" "it cannot be patched"
		return
	fi
	case $3 in
	calls) is "$(block "$1" "$2" .calls)" "$4" "$1: calls of $2" ;;
	sci)
		score_within "$1" "$2" "$4"
		ok $? "$1: SCI of $2 is $4" || diag "got: $(block "$1" "$2" .sci)" "$(block "$1" "$2" ".causes | tojson")"
		;;
	cause) cause_agrees "$1" "$2" "$4" ;;
	verdict) verdict_agrees "$1" "$2" "$4" ;;
	esac
}

# scores_agree NAME: every SCI, silently
scores_agree() {
	local b key value
	while read -r b key value; do
		[ "$key" != sci ] || score_within "$1" "$b" "$value" || return 1
	done < <(truth "$1")
}

# causes_agree NAME: no other cause comes first, silently. What a disk has at once, and a read on a busy host,
# are of another kind than what is planted.
causes_agree() {
	local b key value
	while read -r b key value; do
		[ "$key" != cause ] || [ "$(seen_as "$1" "$b" "$value")" = "$value" ] || return 1
	done < <(truth "$1")
}

# record_truth NAME RECORD-ARGS...: records and reports. Program and probes are measured in one run, so a loaded
# machine moves them together; where it takes a CPU away between the stamps of one and the other they part,
# so a score or cause that disagrees is measured again, at most twice.
record_truth() {
	local name=$1
	shift
	for _ in 1 2 3; do
		record "$name" "$@"
		report "$name" || return
		scores_agree "$name" && causes_agree "$name" && break
	done
	return 0
}

# nothing_lost NAME: whatever was made was read
nothing_lost() {
	is "$(trace "$1" .lost_records)" 0 "$1: no record lost"
}

# matches_truth NAME [KEY...]: every expect line agrees (only these keys of it)
matches_truth() {
	local name=$1 b key value keys=" ${*:2} " agreed=0
	while read -r b key value; do
		[ "$keys" = "  " ] || [[ $keys == *" $key "* ]] || continue
		agrees "$name" "$b" "$key" "$value"
		agreed=$((agreed + 1))
	done < <(truth "$name")
	[ "$agreed" -gt 0 ]
	ok $? "$name: the program printed its truth" || diag "$name.err"
}
