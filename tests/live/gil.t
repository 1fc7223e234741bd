#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Python's threads take turns at one lock, which is made of a condition variable; main joins them by a
# semaphore. What is lost is lost at the lock, and waiting for their end is idle. They end one after the
# other, so that main sleeps for each.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_command python3

python=$(python3 -c 'import sys, os; print(os.path.realpath(sys.executable))')
python3 -c 'import sys; sys.exit(sys.version_info >= (3, 13))' ||
	skip_all "this Python may be without the lock, or joins in another way"
cat >gil.py <<'EOP'
import threading
def work(n):
    x = 0
    for i in range(n):
        x += i
threads = [threading.Thread(target=work, args=(n * 6000000,)) for n in (1, 2, 4)]
for t in threads: t.start()
for t in threads: t.join()
EOP

# Blocks of any kind that waited for an end: NAME LOST IDLE. What is lost there is the lock at the
# same place before it was known as one: for how long the machine's scheduling decides.
waits_for_ends() {
	jq -r '.blocks[] | select(any(.causes[]; any(.evidence[]; test("waited for a thread to end")) and .share > 0.5))
		| "\(.kind) \(.lost_threads) \(.idle_threads)"' gil.json >ends
	[ -s ends ]
}

# On a busy machine main may wait mostly for something else.
for try in 1 2 3; do
	record gil -F libc:pthread_cond_timedwait -- "$python" gil.py
	report gil --no-key '*'
	waits_for_ends && break
	echo "# try $try: main did not wait mostly for the threads to end"
done
is "$status" 0 "status" || diag gil.err
if [ "$(block gil pthread_cond_timedwait .calls)" = null ]; then
	skip "the lock is a lock" "this Python waits for it by other functions"
else
	is "$(first_cause gil pthread_cond_timedwait lock)" lock "the lock is a lock" ||
		diag "$(block gil pthread_cond_timedwait '.causes | tojson')"
fi

[ -s ends ]
ok $? "main waits for the threads to end" || diag gil.json
[ -s ends ] && awk '!($3 > 0) { bad = 1 } END { exit bad }' ends
ok $? "and that is idle" || diag ends
nothing_lost gil

done_testing
