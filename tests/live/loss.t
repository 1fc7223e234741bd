#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A ring too small and a recorder that stands still lose records: each is counted and placed, and no
# call is made up from the rest. As many CPUs as there are: tests/vm/kernels.txt has a guest with 64.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper hostile
H=$HELPERS/hostile
threads=$(($(nproc) > 3 ? 2 * $(nproc) : 6))
seconds=$((5 + $(nproc) / 2)) # an emulator of many CPUs is slow

# From a dump: losses, those without a time or with one that is not a stretch, records of their CPU
# that are stamped inside, the longest stretch in ms, the sum, how many CPUs lost any.
cat >losses.awk <<'AWK'
$4 == "lost" {
	split($6, since, "=")
	n++
	sum += $5
	if (!since[2] || since[2] > $1 || !$5)
		bad++
	if ($1 - since[2] > longest)
		longest = $1 - since[2]
	from[$2] = since[2]
	to[$2] = $1
}
$4 ~ /^(entry|exit|switch-in|switch-out)$/ && to[$2] && $1 > from[$2] && $1 < to[$2] { inside++ }
END {
	for (cpu in to)
		cpus++
	print n + 0, bad + 0, inside + 0, int(longest / 1e6), sum + 0, cpus + 0
}
AWK

# accounted NAME: what was made is read or lost, each loss has its stretch, no call is made up
accounted() {
	local made lost n bad inside sum cpus truth longest
	report "$1"
	ok $? "$1: report" || diag "$1.report-err"
	"$ISPOT" dump -i "$1.data" >"$1.dump" 2>/dev/null
	made=$(sed -n 's/.*"kind":"end".*"made_records":\([0-9]*\).*/\1/p' "$1.dump")
	lost=$(sed -n 's/.*"kind":"end".*"lost_records":\([0-9]*\).*/\1/p' "$1.dump")
	truth=$(truth "$1" | awk '$1 == "flood_call" { print $3 }')
	is "$made" $((2 * truth)) "$1: every entry and exit was made"
	[ "${lost:-0}" -gt 0 ]
	ok $? "$1: records were lost" || diag "$1.err"
	if [ "$((lost * 40))" -gt "$made" ]; then
		like "$1.err" 'events were dropped' "$1: which is said where it is more than a few" || diag "$1.err"
		like "$1.err" 'give larger buffers' "$1: with what to do" || diag "$1.err"
	fi
	is "$(grep -cE '^[0-9]+ [0-9]+ [0-9/]+ (entry|exit) ' "$1.dump")" "$((made - lost))" \
		"$1: made $made = read + lost $lost"
	read -r n bad inside stretch_ms sum cpus < <(awk -f losses.awk "$1.dump")
	[ $((2 * cpus)) -ge "$(nproc)" ]
	ok $? "$1: on $cpus of $(nproc) CPUs" || diag "$1.err"
	[ "$n" -gt 0 ] && [ "$bad" = 0 ]
	ok $? "$1: $n losses have a stretch of time each" || diag "$bad have none"
	# A program can be interrupted between its stamp and its ring, by one whose record is refused.
	[ $((100 * inside)) -le "$n" ]
	ok $? "$1: $inside records of their CPU stand inside the $n, one in a hundred at most"
	[ "$sum" -ge "$lost" ]
	ok $? "$1: all are placed ($sum with those of switches)" || diag "lost: $lost, placed: $sum"
	[ "$(trace "$1" .lost_records)" -ge "$lost" ]
	ok $? "$1: the report says how many"
	[ "$(block "$1" flood_call .lost_records)" -gt 0 ] &&
		[ "$(block "$1" flood_call .untimed_calls)" -gt 0 ]
	ok $? "$1: and so does the block"
	"$ISPOT" report -i "$1.data" >"$1.text" 2>&1
	like <(tr '\n' ' ' <"$1.text") ' [0-9.]+[kM]? dropped events? ' "$1: text: the head says so"
	# Each call has trapped, with its records or without: what the cheapest calibration says at least.
	"$ISPOT" dump --meta -i "$1.data" | jq -s --argjson calls "$truth" '
		(map(select(.kind == "function" and .name == "flood_call"))[0]) as $f |
		(map(select(.kind == "calibration" and .class == $f.class and .exit == $f.exit).full_p50_ns) | min) as $each |
		map(select(.kind == "end"))[0] |
		if $each == null then "unknown" else
		[.probes_cost_ns - .after_cost_ns - .scheduling_cost_ns - (.sampling_cost_ns // 0), 0.9 * $calls * $each] end' >"$1.cost"
	if [ "$1" = small ] && grep -q unknown "$1.cost"; then
		skip "$1: what dropped calls have cost is in the overhead" "the calibration did not fit into rings of 4K"
	else
		[ "$(jq '.[0] >= .[1]' "$1.cost")" = true ]
		ok $? "$1: what dropped calls have cost is in the overhead" || diag "$1.cost"
	fi
	like <("$ISPOT" report -v -i "$1.data" 2>&1) 'open when events were dropped; they are not timed' "$1: -v: calls that it hit"
	unlike "$1.text" 'probes made' "$1: text: the sum is right"
	longest=$(awk '$1 == "longest_ns" { print $2 }' "$1.out")
	[ "$(block "$1" flood_call .max_ns)" -le "$longest" ]
	ok $? "$1: no call is longer than the longest" ||
		diag "max_ns: $(block "$1" flood_call .max_ns)" "longest: $longest"
}

# seen_ms NAME: how long the flooding threads were observed, the longest of them
seen_ms() {
	jq '[.threads[] | select(.tid != .pid) | .observed_ns] | max / 1e6 | floor' "$1.json"
}

record small -m 4K -F flood_call -- "$H" flood 2 "$threads"
is "$status" 0 "small: status"
accounted small

"$ISPOT" record --engine kernel -o stopped.data -m 64K -F flood_call -- "$H" flood "$seconds" "$threads" >stopped.out 2>stopped.err &
recorder=$!
children+=("$recorder")
eventually child "$recorder" hostile
sleep 1
kill -STOP "$recorder"
sleep 1
kill -0 "$child"
ok $? "stopped: it was stopped while the target ran"
kill -CONT "$recorder"
wait "$recorder"
is $? 0 "stopped: status"
accounted stopped
[ "$stretch_ms" -ge 500 ]
ok $? "stopped: the stop is one of the losses ($stretch_ms ms)"
duration_ms=$(jq '.trace.duration_ns / 1e6 | floor' stopped.json)
[ "$(seen_ms stopped)" -lt $((duration_ms - 500)) ]
ok $? "stopped: no thread was observed meanwhile" || diag "$(seen_ms stopped) of $duration_ms ms"

# So many new mappings that their ring, or what is kept of them, is full before it is read again.
if command -v python3 >/dev/null; then
	cat >mappings.py <<-'PY'
		import mmap, sys
		file = open(sys.executable, "rb")
		for _ in range(60000):
		    mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC, flags=mmap.MAP_PRIVATE).close()
	PY
	record mappings -F 'libc.so.6:nanosleep' -- python3 mappings.py
	is "$status" 0 "lost mappings: status" || diag mappings.err
	"$ISPOT" dump -i mappings.data >mappings.dump
	like mappings.dump '"code":"lost-mappings","text":"the kernel dropped [0-9.k]+ events of new mappings' "lost mappings: said in the file"
	unlike mappings.err 'events of new mappings' "lost mappings: not on the terminal"
	record mappings -v -F 'libc.so.6:nanosleep' -- python3 mappings.py
	like mappings.err 'events of new mappings' "lost mappings: on the terminal with -v" || diag mappings.err
else
	skip "lost mappings" "python3 is missing"
fi

done_testing
