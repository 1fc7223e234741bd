#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet record --to a spool: two recorders at once, one that is killed, and all that they say they have recorded is
# collected once.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper neighbours
cp "$HELPERS/neighbours" requests
fleet() { "$ISPOT" fleet "$@"; }
total() { fleet report --db "$1" --min-samples 1 --json | jq .fleet.samples; }

"$ISPOT" fleet record --to spool -F marker:request -- ./requests 2 >one.out 2>one.err &
one=$!
fleet record --to spool -F marker:request -- ./requests 2 >two.out 2>two.err
is $? 0 "record --to a directory" || diag two.err
wait $one
is $? 0 "and another at once" || diag one.err
is "$(find spool -name '*.fleet' | wc -l)" 2 "each makes a file of its own"
is "$(find spool -type f ! -name '*.fleet' | wc -l)" 0 "which are whole"
is "$(find . -name ispot.fleet | wc -l)" 0 "and none beside"
fleet collect --db one.db spool >collect.out 2>&1
is $? 0 "they are collected" || diag collect.out
[ "$(total one.db)" -gt 100 ]
ok $? "with their samples" || diag "$(total one.db)"
is "$(jq -r '.fleet.indicator' <(fleet report --db one.db --min-samples 1 --json))" "duration of request" "of what was measured"
is "$(find spool -type f ! -name lock | wc -l)" 0 "the spool is empty"

./requests 3600 >/dev/null & target=$! && children+=("$target")
"$ISPOT" fleet record --to spool -F marker:request --duty 300ms/301ms -p $target >three.out 2>three.err &
recorder=$!
children+=("$recorder")
written() { [ "$(find spool -name '*.part' -size +8k | wc -l)" = 1 ]; }
eventually written
ok $? "a recorder goes on writing its file" || diag three.err
is "$(fleet collect --db three.db spool 2>&1 | grep -c 'nothing to collect')" 1 "which nobody takes meanwhile"
kill -9 $recorder
wait $recorder 2>/dev/null
fleet collect --db three.db spool >collect.out 2>&1
is $? 0 "what a killed one has left is collected" || diag collect.out
[ "$(total three.db)" -gt 10 ]
ok $? "as far as it was written" || diag collect.out
is "$(find spool -type f ! -name lock | wc -l)" 0 "and is gone"

fleet record --to clickhouse://127.0.0.1:1/x --retry 100ms -F marker:request -- ./requests 1 >none.out 2>none.err
is $? 1 "a server that is not there is refused before anything runs"
unlike none.out . "and nothing has run"
fleet record --to spool -o x.fleet -F marker:request -- ./requests 1 >both.out 2>both.err
is $? 2 "a spool names its files itself"
done_testing
