#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A user who exchanges a directory on the way to root's output for a link, all the time, has nothing written where the
# link leads: each command writes into the directory or refuses.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_helper exchanger naps
needs_command setpriv getent jq
user=$(getent passwd nobody | cut -d: -f3)
[ -n "$user" ] || skip_all "there is no user nobody"
chmod 755 "$DIR"
mkdir theirs elsewhere elsewhere/sub && chown "$user" theirs && chmod 755 theirs && chmod 700 elsewhere
as_user() { setpriv --reuid "$user" --regid 65534 --clear-groups "$@"; }
cp "$HELPERS/exchanger" . && chmod 755 exchanger
as_user mkdir -p theirs/way/sub && as_user ln -s "$DIR/elsewhere" theirs/link
"$ISPOT" record -o small.data -F middle -- "$MB/exact" -n 1000 >/dev/null 2>&1

mkfifo go
as_user ./exchanger theirs/way theirs/link <go >exchanged.out 2>exchanged.err &
children+=($!)
exchanger=$!
"$HELPERS/naps" 100000000 >/dev/null &
children+=($!)
napping=$!
exec 8>go
outside() { find elsewhere -mindepth 1 ! -path elsewhere/sub; }

# A plain write of root's is led astray: else nothing here would show anything.
astray=''
for ((i = 0; i < 3000; i++)); do
	{ echo plain >"theirs/way/sub/plain"; } 2>/dev/null
	[ ! -e elsewhere/sub/plain ] || { astray=y && break; }
done
[ "$astray" ]
ok $? "the attack leads a plain write astray"
rm -f elsewhere/sub/plain

# attack NAME ROUNDS COMMAND...: with an output that is another one each time
attack() {
	local name=$1 rounds=$2 written=0 i
	shift 2
	for ((i = 0; i < rounds; i++)); do
		"${@//ROUND/$i}" >/dev/null 2>>attack.err && written=$((written + 1))
	done
	is "$(outside)" "" "$name: in $rounds rounds, $written of them written, nothing is written outside" || diag "$(outside)"
}
attack "export -o" 100 "$ISPOT" export --format csv -i small.data -o theirs/way/sub/export.ROUND
attack "the same file again" 100 "$ISPOT" export --format csv -i small.data -o theirs/way/sub/export
attack "fleet simulate -o" 20 "$ISPOT" fleet simulate -o theirs/way/sim.ROUND --machines 1 --samples 10
attack "record -o" 3 "$ISPOT" record -o theirs/way/record.ROUND -F middle -- "$MB/exact" -n 1000
attack "stat -o" 3 "$ISPOT" stat -o theirs/way/stat.ROUND -F middle -- "$MB/exact" -n 1000
attack "fleet record -o" 2 "$ISPOT" fleet record -F middle -o theirs/way/fleet.ROUND -- "$MB/exact" -n 1000
"$ISPOT" fleet simulate -o sound --machines 1 --samples 100 >/dev/null 2>&1
attack "fleet reduce --db" 20 "$ISPOT" fleet reduce sound/*.fleet --db theirs/way/sub/ROUND.db
attack "fleet record --dir" 2 "$ISPOT" fleet record -F nap -d 1 --dir theirs/way/dir.ROUND -p $napping
attack "sudo ... export -o" 50 env SUDO_UID="$user" SUDO_GID=65534 "$ISPOT" export --format csv -i small.data -o theirs/way/sub/sudo.ROUND

exec 8>&-
wait "$exchanger"
is "$?" 0 "the directory was exchanged all the time" || diag exchanged.err

# ---- a database to read ----

# Of another user it is read as a copy, without its locks: one that is waited for has been opened itself.
if command -v python3 >/dev/null; then
	"$ISPOT" fleet reduce sound/*.fleet --db sound.db >/dev/null 2>&1
	cp sound.db theirs/held.db
	chown "$user" theirs/held.db
	mkfifo go2
	python3 -c 'import sqlite3, sys
d = sqlite3.connect("theirs/held.db", isolation_level=None)
d.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()' <go2 >held.out 2>&1 &
	children+=($!)
	as_user ln -s "$DIR/sound.db" theirs/database
	as_user ln -s "$DIR/theirs/held.db" theirs/other
	as_user ./exchanger theirs/database theirs/other <go2 >exchanged.out 2>exchanged.err &
	children+=($!)
	exchanger=$!
	exec 8>go2
	eventually grep -q held held.out
	waited=''
	for ((i = 0; i < 60; i++)); do
		"$ISPOT" fleet report --db theirs/database >report.out 2>report.err || { waited=y && break; }
	done
	is "$waited" "" "root opens no database of another user's for a link that is exchanged" || diag report.err
	exec 8>&-
	wait "$exchanger"
	is "$?" 0 "the link was exchanged all the time" || diag exchanged.err
else
	skip "a link to a database" "no python3"
fi
diag "$(cat exchanged.out)" "$(find theirs -type f | wc -l) files written where they were asked for"
done_testing
