# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# How long record takes beyond the program: the kernel closes the events of probes one after the
# other, 0.1 s each.

# after_end NAME RECORD-ARGS... -- COMMAND: adds the seconds from the command's end to the recorder's
after_end() {
	local name=$1 recorded=()
	shift
	while [ "$1" != -- ]; do
		recorded+=("$1")
		shift
	done
	shift
	rm -f ended
	"$ISPOT" record -q -o ends.data "${recorded[@]}" -- \
		sh -c '"$@"; date +%s.%N >ended' sh "$@" >/dev/null 2>ends.err || head -1 ends.err >&2
	awk -v now="$(date +%s.%N)" '{ printf "%.2f\n", now - $1 }' ended 2>/dev/null >>"after.$name" ||
		echo "record's end, $name: a run is left out, its command has not ended" >&2
}

bench_ends() {
	local server=("$MB/contended" -n 14000)
	head_line "record's end after the program's (median of $ROUNDS, load $(cut -d' ' -f1 /proc/loadavg))"
	for _ in $(seq "$ROUNDS"); do
		after_end chosen -- "${server[@]}"
		after_end named -F 'cache_*' -F pthread_mutex_lock -- "${server[@]}"
		after_end counted -c 100 -F 'cache_*' --no-inherit -- "${server[@]}"
		after_end short -- true
	done
	row "without -F, 2 s of contended" "$(median <after.chosen)" s "<=" 0.5
	row "with -F" "$(median <after.named)" s "<=" 0.5
	row "with -c 100, --no-inherit" "$(median <after.counted)" s "<=" 0.5
	row "without -F, of a command that ends at once" "$(median <after.short)" s "<=" 0.5
	rm -f ends.data ends.data.old ended
}
