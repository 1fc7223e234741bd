# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `ispot fleet` at the size of the paper's study: 1,000 machines of 24 hardware threads, 1,102
# applications, 3.45e8 samples (2.3 GB in DIR), from the simulator. MACHINES=N: that part of it.

MACHINES=${MACHINES:-1000}

# found PLANTED CSV: pairs said to be slowed, those of them planted, planted ones with enough samples
found() {
	awk -F, -v planted="$1" '
		BEGIN { while ((getline line < planted) > 0) { split(line, f, ","); truth[f[1] "," f[2]] = 1 } }
		FNR == 1 || $4 == "too-few-samples" { next }
		$3 == "trio" { next }
		$4 == "negative" { said++; right += $3 == "core" && ($1 "," $2) in truth }
		$3 == "core" && ($1 "," $2) in truth { there++ }
		END { print said + 0, right + 0, there + 0 }' "$2"
}

# found_trios PLANTED CSV: the same of trios
found_trios() {
	awk -F, -v planted="$1" '
		BEGIN { while ((getline line < planted) > 0) { split(line, f, ",")
			if (f[3] == "trio") truth[f[1] "," f[2] "," f[5]] = 1 } }
		FNR == 1 || $3 != "trio" || $4 == "too-few-samples" { next }
		{ here = ($1 "," $2 "," $15) in truth; there += here }
		$4 == "negative" || $4 == "positive" { said++; right += here && $4 == "negative" }
		END { print said + 0, right + 0, there + 0 }' "$2"
}

# speed NAME: what reduce said in NAME.out, in millions
speed() {
	awk '{ for (i = 1; i < NF; i++)
		if ($(i + 1) == "samples" && $(i + 2) == "per") { v = $i; sub(/[kM]/, "", v)
			print $i ~ /M/ ? v : v / 1000 } }' "$1.out"
}

# timed NAME COMMAND...: its wall time as a row, its output in NAME.out
timed() {
	local begin name=$1
	shift
	begin=$(date +%s%N)
	"$@" >"$name.out" || die "$*: failed"
	row "$name" "$(compute "($(date +%s%N) - $begin) / 1e9" 1f)" s
}

# bench_trios SAMPLES: 18 planted, in a fleet of 40 applications; those of the bases are kept
bench_trios() {
	local said right there named
	"$ISPOT" fleet simulate -o three --machines $((MACHINES / 10 + 1)) --samples "$1" \
		--applications 40 --interferers 6 --trio-interferers 18 --seed 13 >/dev/null
	mapfile -t named < <(awk -F, '$3 == "trio" { print "--trios"; print $1 }' three/planted.csv)
	timed reduce-trios "$ISPOT" fleet reduce --trios "${named[1]}" --db one.db three/*.fleet
	row "  samples per second of CPU with trios of one, millions" "$(speed reduce-trios)" M/s ">=" 5
	timed reduce-all-trios "$ISPOT" fleet reduce "${named[@]}" --db all.db three/*.fleet
	row "  the same with trios of $((${#named[@]} / 2)) of 40, millions" "$(speed reduce-all-trios)" M/s
	timed report-trios "$ISPOT" fleet report --db all.db --class trio --csv
	read -r said right there < <(found_trios three/planted.csv report-trios.out)
	row "  trios said to interfere" "$said" ""
	row "  precision" "$(compute "$said ? $right / $said : 0" 3f)" "" ">=" 0.95
	row "  recall, of $there planted with enough samples" "$(compute "$there ? $right / $there : 0" 3f)" "" ">=" 0.95
	rm -rf three one.db all.db
}

bench_fleet() {
	local said right there samples=$((345000 * MACHINES))
	head_line "ispot fleet: $MACHINES machines, $samples samples, 1,102 applications (load $(cut -d' ' -f1 /proc/loadavg))"
	timed simulate "$ISPOT" fleet simulate -o made-up --machines "$MACHINES" --samples $samples \
		--applications 1102 --interferers 20 --seed 11
	timed reduce "$ISPOT" fleet reduce made-up/*.fleet
	row "  samples per second of CPU, millions" "$(speed reduce)" M/s ">=" 5
	row "  database" "$(du -m fleet.db | cut -f1)" MB
	timed report "$ISPOT" fleet report --csv
	read -r said right there < <(found made-up/planted.csv report.out)
	row "  pairs said to interfere" "$said" ""
	row "  precision" "$(compute "$said ? $right / $said : 0" 3f)" "" ">=" 0.95
	row "  recall, of $there planted with enough samples" "$(compute "$there ? $right / $there : 0" 3f)" "" ">=" 0.95
	rm -rf made-up fleet.db
	bench_trios $((samples / 10))
	"$ISPOT" fleet simulate -o none --machines $((MACHINES / 10 + 1)) --samples $((samples / 10)) \
		--applications 1102 --interferers 0 --seed 12 >/dev/null
	"$ISPOT" fleet reduce none/*.fleet >/dev/null
	row "pairs found in a tenth of it without interferers" \
		"$("$ISPOT" fleet report --csv | awk -F, '$4 == "negative" || $4 == "positive"' | wc -l)" "" "=" 0
	rm -rf none fleet.db
}
