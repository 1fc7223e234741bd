#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Text, CSV, JSON and HTML show the same numbers: every cell of each golden trace, by views.py; of
# --slow by views_slow.py, and what HTML only draws by views_charts.py.
. "$(dirname "$0")/lib.sh"

work=$planted/views
mkdir "$work"
goldens "$work"

# One call in 16, of two threads.
awk 'BEGIN {
	print "{\"kind\":\"session\",\"version\":1,\"command\":\"app\",\"pid\":7,\"start_ns\":1000000000,\"clock\":\"monotonic\",\"cpus\":2,\"period\":16,\"producer\":\"synthetic\",\"kernel\":\"6.18.0\",\"pmu\":\"none\"}"
	for (i = 0; i < 400; i++) for (t = 7; t < 9; t++) {
		at = 1000000000 + i * 400000 + t * 1000; long = 4000 + (i * 7919) % 13 * 1700 + (i % 50 == 0) * 90000
		printf "%d %d %d/7 entry f\n%d %d %d/7 exit f\n", at, t - 7, t, at + long, t - 7, t
		printf "%d %d %d/7 call-count f calls=15 outer=15\n", at + long, t - 7, t
	} }' | "$ISPOT" dump --from-text - -o "$work/sampled.data" || echo "# no sampled trace"

# agree CELLS SCRIPT ARGUMENTS...: it compares at least so many cells, and finds none that differ
agree() {
	local n
	python3 -S "tests/check/$2.py" "${@:3}" >"$work/out" 2>&1
	n=$(sed -n '$s/ cells compared$//p' "$work/out")
	sed '$d' "$work/out" | head -20 | sed 's/^/# /'
	[ "$(wc -l <"$work/out")" -eq 1 ] && [ "${n:-0}" -ge "$1" ] && return
	sed -n '$s/^/# /p' "$work/out"
	return 1
}

compared() { agree "$2" "$1" "$ISPOT" "$work/$3.data" "${@:4}"; } # compared SCRIPT CELLS TRACE OPTIONS...

# uneven NAME CELLS OPTIONS...: `ispot imbalance` in its three views, of a trace or of a command
uneven() {
	local of=$work/uneven-$1 least=$2
	shift 2
	"$ISPOT" imbalance --json --html "$of.html" "$@" >"$of.json" 2>"$of.err" &&
		COLUMNS=80 "$ISPOT" imbalance --top 10 "$@" >"$of.text" 2>"$of.err" || return
	agree "$least" views_imbalance "$of.json" "$of.html" "$of.text"
}

same() { compared views "$@"; }
slow() { compared views_slow "$1" "$2" --slow "${@:3}"; }

ok "whole rows and causes (svc)" same 300 svc
ok "attached_two, which calls nothing" same 15 attached_two
for trace in burst callsites counters counter_causes diff export keys loss reads sequence sites spin waits interval; do
	ok "$trace" same 30 $trace
done
ok "keyed rows" same 300 keys --key write@fd,count
ok "without keys" same 100 keys --no-key '*'
ok "call sites" same 100 callsites --by site
ok "locks" same 50 keys --by lock
ok "sequences" same 50 sequence --by sequence
ok "threads" same 50 svc --by thread
for by in function lock site sequence thread; do
	ok "keys that lose what their function is not known to lose, by $by" same 30 story --by $by
done
ok "a window" same 30 burst --time 0-2s
ok "with a baseline" same 100 svc --baseline "$work/svc.data"
ok "ranked by another column" same 100 svc -s p99
ok "one call in 16 recorded" same 30 sampled
ok "slow calls: all of it (svc)" slow 110 svc cache_get
ok "slow calls: causes" slow 110 counter_causes false_sharing
ok "slow calls: recursion, stacks" slow 110 callsites lookup
ok "slow calls: of one key" slow 100 keys "pthread_mutex_lock locks+0x28"
ok "slow calls: few, counted ones" slow 100 counters f
ok "slow calls: a window" slow 80 svc cache_get --time 20ms-90ms
ok "slow calls: short ones left out" slow 20 keep short
# One thread of 3000 calls by chance, nested and not.
awk 'function below(n) { x = (x * 69069 + 1) % 4294967296; return int(x / 65536) % n }
	BEGIN {
		x = 7
		for (t = 1000000; depth || n < 3000; t += 100 + below(900))
			if (depth < 6 && n < 3000 && below(2)) {
				open[++depth] = "f" below(5)
				print t, "0 7/7 entry", open[depth]
				n++
			} else if (depth)
				print t, "0 7/7 exit", open[depth--]
	}' | "$ISPOT" dump --from-text - -o "$work/chance.data" || echo "# no trace by chance"
ok "steps from call to call, of a program" compared steps 8 export
ok "steps from call to call, by chance" compared steps 60 chance
drawn() { compared views_charts "$@"; }
ok "what is drawn (svc)" drawn 60 svc
for trace in counter_causes keys sequence story ends; do
	ok "what is drawn ($trace)" drawn 60 $trace
done
ok "what is drawn of sampled calls" drawn 10 sampled
ok "what is drawn of recursion" drawn 10 callsites
ok "what is drawn of a window" drawn 60 svc --time 20ms-90ms
ok "sections of uneven threads" uneven all 150 -i "$work/imbalance.data"
ok "sections that the user names" uneven named 40 -i "$work/imbalance.data" --section step
ok "sections of a window" uneven window 30 -i "$work/imbalance.data" --time 3.9ms-
# A caller whose callees lose the time is in no color, however much it scores with them.
colors_agree() {
	"$ISPOT" report -i "$work/$1.data" --html "$work/$1.html" || return
	is_high=$(grep -o '<tr class="high">' "$work/$1.html" | wc -l)
	lose=$("$ISPOT" report -i "$work/$1.data" --json | jq '.trace as $t | [.blocks[] | select(.verdict == "interference" and .sci >= 0.01
		and .lost_threads * $t.probed_ns >= 0.05 * $t.threads_ns)] | length')
	[ "$is_high" = "$lose" ] || echo "$is_high rows of $1 are in color, $lose lose 5% of thread time themselves"
}
for trace in callees svc story waits; do
	holds "rows in color lose much themselves: $trace" colors_agree $trace
done
# One screen, whatever the parts of it are.
# too_wide FILE...: their lines, in characters, which not every awk counts; but for arguments of commands to paste, which
# stay whole
too_wide() { grep -HE '^.{81,}' "$@" | grep -vE "^[^:]*: *'" || true; }
# too_large FILE...: those that are no screen of 23 lines of 80 columns, and percents that nobody can picture
too_large() {
	too_wide "$@"
	awk 'FNR == 24 { print FILENAME ": more than 23 lines" }' "$@"
	grep -HE '[0-9]{4,}(\.[0-9]+)?%' "$@" || true
}
# What a recording may lack for a view, which is an error then.
refusals='has no function that takes a lock|without its arguments|before ispot had chosen|names no monitor|has a duration|records one call in'
# shown: on stdin lines for many; each of these commands succeeds and shows something, or refuses for one of these reasons
shown() { COLUMNS=80 many | grep -vE ": status 1: .*($refusals)" || true; }
# place TRACE: has it as the file that no command needs, so that lines have room
place() {
	mkdir -p "$work/fits/$1" && ln -f "$work/$1.data" "$work/fits/$1/ispot.data"
}
one_screen() ( # one_screen TRACES COMMAND...
	cd "$work/fits" || exit 1
	# shellcheck disable=SC2206 # a pattern
	traces=($1)
	for trace in "${traces[@]}"; do
		job "$PWD/$trace" "${*:2}" "${@:2}"
	done | shown
	too_large "${traces[@]/%//${*:2}}"
)
screen_fits() { # screen_fits COMMAND TRACE OPTIONS...
	place "$2" && one_screen "$2" "$1" "${@:3}"
}
fits() { screen_fits report "$@"; }
for trace in callees waits sites parked latches story saturated svc keys pool; do
	holds "the first screen is one: $trace" fits $trace
done
# What is about all traces.
for name in "${golden[@]}"; do
	[ ! -s "$work/$name.data" ] || place "$name"
done
for view in report "report --by lock" "report --by thread" "report --by sequence" imbalance outliers; do
	# shellcheck disable=SC2086 # words
	holds "one screen of each golden trace: $view" one_screen '*' $view
done
# No line of any view is wider than the screen, whatever its length.
narrow() { # narrow TRACE...
	local trace view block n
	for trace in "$@"; do
		place "$trace"
		for view in "report -v" "report -v --by lock" "report -v --by thread" "report -v --by sequence" "imbalance --top 99" "outliers -v"; do
			# shellcheck disable=SC2086 # words
			job "$work/fits/$trace" "$view" $view
		done
		job "$work/fits/$trace" json report --json
	done | shown
	for trace in "$@"; do
		n=0
		# the function with a control character in its name is not called so
		jq -r '[.blocks[] | select(.kind == "function" and .name != "evil?[2Jname").name][:4][]' "$work/fits/$trace/json" |
			while read -r block; do
				job "$work/fits/$trace" "report --slow $((++n))" report --slow "$block"
			done
	done | shown
	for trace in "$@"; do
		(cd "$work/fits/$trace" && too_wide report* imbalance* outliers*) | sed "s|^|$trace: |"
	done
}
holds "no line of a golden trace's views is too wide" narrow bare callsites ends holders imbalance interval keys \
	monitors_asleep outliers own queue_lock regions sampled_told sites svc timer_thread
# A program, functions, a lock and threads with long names, large numbers of threads, and long times.
awk 'BEGIN {
	print "{\"kind\":\"session\",\"version\":1,\"command\":\"a\",\"program\":\"a-program-that-has-a-name-as-long-as-names-of-programs-can-be-2.14.15\",\"pid\":4194303,\"start_ns\":1000000000,\"clock\":\"monotonic\",\"cpus\":1024,\"period\":1,\"producer\":\"synthetic\",\"kernel\":\"6.18.0\",\"pmu\":\"none\"}"
	at = 1000000000
	for (i = 0; i < 120; i++) for (f = 0; f < 4; f++) {
		long = 9000000 + (i % 3 == 0) * (900000000 + f * 1000000)
		name = "\"void a_namespace::of_others::Class<std::string>::a_member_with_a_name_" f "(unsigned long, std::map<int, int> const&)\""
		printf "%.0f 0 %d/4194303 entry %s\n%.0f 0 %d/4194303 exit %s\n", at, 4194000 + i % 2, name, at + long, 4194000 + i % 2, name
		at += long + 500
	} }' >"$work/long.trace"
"$ISPOT" dump --from-text "$work/long.trace" -o "$work/long.data" && place long || echo "# no trace of long names"
holds "nor if names and numbers are long" narrow long
for view in report "report --by lock" "report --by thread" outliers; do
	# shellcheck disable=SC2086 # words
	holds "and the first screen of that is one: $view" one_screen long $view
done
# Of a program that waits behind other programs, and whose recorder had something to say.
crowded() {
	awk -v notices="$1" '
		/preempted/ && !--n_left { sub("101/100", "55/55") }
		{ print }
		/"kind":"session"/ {
			while (notices-- > 0)
				print "{\"kind\":\"notice\",\"code\":\"n\",\"text\":\"something else\"}"
		}' n_left=2 tests/golden/story.trace | "$ISPOT" dump --from-text - -o "$work/crowded$1.data" &&
		fits "crowded$1"
}
for notices in 1 2 3 6; do
	holds "the first screen is one, with $notices notices" crowded $notices
done
# Ten functions of long names in a row; in one of them the thread waits behind another program, which makes the sentences long.
long_row() { # long_row NOTICES LETTERS
	awk -v notices="$1" -v letters="$2" 'BEGIN {
		print "{\"kind\":\"session\",\"version\":1,\"command\":\"app\",\"pid\":7,\"start_ns\":1000000000,\"clock\":\"monotonic\",\"cpus\":2,\"period\":1,\"producer\":\"synthetic\",\"kernel\":\"6.18.0\",\"pmu\":\"none\"}"
		while (notices-- > 0)
			print "{\"kind\":\"notice\",\"code\":\"n\",\"text\":\"something else that takes two lines of the screen, as a few of the notices do\"}"
		at = 1000000000
		long = sprintf("%*s", letters, ""); gsub(/ /, "x", long)
		printf "%d 0 7/7 switch-in\n", at
		for (i = 0; i < 200; i++) for (f = 0; f < 10; f++) {
			printf "%d 0 7/7 entry f_%d_%s\n", at += 500, f, long
			if (f == 3 && i % 4 == 0)
				printf "%d 0 7/7 switch-out preempted next=55/55\n%d 0 7/7 switch-in\n", at + 500, at += 400000
			printf "%d 0 7/7 exit f_%d_%s\n", at += 1000, f, long
		} }' | "$ISPOT" dump --from-text - -o "$work/long_row.data" && fits long_row --by sequence | grep lines
}
for letters in 5 20 50; do
	for notices in 0 2 6; do
		holds "that of sequences is one, with $notices notices and names of $letters" long_row $notices $letters
	done
done
for trace in story keys; do
	holds "that of locks is one: $trace" fits $trace --by lock
done
holds "that of slow calls is one" fits spin --slow take
# Thirty functions, each with three calls that are far longer than its others.
awk 'BEGIN {
	print "{\"kind\":\"session\",\"version\":1,\"command\":\"app\",\"pid\":7,\"start_ns\":1000000000,\"clock\":\"monotonic\",\"cpus\":2,\"period\":1,\"producer\":\"synthetic\",\"kernel\":\"6.18.0\",\"pmu\":\"none\"}"
	at = 1000000000
	for (i = 0; i < 60; i++) for (f = 0; f < 30; f++) {
		long = 1000 + (i % 20 == 7) * (90000 + f * 1000)
		name = "a_function_with_a_name_" f
		printf "%d 0 7/7 entry %s\n%d 0 7/7 exit %s\n", at, name, at + long, name
		at += long + 500
	} }' | "$ISPOT" dump --from-text - -o "$work/thirty.data" || echo "# no trace of thirty functions"
# changed NAME BY CALLS: 40 functions of one thread, of which every second takes BY times as long, each longer than the
# one before; CALLS calls of each third one, 120 of the others; a third in nested functions.
changed() {
	awk -v by="$2" -v calls="$3" 'BEGIN {
		print "{\"kind\":\"session\",\"version\":1,\"command\":\"app\",\"pid\":7,\"start_ns\":1000000000,\"clock\":\"monotonic\",\"cpus\":2,\"period\":1,\"producer\":\"synthetic\",\"kernel\":\"6.18.0\",\"pmu\":\"none\"}"
		print "{\"kind\":\"end\",\"end_ns\":1250000000,\"probes_cost_ns\":60000000,\"target_cpu_ns\":110000000}"
		at = 1000000000
		for (i = 0; i < 300; i++) for (f = 0; f < 40; f++) {
			if (i >= (f % 3 ? 120 : calls))
				continue
			long = (10000 + 1000 * f + (i * 7919) % 13 * 100) * (f % 2 ? by : 1)
			name = "a_function_with_quite_a_long_name_" f
			printf "%d 0 7/7 entry %s\n%d 0 7/7 exit %s\n", at, name, at + long, name
			at += long + 500
		} }' | "$ISPOT" dump --from-text - -o "$work/$1.data" || echo "# no trace of $1"
}
changed old 1 120
changed slower 1.5 120
changed oftener 0.5 280
changed hugely 900 120
# Of `ispot diff`: each trace against itself and two others, and one whose functions are slower.
diff_fits() { # diff_fits BEFORE AFTER
	job "$work" diff.screen diff "$1.data" -- "$2.data" | shown
	too_large "$work/diff.screen"
}
diff_screens() {
	local name side
	mkdir -p "$work/diffs"
	for name in "${golden[@]}"; do
		for side in "$name $name" "$name svc" "story $name"; do
			job "$work/diffs" "$side" diff "$work/${side% *}.data" -- "$work/${side#* }.data"
		done
	done | shown
	too_large "$work"/diffs/*
}
holds "one screen of diff" diff_screens
for side in slower oftener hugely; do
	holds "one screen of diff: 20 functions are $side" diff_fits old $side
done
ok "it says how many have no row" grep -q '^Left out: 1[0-9] smaller changes, 20 unchanged' <(
	"$ISPOT" diff "$work/old.data" -- "$work/slower.data")
# ranked BEFORE AFTER: the first column falls, without its sign, and is what JSON has
ranked() {
	local shown
	shown=$("$ISPOT" diff --top 20 "$1" -- "$2" | sed -n 's/^ *[-+]\([0-9.]*\)% .*/\1/p')
	[ "$(wc -l <<<"$shown")" -ge 20 ] || echo "rows: $shown"
	sort -c -g -r <<<"$shown" 2>&1
	[ "$shown" = "$("$ISPOT" diff --json "$1" -- "$2" | jq -r '.blocks[:20][] | .own_time_change * 100 | fabs' |
		xargs printf '%.1f\n')" ] || echo "not those of JSON: $shown"
}
holds "diff ranks by the thread time saved or added" ranked "$work/old.data" "$work/slower.data"
holds "also that which is saved" ranked "$work/slower.data" "$work/old.data"
for trace in thirty outliers inside sections java misses behaviours; do
	holds "that of outliers is one: $trace" screen_fits outliers $trace
done
# The first line of a program with a long name and all that the line can have.
sed 's/"program":"app"/"program":"a-program-with-a-long-name-2.14"/; s/"end_ns":144380,/&"probes_cost_ns":6000,"target_cpu_ns":100000,/' \
	tests/golden/sections.trace | "$ISPOT" dump --from-text - -o "$work/crammed.data" || echo "# no trace of a long name"
holds "the first line of outliers is one line" screen_fits outliers crammed
ok "with what recording cost" grep -q '143us.* overhead ~' "$work/fits/crammed/outliers"
outliers_told() { "$ISPOT" outliers -i "$work/thirty.data" "$@" | grep -c a_function; }
ok "it says how many more there are" grep -q '2[0-9] more (--top, -v)' "$work/fits/thirty/outliers"
ok "more rows on request" test "$(outliers_told --top 30)" -ge 30
ok "and what tells for them" grep -q 'calls 7, 27, 47' <("$ISPOT" outliers -i "$work/thirty.data" -v)
holds "that of uneven threads is one" screen_fits imbalance imbalance
# wide COLUMNS HEAD COMMAND...: a terminal of more than 100 columns has that head of a column, and no other has
wide() {
	python3 -S - "$ISPOT" "$@" <<-'EOP'
		import fcntl, os, pty, struct, subprocess, sys, termios
		ispot, columns, extra, *command = sys.argv[1:]
		master, slave = pty.openpty()
		fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(columns), 0, 0))
		p = subprocess.Popen([ispot, *command], stdin=subprocess.DEVNULL,
		                     stdout=slave, stderr=slave, env={**os.environ, "ISPOT_PAGER": "cat"})
		os.close(slave)
		drawn = b""
		try:
		    while more := os.read(master, 65536):
		        drawn += more
		except OSError:  # nobody has the other end any more
		    pass
		p.wait()
		head = [line for line in drawn.decode().splitlines() if "TIME" in line and "FUNCTION" in line]
		if (extra in head[0]) != (int(columns) > 100):
		    print(f"{columns} columns: {head[0]}")
	EOP
}
for columns in 80 120; do
	holds "columns of a terminal that has $columns" wide $columns MAX report -i "$work/svc.data"
	holds "and of diff -v on it" wide $columns SCI diff -v "$work/svc.data" "$work/svc.data"
done
# Of those traces, those that the checks above look at, and those that are made here
same_totals=(story growth keys places reads spin sequence svc)
for name in "${same_totals[@]}" sampled chance; do
	place "$name"
done
placed=("$work"/fits/*)
placed=("${placed[@]##*/}")
# No bit of lost time is in two rows, whatever the rows are; those of functions that are split are in JSON twice.
rows_add_up() { # rows_add_up BY
	local trace
	mkdir -p "$work/rows.$1"
	for trace in "${placed[@]}"; do
		job "$work/rows.$1" "$trace.data" report -i "$work/$trace.data" --by "$1" --json
	done | shown
	jq -r '.trace as $t | ([.blocks[] | select(.verdict == "interference") | .lost_threads // 0] | add // 0) * ($t.probed_ns // 0) |
		select(. > $t.lost_ns * 1.001 + 2) | "\($t.command): rows lose \(.) ns, the head says \($t.lost_ns)"' "$work/rows.$1"/*
}
for by in lock sequence site thread; do
	holds "the rows add up to the headline: $by" rows_add_up $by
done
# The header's parts of thread time do not depend on what the rows are.
totals_agree() { # totals_agree TRACE: as rows_add_up has left it, and by function
	job "$work/rows.function" "$1.data" report -i "$work/$1.data" --by function --json | shown
	jq -c '.trace | [.lost_ns, .unexplained_ns, .working_ns, .idle_ns, .runnable_ns]' \
		"$work"/rows.{function,sequence,site,thread}/"$1.data" | uniq -c | grep -v '^ *4 \['
}
mkdir "$work/rows.function"
for trace in "${same_totals[@]}"; do
	holds "the same totals in every view: $trace" totals_agree "$trace"
done
# What the first screen's rows lose, with the row of what is in no row, adds up to what its second line says; a sentence
# has it if there is no table. Rows and line are rounded.
screens_add_up() { # screens_add_up BY
	local name view="report --by $1"
	[ "$1" != function ] || view=report
	for name in "${placed[@]}"; do
		# shellcheck disable=SC2086 # words
		[ -e "$work/fits/$name/$view" ] || job "$work/fits/$name" "$view" $view
	done | shown
	awk -v by="$1" '
		function told() {
			off = rows - head; off = off < 0 ? -off : off
			said = text ~ /All together lose|is lost in none/ || by == "lock"
			if (head != "" && (table || !(said || head < 2)) && off > 0.51 + 0.05 * n)
				print trace ": rows lose " rows + 0 "%, the second line says " head "%"
			text = head = ""; table = rows = n = 0
		}
		FNR == 1 { if (NR > 1) told(); trace = FILENAME; sub(/\/[^\/]*$/, "", trace); sub(/.*\//, "", trace) }
		/^thread time .*% lost/ { head = $0; sub(/% lost.*/, "", head); sub(/.*[ <]/, "", head) }
		!table { text = text $0 " " }
		/^ *LOST +TIME/ { table = 1; next }
		/^ *$/ && table { table = 2 }
		table == 1 && /^ *[0-9.]+% / { rows += $1; n++ }
		END { told() }' "$work"/fits/*/"$view"
}
for by in function lock sequence site thread; do
	holds "the screen's rows add up to its second line: $by" screens_add_up $by
done
# suggested COMMAND: the lines that its screen says to run next on the same recording
suggested() {
	PATH=$work/pasted/bin:$PATH bash -c "$1" 2>/dev/null </dev/null | sed -n ':a; / \\$/ { N; s/ \\\n */ /; ba }
		s/^Next:  //p; s/^ \{7\}\(ispot \)/\1/p' | grep -v '^ispot record' || true
}
# What the screens say to run next runs when the whole line is pasted, with what stands behind the command.
pasted() ( # pasted TRACE FUNCTION; the file has the name that no command needs, so that lines have room
	mkdir -p "$work/pasted/bin" && cd "$work/pasted" || exit 1
	ln -sf "$ISPOT" bin/ispot
	PATH=$PWD/bin:$PATH
	cp "../$1.data" ispot.data
	for view in report "report --by thread" "report --by lock" "report --slow $2" outliers; do
		suggested "ispot $view" >next
		while read -r line; do
			bash -c "$line" >out 2>err </dev/null || echo "$1: $view: $line: $(cat err)"
		done <next
		[ "$view" != "report" ] || grep -q '  # ' next || echo "$1: no command with what it answers"
	done
)
# Who follows what a screen says to run next comes to an end, and to no screen twice.
walk() { # walk COMMAND BEFORE...: of the commands before it, each led to the next one
	local next command=$1
	shift
	for next in "$@"; do
		[ "$next" != "$command" ] || { echo "$command again, behind: $*"; return; }
	done
	[ -n "${leads[$command]+known}" ] || leads[$command]=$(suggested "$command" | sed 's/ *  # .*//')
	while read -r next; do
		[ -z "$next" ] || walk "$next" "$@" "$command"
	done <<<"${leads[$command]}"
}
walked() ( # walked TRACE
	mkdir -p "$work/pasted/bin" && cd "$work/pasted" || exit 1
	ln -sf "$ISPOT" bin/ispot
	cp "../$1.data" ispot.data
	declare -A leads=()
	for view in report outliers "report --by lock" "report --by thread"; do
		walk "ispot $view"
	done
	[ -n "${leads[ispot report]}" ] || echo "no command to follow"
)
for trace in spin svc story keys sites holders yields; do
	holds "commands to run next lead to no screen twice: $trace" walked $trace
done
for trace in spin:take svc:pthread_mutex_lock; do
	holds "commands to run next: ${trace%:*}" pasted "${trace%:*}" "${trace#*:}"
done
if command -v valgrind >/dev/null; then
	# Text and JSON are of two runs, which valgrind makes the same, but for the order of threads: who
	# is first to call into a library does more there.
	lines() {
		for _ in 1 2 3; do
			uneven lines 150 -- build/microbench/uneven --case mix -t 5 && return
		done
		return 1
	}
	ok "lines to blame" lines
else
	skip "lines to blame" "no valgrind here"
fi
