#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Engine B: probes that root registers, and that a user without privilege records with.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root to register probes"
[ -e /sys/kernel/tracing/uprobe_events ] || skip_all "no uprobes in this kernel, or no tracefs"
command -v setpriv >/dev/null || skip_all "no setpriv (util-linux)"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip_all "users may not use perf events"

# Few enough calls for the buffer that a user has. A copy of its own, so that no other recording has to do with these probes.
cp "$MB/exact" own_exact
cp "$MB/mutex" own_mutex
cp "$ISPOT" own_ispot # where a user may run it
ISPOT=$DIR/own_ispot
chmod 755 . own_exact own_mutex own_ispot
mkdir -m 777 user
as_user() { # as_user CMD...
	(cd user && TMPDIR=$DIR/user exec setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all "$@")
}
as_user test -x "$ISPOT" || skip_all "a user cannot reach $ISPOT"
blocks() {
	"$ISPOT" report -i user/ispot.data --json 2>/dev/null |
		jq -r '.blocks[] | "expect block=\(.name) calls=\(.calls) \(.timed_calls)"' | sort
}
remove() { "$ISPOT" probe remove -F "$DIR/own_exact:*" -F "$DIR/own_mutex:*" -F 'exact:*'; }
trap 'remove >/dev/null 2>&1; cleanup' EXIT

"$ISPOT" probe add -F outer -F middle -F 'tail_*' ./own_exact >out 2>err
ok $? "an administrator registers" || diag err
as_user "$ISPOT" probe list >out 2>err
like out "^tail_target  \($DIR/own_exact\)" "a user sees them"
as_user "$ISPOT" record -F "own_exact:*" "$DIR/own_exact" -n 300 --exit 3 >expected 2>err
is $? 3 "a user records; the command's status is passed on" || diag err
like err ', none dropped' "nothing was lost"
grep -E '=(outer|middle|tail_.*) ' expected | awk '{ split($3, n, "="); print $0, n[2] }' | sort >wanted
blocks >got
diff got wanted >difference
ok $? "every call is there, and timed: also those of threads" || diag difference
# shellcheck disable=SC2094 # its -o is no redirection
"$ISPOT" report -i user/ispot.data >report 2>&1
like report 'without privilege' "the report says how it was recorded"
"$ISPOT" dump -i user/ispot.data --meta | grep -q '"producer":"perf"'
ok $? "and the file, by whom"
as_user "$ISPOT" record -F "own_exact:outer" -o one.data "$DIR/own_exact" -n 90 >out 2>err
"$ISPOT" report -i user/one.data --json 2>/dev/null | jq -r '.blocks[].name' >names
is "$(cat names)" outer "-F chooses among them"
as_user "$ISPOT" record -o none.data "$DIR/own_exact" --help >out 2>err
is "$? $(grep -c ': 0 calls ' err)" "0 1" "a command that makes no call is recorded, too" || diag err
# shellcheck disable=SC2094 # reads what was written
"$ISPOT" report -i user/none.data >report 2>&1
is "$? $(grep -c 'stack pointers' report)" "0 0" "and read" || diag report

names() { # names FILE: of its blocks
	"$ISPOT" report -i "user/$1" --json 2>/dev/null | jq -r '.blocks[].name' | sort | xargs
}
as_user "$ISPOT" record -F '/^tail_/' -F '!tail_caller' -o two.data "$DIR/own_exact" -n 90 >out 2>err
is "$(names two.data)" tail_target "as a recording of root's would: by regex, and less what is excluded"
as_user "$ISPOT" record --engine kernel -F 'own_exact:inner' "$DIR/own_exact" >out 2>err
like err "no registered probe matches -F own_exact:inner" "a pattern that means none of them is refused"

# What takes root is refused by its name, and nothing is passed over.
refused() { # refused OPTION [VALUE]
	as_user "$ISPOT" record "$@" -F "own_exact:outer" -o no.data "$DIR/own_exact" >out 2>err
	[ $? -eq 125 ] && grep -q -e "$1 takes root" err && [ ! -e user/no.data ] && return
	diag "$*" && diag err
	return 1
}
all=0
for option in "-c 5" "-e cycles" "-D 1" "-g dwarf" "--overhead 5" "--burst 50ms/100ms" "--keep-slower 1ms"; do
	# shellcheck disable=SC2086 # an option and its value
	refused $option || all=1
done
ok $all "what takes root is refused, by its name"
as_user "$ISPOT" record -F "own_exact:outer@arg1" "$DIR/own_exact" >out 2>err
is "$? $(grep -c 'record no arguments' err)" "125 1" "arguments are, too"
as_user "$ISPOT" record -q -g none -e none -m 64K --no-key '*' -F "own_exact:outer" -o less.data \
	"$DIR/own_exact" -n 90 >out 2>err
is "$? $(names less.data)" "0 outer" "what can be fulfilled is: a smaller buffer, no stacks, no keys" || diag err
as_user "$ISPOT" record -m 1G -F "own_exact:outer" "$DIR/own_exact" >out 2>err
is "$? $(grep -c 'smaller -m' err)" "125 1" "a buffer larger than a user may have is refused"

# A buffer of 50 records, read 50 times a second: most is lost, and the last of it where nothing
# follows by which the kernel could say so.
made=$((2 * 20011))
as_user "$ISPOT" record -q -m 4K -F own_exact:outer -o lossy.data "$DIR/own_exact" -n 20011 >out 2>err
is $? 0 "a small buffer" || diag err
"$ISPOT" dump -i user/lossy.data >lossy.dump 2>/dev/null
lost=$(sed -n 's/.*"kind":"end".*"lost_records":\([0-9]*\).*/\1/p' lossy.dump)
read=$(grep -cE '^[0-9]+ [0-9]+ [0-9/]+ (entry|exit) ' lossy.dump)
# Switches are among what was lost, as many as the machine's load makes them: none is counted twice.
[ "${lost:-0}" -gt 0 ] && [ $((read + lost)) -ge $made ] && [ $((read + lost)) -lt $((made * 3 / 2)) ]
ok $? "made = read + lost" || diag "made $made, read $read, lost $lost (switches among them)"
is "$(awk '$4 == "lost" { sum += $5 } END { print sum }' lossy.dump)" "$lost" "each loss has its place"

# Two containers have a /run each, and a registry there, but one kernel. A point that got into the other's
# event of that name would crash the kernel, where that is open.
contained() { # contained RUN CMD...
	# shellcheck disable=SC2016 # of the inner shell
	unshare -m bash -c 'mount -o bind "$1" /run/ispot && shift && exec "$@"' bash "$@"
}
if mkdir one two && chmod 755 one two && contained one true 2>contained.err; then
	contained one "$ISPOT" probe add -F inner ./own_exact >out 2>err
	is "$?" 0 "a container's administrator registers" || diag err
	TMPDIR=$DIR/user contained one setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all "$ISPOT" record \
		-F own_exact:inner -o user/one.data "$DIR/own_exact" -n 2003 -t 1 >one.out 2>one.err &
	recorder=$!
	children+=("$recorder")
	for _ in $(seq 5); do
		adding=()
		for run in one two; do
			contained $run "$ISPOT" probe add -F inner -F factorial -F outer ./own_exact >$run.add 2>&1 &
			adding+=($!)
		done
		for pid in "${adding[@]}"; do wait "$pid" || diag one.add || diag two.add; done
		for run in one two; do
			contained $run "$ISPOT" probe remove -F factorial -F outer >$run.remove 2>&1
		done
	done
	wait "$recorder"
	is "$?" 0 "and another's meanwhile what has the same names, again and again" || diag one.err
	is "$(awk '/:ispot_probes\/inner/ { print $1 }' /sys/kernel/tracing/uprobe_events | sort | uniq -d)" "" \
		"no event has two points"
	is "$(grep -c "ispot_probes/inner[^ ]* $DIR" /sys/kernel/tracing/uprobe_events)" 4 "each has its own"
	is "$(awk '/ calls=/ { sub("block=", "", $2); sub("calls=", "", $3); if ($2 == "inner") print $3 }' one.out)" \
		"$("$ISPOT" report -i user/one.data --json 2>/dev/null | jq '.blocks[] | select(.name == "inner") | .calls')" \
		"the recording has each call once"
	for run in one two; do
		contained $run "$ISPOT" probe remove -F own_exact:inner >out 2>err
		is "$?" 0 "container $run: what it registered goes" || diag err
	done
	is "$(grep -c "inner[^ ]* $DIR/own_exact" /sys/kernel/tracing/uprobe_events)" 0 "all of it"
else
	skip "two containers" "no mount namespaces here: $(head -1 contained.err)"
fi

# Names that the kernel takes no probes by: blanks, of which a byte of "\u00e0" is one to it, and its own signs.
for odd in $'a\xc3\xa0b' 'two words' 'a:b#c'; do
	mkdir -p "odd/$odd" && chmod 755 odd "odd/$odd" && cp own_exact "odd/$odd/exact"
	"$ISPOT" probe add -F middle "odd/$odd/exact" >out 2>err
	ok $? "a file in a directory $odd gets a probe" || diag err
	"$ISPOT" probe list >out 2>err
	like out "^middle  \($DIR/odd/$odd/exact\)" "which is in the list"
	as_user "$ISPOT" record -F middle -o odd.data "$DIR/odd/$odd/exact" -n 90 >out 2>err
	is "$? $(names odd.data)" "0 middle" "a user records with it" || diag err
	"$ISPOT" probe remove -F "$DIR/odd/$odd/exact:*" >out 2>err
	is "$? $("$ISPOT" probe list | grep -cF "$DIR/odd/")" "0 0" "it goes again" || diag err
done
mkdir -p odd/$'b\nc' && cp own_exact odd/$'b\nc'/exact
"$ISPOT" probe add -F middle odd/$'b\nc'/exact >out 2>err
is "$? $(grep -c '^hint: .*copy the file to a plain name' err)" "1 1" "a line break is refused, and what to do is said" || diag err

# Ends: --max-size, -d, and signals.
"$ISPOT" probe add -F locked_add ./own_mutex >out 2>err
long=("$DIR/own_mutex" -t 1 -d 100)
as_user "$ISPOT" record --max-size 100K -F own_mutex:locked_add -o small.data "${long[@]}" -n 4001 >out 2>err
is "$? $(grep -c 'reached --max-size' err)" "0 1" "--max-size ends the recording, not the command" || diag err
[ "$(stat -c %s user/small.data)" -le 100000 ] && [ "$(names small.data)" = locked_add ]
ok $? "and the file is as small, and can be read"
as_user "$ISPOT" record -d 0.3 -F own_mutex:locked_add -o timed.data "${long[@]}" -n 1000001 >out 2>err
is "$? $("$ISPOT" dump -i user/timed.data | grep -c '"reason":"duration"') $(grep -c '(duration)' err)" "0 1 0" \
	"-d ends command and recording, as asked" || diag err

# interrupted FILE SIGNAL [TIMES]: the recorder's status. Its command ignores SIGINT, as a job in the
# background of a script does.
interrupted() {
	local pid child deadline=$((SECONDS + 60))
	rm -f user/pid
	as_user sh -c 'trap "" INT; echo $$ >pid; exec "$@"' sh "$ISPOT" record -F own_mutex:locked_add -o "$1" \
		"${long[@]}" -n 1000001 >out 2>err &
	# until it has run for a while: 0.1 s of CPU time are hundreds of calls
	until child=$(pgrep -P "$(cat user/pid 2>/dev/null || echo 1)" own_mutex) &&
		[ "$(awk '{ print $14 + $15 }' "/proc/$child/stat")" -ge 10 ]; do
		[ $SECONDS -lt $deadline ] || return 99
		sleep 0.1
	done
	pid=$(cat user/pid)
	for _ in $(seq "${3:-1}"); do
		kill "-$2" "$pid"
		sleep 0.2
	done
	wait $!
}
interrupted ended.data TERM
is "$? $(names ended.data)" "143 locked_add" "SIGTERM is passed on; what was recorded is kept" || diag err
like err '\(interrupted\)' "and it is said that the command did not end by itself"
interrupted left.data INT 2 # which the command ignores
status=$?
left=$(sed -n 's/.*process \([0-9]*\) has not ended and is left running.*/\1/p' err)
is "$status $(names left.data)" "0 locked_add" "a second interrupt ends it where the command does not" || diag err
like err '\(interrupted\)' "and says so"
[ -n "$left" ] && kill "$left"
ok $? "the command is left running"
"$ISPOT" probe remove -F "$DIR/own_mutex:*" >out 2>err
as_user "$ISPOT" probe remove >out 2>err
is $? 1 "a user cannot remove them"
removed() { remove >out 2>err; } # not while a recording has one open, which the kernel may close late
eventually removed
ok $? "an administrator removes them" || diag err
is "$(grep -c "$DIR/own_exact" /sys/kernel/tracing/uprobe_events)" 0 "they are gone"
done_testing
