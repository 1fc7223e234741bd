# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the parts of `make bench` share: a place, medians, the table, the tools' probes.
# Figures that are compared are measured in turn in one run: the machine's neighbours then meet
# all of them. Goals are ratios wherever a ratio says it.

set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ISPOT=${ISPOT:-$ROOT/ispot}
# shellcheck disable=SC2034
MB=$ROOT/build/microbench
ROUNDS=${ROUNDS:-5}
DIR=$(mktemp -d "${TMPDIR:-/var/tmp}/ispot-bench.XXXXXX")
GROUP=ispotbench$$ # of the probes that perf records
children=()
cd "$DIR" || exit 1

# ---- progress, on a terminal: which part, how many are done, for how long it has been at work ----

ticker=
progress_start() { # PART DONE OF
	[ -t 2 ] || return 0
	(
		trap - EXIT INT TERM
		for ((s = 2;; s++)); do
			sleep 1
			printf '\r%s: %d of %d parts done, %d s\033[K' "$1" "$2" "$3" $s >&2
		done
	) &
	ticker=$!
}

progress_stop() {
	[ -n "$ticker" ] || return 0
	kill "$ticker" 2>/dev/null
	wait "$ticker" 2>/dev/null
	ticker=
	printf '\r\033[K' >&2
}

wipe=
[ -t 1 ] && [ -t 2 ] && wipe=$'\r\033[K'

# The goals that were missed; fails if none was.
say_missed() {
	[ -s "$DIR/missed" ] || return
	printf '\n%s of the goals missed:\n' "$(wc -l <"$DIR/missed")"
	sed 's/^/  /' "$DIR/missed"
}

cleanup() {
	progress_stop
	for pid in "${children[@]}"; do
		kill "$pid" 2>/dev/null
	done
	remove_points
	cd / && rm -rf "$DIR"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

die() {
	echo "make bench: $*" >&2
	exit 1
}

# nan if one of them is.
median() {
	sort -n | awk '{ v[NR] = $1; if ($1 ~ /nan|inf/) failed = 1 }
		END { print NR && !failed ? v[int((NR + 1) / 2)] : "nan" }'
}
# An expression of numbers; nan if one of them is none, which awk would take for a variable: 0.
compute() {
	case $1 in
	*nan* | *inf*) echo nan ;;
	*) awk "BEGIN { printf \"%.${2:-2f}\", $1 }" 2>/dev/null || echo nan ;;
	esac
}

# ---- the table ----

head_line() { printf '%s\n%s\n' "$wipe" "$*"; }

# row NAME VALUE UNIT [OP GOAL]: OP is <=, >=, or =
row() {
	local verdict=""
	if [ $# -ge 5 ]; then
		verdict=$(awk -v v="$2" -v op="$4" -v g="$5" 'BEGIN {
			ok = v ~ /^-?[0-9.]/ && (op == "<=" ? v <= g : op == ">=" ? v >= g : v == g)
			print ok ? "pass" : "MISS"
		}')
		printf '%s  %-52s %12s %-9s %2s %-8s %s\n' "$wipe" "$1" "$2" "$3" "$4" "$5" "$verdict"
		[ "$verdict" = pass ] || echo "$1" >>"$DIR/missed"
	else
		printf '%s  %-52s %12s %s\n' "$wipe" "$1" "$2" "$3"
	fi
}

# ---- values that programs print ----

value() { awk -v key="$1" '$1 == key { print $2; exit }' "$2"; }

# The time per call that call_cost or entry_classes printed into a file.
ns_per_call() { awk '$1 == "ns_per_call" { print $2; exit } $1 == "calls" && NF == 4 { print $4; exit }' "$1"; }

# ispot_ns RECORD-ARGS... -- COMMAND...: ns per call as the command measured it, traced
ispot_ns() {
	"$ISPOT" record -o ispot.data "$@" >ispot.out 2>ispot.err || {
		echo "# ispot record $*: $(head -1 ispot.err)" >&2
		echo nan
		return
	}
	ns_per_call ispot.out
}

report_json() { "$ISPOT" report --json -i "$1" 2>/dev/null; }

# Wall and CPU seconds of a command alone.
times_of() {
	local TIMEFORMAT='%R %U %S'
	{ time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1, $2 + $3 }'
}

# Seconds on the clock that records carry.
monotonic() { awk '{ print $1 }' /proc/uptime; }

# ---- probes for perf: our own group, made and removed whole ----

tracefs() { awk '$3 == "tracefs" { print $2; exit }' /proc/mounts; }

# add_points NAME FILE FUNCTION: $GROUP:NAME_entry and $GROUP:NAME_exit at the function's first byte
add_points() {
	local offset
	offset=$(function_offset "$2" "$3") || return 1
	echo "p:$GROUP/$1_entry $2:$offset" >>"$(tracefs)/uprobe_events" &&
		echo "r:$GROUP/$1_exit $2:$offset" >>"$(tracefs)/uprobe_events"
}

remove_points() {
	local t event
	t=$(tracefs)
	[ -n "$t" ] && [ -d "$t/events/$GROUP" ] || return 0
	for event in "$t/events/$GROUP"/*_e*; do
		echo "-:$GROUP/$(basename "$event")" >>"$t/uprobe_events"
	done
}

# report_cost FILE [OPTIONS]: wall time in µs and peak memory in KiB of report; and cost.json, what it printed
report_cost() {
	local begin end peak now
	begin=$(date +%s%N)
	"$ISPOT" report --json -i "$@" >cost.json 2>/dev/null &
	local pid=$!
	peak=0
	while kill -0 $pid 2>/dev/null; do
		now=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null)
		[ -n "$now" ] && peak=$now
		sleep 0.02
	done
	end=$(date +%s%N)
	echo "$(((end - begin) / 1000)) $peak"
}

# Offset in the file: symbol's address less its segment's address plus the segment's offset.
function_offset() {
	readelf -W --dyn-syms -s -l "$1" | awk -v want="$2" '
		$1 == "LOAD" { n++; off[n] = $2; va[n] = $3; size[n] = $5 }
		$1 ~ /^[0-9]+:$/ && $4 == "FUNC" && $7 != "UND" {
			name = $8; version = name
			sub(/@.*/, "", name)
			# a function of several versions: the default one
			if (name == want && (version !~ /@/ || version ~ /@@/ || !found)) found = $2
		}
		END { if (!found) exit 1; print found; for (i = 1; i <= n; i++) print off[i], va[i], size[i] }' |
		{
			read -r address || return 1
			address=$((16#$address))
			while read -r off va size; do
				if ((address >= va && address < va + size)); then
					printf '0x%x\n' $((address - va + off))
					return 0
				fi
			done
			return 1
		}
}
