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
cp "$ISPOT" own_ispot # where a user may run it
ISPOT=$DIR/own_ispot
chmod 755 . own_exact own_ispot
mkdir -m 777 user
as_user() { # as_user CMD...
	(cd user && TMPDIR=$DIR/user exec setpriv --reuid 65534 --regid 65534 --clear-groups \
		--inh-caps=-all "$@")
}
as_user test -x "$ISPOT" || skip_all "a user cannot reach $ISPOT"
blocks() {
	"$ISPOT" report -i user/ispot.data --json 2>/dev/null | python3 -c '
import json, sys
for b in json.load(sys.stdin)["blocks"]:
    print("expect block=%s calls=%d" % (b["name"], b["calls"]), b["timed_calls"])' | sort
}
remove() { "$ISPOT" probe remove -F "$DIR/own_exact:*"; }
trap 'remove >/dev/null 2>&1; cleanup' EXIT

"$ISPOT" probe add -F outer -F middle -F 'tail_*' ./own_exact >out 2>err
ok $? "an administrator registers" || diag err
as_user "$ISPOT" probe list >out 2>err
like out "^tail_target  \($DIR/own_exact\)" "a user sees them"
as_user "$ISPOT" record -F "own_exact:*" "$DIR/own_exact" -n 300 --exit 3 >expected 2>err
is $? 3 "a user records; the command's status is passed on" || diag err
like err ' 0 records lost' "nothing was lost"
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
as_user "$ISPOT" record -c 5 -F "own_exact:outer" "$DIR/own_exact" >out 2>err
is $? 125 "what takes root is refused"
as_user "$ISPOT" probe remove >out 2>err
is $? 1 "a user cannot remove them"
remove >out 2>err
ok $? "an administrator removes them" || diag err
is "$(grep -c "$DIR/own_exact" /sys/kernel/tracing/uprobe_events)" 0 "they are gone"
done_testing
