# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What `ispot outliers` takes: CPU time a record, both passes, and memory, which must not grow with the
# recording.

OUTLIERS_MILLIONS=${OUTLIERS_MILLIONS:-40}

# outliers_of MILLIONS: "user seconds, peak KB"
outliers_of() {
	"$ROOT/build/bench/trace_speed" -n "$1" -w -o outliers.data >/dev/null || return
	/usr/bin/time -f '%U %M' "$ISPOT" outliers -i outliers.data 2>&1 >/dev/null | tail -1
	rm -f outliers.data
}

bench_outliers() {
	local many few_kb many_kb
	head_line "Outliers of $OUTLIERS_MILLIONS million records"
	[ -x "$ROOT/build/bench/trace_speed" ] || { echo "# no trace_speed; run make bench"; return; }
	read -r _ few_kb <<<"$(outliers_of $((OUTLIERS_MILLIONS / 10)))"
	read -r many many_kb <<<"$(outliers_of "$OUTLIERS_MILLIONS")"
	row "CPU time of a record, both passes" "$(compute "$many * 1000 / $OUTLIERS_MILLIONS" 0f)" ns
	row "memory, a tenth of it -> all" "$((few_kb / 1024)) -> $((many_kb / 1024))" MB
	row "  ratio" "$(compute "$many_kb / $few_kb")" "" "<=" 1.2
}
