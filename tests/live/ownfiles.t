#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever ispot writes as root it writes where the user said, through nobody's links, for nobody else to read;
# a name of the traced program is data wherever it is shown.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_command setpriv getent gcc g++ objcopy python3

user=$(getent passwd nobody | cut -d: -f3)
[ -n "$user" ] || skip_all "there is no user nobody"
chmod 755 "$DIR"
mkdir theirs && chown "$user" theirs && chmod 755 theirs
as_user() { setpriv --reuid "$user" --regid 65534 --clear-groups "$@"; }
precious() { echo precious >precious && chmod 600 precious && rm -f precious.old; }
untouched() { is "$(cat precious) $(echo precious*)" "precious precious" "$1: nothing is written through the link"; }

# ---- fleet record, stat, fleet reduce, fleet simulate ----

cat >requests.cc <<'EOP'
#include <time.h>
#include "probes/ispot.h"
int main(int argc, char **argv)
{
	struct timespec pause = { 0, 1000000 };
	(void)argv;
	for (int i = 0; i < (argc > 1 ? 100000 : 400); i++) {
		ISPOT_BEGIN(request);
		nanosleep(&pause, 0);
		ISPOT_END(request);
	}
}
EOP
g++ -O1 -g -I"$ROOT" -o requests requests.cc
./requests 100000 &
children+=($!)
endless=$!
record_dir() { "$ISPOT" fleet record -F marker:request -d 1 -p $endless --dir "$@"; }
record_fleet() { "$ISPOT" fleet record -F marker:request "$@" -- ./requests; }
record_fleet -o own.fleet >/dev/null 2>own.err
recorded=$?
[ "$recorded" = 0 ] || diag own.err
is "$recorded $(stat -c %a own.fleet)" "0 600" "fleet record: a file of its own"
record_fleet -o own.fleet >/dev/null 2>own.err
is "$? $(stat -c %a own.fleet.old)" "0 600" "fleet record: the file before is kept"

for what in "fleet record -F marker:request -o" "stat -F libc:nanosleep -o" "fleet reduce --db"; do
	precious
	as_user ln -sf "$DIR/precious" theirs/link
	case $what in *reduce*) words=own.fleet ;; *) words="-- ./requests" ;; esac
	# shellcheck disable=SC2086 # words
	"$ISPOT" $what theirs/link $words >/dev/null 2>link.err
	refused=$?
	is $((refused == 1 || refused == 125)) 1 "$what: another user's link is refused" || diag link.err
	like link.err "belongs to another user" "$what: and why is said"
	untouched "$what"
	rm -f theirs/link
done
mkdir -p elsewhere && chmod 700 elsewhere
as_user ln -s "$DIR/elsewhere" theirs/way
record_fleet -o theirs/way/samples.fleet >/dev/null 2>way.err
is "$? $(ls elsewhere)" "1 " "nor is a directory behind another user's link written into" || diag way.err
ln -s "$DIR/theirs/way" over && ln -s theirs/way/out.fleet last
{
	record_fleet -o over/samples.fleet
	record_fleet -o last
	"$ISPOT" fleet simulate -o theirs/way/sim --machines 1 --samples 100
	SUDO_UID=$user SUDO_GID=65534 "$ISPOT" stat -d 1 -F libc:nanosleep -o theirs/way/stat.txt -- ./requests
} >/dev/null 2>over.err
is "$(ls elsewhere)" "" "nor by a link of root's own that leads through it, nor for the user who made it" || diag over.err
# Under sudo it is done with the caller's rights: then another user's link may lead to what is the caller's.
mkdir callers && chmod 700 callers && echo notes >callers/notes && chown -R 12345 callers
as_user ln -s "$DIR/callers" theirs/callers
SUDO_UID=12345 SUDO_GID=12345 "$ISPOT" stat -d 1 -F libc:nanosleep -o theirs/callers/notes -- ./requests >/dev/null 2>caller.err
is "$(ls callers) $(cat callers/notes)" "notes notes" "nor, under sudo, into the caller's own directory" || diag caller.err
like caller.err "belongs to another user" "and why is said" || diag caller.err
cp own.fleet for_theirs.fleet
"$ISPOT" fleet reduce own.fleet --db their.db >/dev/null 2>&1
chown "$user" their.db
before=$(cksum <their.db)
"$ISPOT" fleet reduce for_theirs.fleet --db their.db >/dev/null 2>their.err
is "$? $(cksum <their.db)" "1 $before" "nor a database that is another user's"
like their.err "belongs to another user" "and why is said" || diag their.err
# What SQLite makes beside a database it gives to the database's owner.
cp own.fleet for_theirs.fleet
"$ISPOT" fleet reduce for_theirs.fleet --db theirs/x.db >/dev/null 2>&1
is "$?" 1 "root makes no database where others may write"
"$ISPOT" fleet reduce for_theirs.fleet --db wal.db >/dev/null 2>&1
cp wal.db theirs/x.db
python3 -c 'import sqlite3; sqlite3.connect("theirs/x.db").execute("PRAGMA journal_mode = WAL")'
chown "$user" theirs/x.db
for part in wal shm journal; do
	rm -f theirs/x.db-*
	precious
	mv precious theirs/x.db-$part
	timeout 20 "$ISPOT" fleet report --db theirs/x.db >/dev/null 2>part.err
	is "$(stat -c %u theirs/x.db-$part) $(cat theirs/x.db-$part) $(echo theirs/x.db-*)" "0 precious theirs/x.db-$part" \
		"another user's database gives nothing of root's away: -$part" || diag part.err
done
rm -f theirs/x.db-*
timeout 20 "$ISPOT" fleet report --db theirs/x.db >part.out 2>part.err
is "$? $(echo theirs/x.db*) $("$ISPOT" fleet report --db wal.db | cksum)" "0 theirs/x.db $(cksum <part.out)" "but it is read" || diag part.err
rm -f theirs/x.db*
as_user mkfifo theirs/x.db
timeout 20 "$ISPOT" fleet report --db theirs/x.db >/dev/null 2>&1
is "$?" 1 "nor is a FIFO waited for"
timeout 20 "$ISPOT" fleet reduce theirs/x.db --db fifo.db >/dev/null 2>fifo.err
is "$?" 1 "not in place of samples either" || diag fifo.err
timeout 20 "$ISPOT" report -i theirs/x.db >/dev/null 2>fifo.err
is "$?" 1 "nor in place of a recording" || diag fifo.err
like fifo.err "is a pipe that belongs to another user" "and why is said" || diag fifo.err
timeout -k 5 60 "$ISPOT" record -o fifo.data -d 1 -F main -- sh theirs/x.db >/dev/null 2>fifo.err
[ $? != 124 ]
ok $? "nor in place of a script that a shell is to run" || diag fifo.err
as_user chmod 755 theirs/x.db
timeout 20 "$ISPOT" record -o fifo.data -F main -- theirs/x.db >/dev/null 2>fifo.err
is "$?" 126 "nor of a program" || diag fifo.err
rm -f theirs/x.db
"$ISPOT" fleet reduce own.fleet --db own.db >/dev/null 2>reduce.err
is "$(stat -c %a own.db)" 600 "fleet reduce: a database of its own" || diag reduce.err

# What root has written for itself is refused to others, who are told how to read it.
precious
cp "$ISPOT" theirs/ispot
as_user theirs/ispot report -i precious >/dev/null 2>denied.err
like denied.err '; run the command with sudo, or as the user who owns' "a recording that may not be read, and what to do"
as_user theirs/ispot fleet report --db own.db >/dev/null 2>denied.err
like denied.err '; run the command with sudo, or as the user who owns' "and so of a database"
rm -f theirs/ispot

# A directory that somebody else may write to; numbers that are longer than eight digits.
precious
as_user touch theirs/samples-99999999.fleet
as_user ln -s "$DIR/precious" theirs/samples-100000000.fleet
record_dir theirs >/dev/null 2>dir.err
is "$?" 1 "fleet record --dir: another user's directory is refused"
like dir.err "others may write to theirs; .* --dir" "and why is said" || diag dir.err
untouched "--dir"
mkdir mine shared && chmod 777 shared
touch mine/samples-99999999.fleet
ln -s "$DIR/precious" mine/samples-100000000.fleet
record_dir mine --files 5 >/dev/null 2>mine.err
is "$? $(cat precious)" "0 precious" "a link among the files is no file of samples to write into" || diag mine.err
ok "$([ -s mine/samples-100000001.fleet ] && [ ! -L mine/samples-100000001.fleet ] && echo 0 || echo 1)" \
	"numbers of nine digits are counted" || diag "$(ls -l mine)"
for to in "record -F marker:request -d 1 -p $endless --dir" "simulate --machines 1 --samples 100 -o"; do
	# shellcheck disable=SC2086 # words
	"$ISPOT" fleet $to shared >/dev/null 2>shared.err
	is "$? $(ls shared)" "1 " "${to%% *}: not into a directory of everybody's" ||
		diag shared.err
done
record_dir fresh >/dev/null 2>fresh.err
is "$(stat -c %a fresh)" 700 "a directory that ispot makes is the user's alone" || diag fresh.err

# ---- a database of unknown origin ----

python3 - <<'EOP'
import sqlite3
d = sqlite3.connect("own.db")
d.execute("DROP TABLE rows")
d.execute("CREATE VIEW rows AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x base, "
          "x corunner, 'all' class, 1 type, 0 bucket, 1 n, 1 sum, x'00' squares, 1 blocks, x'00' contrast, "
          "x'00' histogram FROM c")
d.commit()
EOP
timeout 60 "$ISPOT" fleet report --db own.db >/dev/null 2>view.err
is "$?" 1 "a database with a view that has no end is refused"
like view.err "its tables are not those of a fleet" "and why is said"

# ---- a group that is somebody's ----

free=61234
while getent passwd $free >/dev/null; do free=$((free + 1)); done
"$ISPOT" record -o id.data --user $free -F libc:getuid -- /bin/sh -c 'id -u; id -g; id -G' >id.out 2>id.err
is "$(xargs <id.out)" "$free 65534 65534" "--user of a number without an account: nobody's group" || diag id.err

# ---- names ----

cat >named.c <<'EOP'
__attribute__((noinline)) void work(int n) { __asm__ volatile("" ::"r"(n)); }
int main(void) { for (int i = 0; i < 200; i++) work(i); return 0; }
EOP
gcc -O1 -g -o named named.c
forged=$'wo x 1 /a\np 4242 ../x/y fake 10 /etc/passwd\n'
objcopy --redefine-sym "work=$forged" named forged
"$ISPOT" probe add -F '*' ./forged >add.out 2>add.err
"$ISPOT" probe list >list.out 2>&1
! grep -q "fake\|4242" list.out
ok $? "a symbol makes no line of the registry" || diag list.out
"$ISPOT" probe remove "*forged*:*" >remove.out 2>&1
! grep -q "$DIR/forged" /sys/kernel/tracing/uprobe_events
ok $? "and no event is left behind" || diag "$(cat add.err remove.out)"

objcopy --redefine-sym 'work==HYPERLINK("http://x","y")' named formula
"$ISPOT" record -o formula.data -F '=HYPERLINK*' -- ./formula >/dev/null 2>formula.err
"$ISPOT" report -i formula.data --csv >formula.csv 2>>formula.err
grep -q "HYPERLINK" formula.csv
ok $? "a function whose name is a formula is recorded" || diag formula.err
! grep -Eq '^"?=' formula.csv
ok $? "and is text in CSV" || diag formula.csv
"$ISPOT" export --format csv -i formula.data -o formula.calls 2>/dev/null
! grep -Eq '(^|,)"?=' formula.calls
ok $? "in exported calls, too" || diag formula.calls
"$ISPOT" report -i formula.data --html formula.html 2>/dev/null
like formula.html "Content-Security-Policy" "a page forbids whatever it does not hold itself"

done_testing
