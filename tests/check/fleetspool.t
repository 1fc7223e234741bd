#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet collect: what is in a spool counts exactly once, whatever comes in between, and goes; what is no file of
# samples stays, and is out of the way.
. "$(dirname "$0")/lib.sh"

work=$planted/fleetspool
mkdir "$work"
cd "$work" || exit 1
fleet() { "$ISPOT" fleet "$@"; }

fleet simulate -o some --machines 6 --samples 240000 --seed 4 --applications 8 --interferers 4 >/dev/null
fleet reduce --db some.db some/*.fleet >/dev/null
report() { fleet report --db "$1" --min-samples 100 --json; }
# inside SPOOL: the names of what is there, but the collector's lock
inside() { find "$1" -mindepth 1 ! -name lock -printf '%f\n' | sort | tr '\n' ' '; }
# into SPOOL NUMBER FILE: as a recorder names it
into() { mkdir -p "$1" && chmod 700 "$1" && cp "$3" "$1/$(printf '%016x-%08d.fleet' "$2" 0)"; }
number=0
for file in some/*.fleet; do
	number=$((number + 1))
	into spool $number "$file"
done
fleet collect --db all.db spool >all.out 2>&1
ok "all of a spool is collected" cmp <(report some.db) <(report all.db)
ok "and gone" test -z "$(inside spool)"
ok "then there is nothing" loud "nothing to collect" fleet collect --db all.db spool

# The same again, as when a collector died between the two; a file that was cut off, and its whole.
into spool 1 some/machine00001.fleet
into spool 2 some/machine00002.fleet
ok "what comes again counts once" loud "had been reduced before and count once" fleet collect --db all.db spool
ok "it is the same" cmp <(report some.db) <(report all.db)
into parts 1 some/machine00001.fleet
truncate -s "$(($(stat -c %s parts/*) / 2))" parts/*
fleet collect --db cut.db parts >cut.out 2>&1
number=0
for file in some/*.fleet; do
	number=$((number + 1))
	into parts $number "$file"
done
fleet collect --db cut.db parts >cut.out 2>&1
ok "a part and the whole of a file count once" cmp <(report some.db) <(report cut.db)

# What a recorder still writes is locked; what one that has died has left is not.
into late 1 some/machine00001.fleet
mv late/0000000000000001-00000000.fleet late/0000000000000001-00000000.fleet.part
exec 8<late/0000000000000001-00000000.fleet.part
flock 8
ok "a file that is still written stays" loud "nothing to collect" fleet collect --db late.db late
exec 8<&-
ok "one whose recorder has died is taken" loud "are new" fleet collect --db late.db late
ok "and gone, too" test -z "$(inside late)"

# Bytes of others
into bad 1 some/machine00001.fleet
head -c 4096 /dev/urandom >bad/0000000000000002-00000000.fleet
printf 'ispotflt' >bad/0000000000000003-00000000.fleet
: >bad/0000000000000004-00000000.fleet
ln -s /etc/passwd bad/0000000000000005-00000000.fleet
echo mine >bad/notes.txt
echo mine >bad/x.fleet
fleet collect --db bad.db bad >bad.out 2>&1
ok "bytes that are no samples are no failure" test $? = 0
left() { [ "$(inside bad)" = "$(printf '%s ' 000000000000000{2,3,4,5}-00000000.fleet.refused notes.txt x.fleet)" ]; }
ok "they are kept apart, what is nobody's stays, the rest is taken" left
ok "and are not looked at again" loud "nothing to collect" fleet collect --db bad.db bad
ok "a link's file is untouched" test -s /etc/passwd

# What a link leads to is no file of the spool's, and a database is none of samples.
mkdir -m 700 other
ln -s "$PWD/some/machine00001.fleet" "other/$(printf '%016x-%08d.fleet' 1 0)"
into other 2 some.db
fleet collect --db other.db other >other.out 2>&1
ok "a link among the files is not followed" loud "no regular file" cat other.out
ok "nothing is counted of it, nor of a database" loud "has no samples" report other.db
ok "both are kept apart" test "$(inside other)" = "$(printf '%s ' 000000000000000{1,2}-00000000.fleet.refused)"

# A disk that fails: as the memory of a process where it has none.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	into failing 1 some/machine00001.fleet
	touch "failing/$(printf '%016x-%08d.fleet' 2 0)"
	# shellcheck disable=SC2016 # the inner shell's
	ISPOT=$ISPOT unshare -m sh -c 'mount --bind /proc/$$/mem failing/0000000000000002-00000000.fleet &&
		! "$ISPOT" fleet collect --db failing.db failing' >failing.out 2>&1
	ok "what cannot be read is an error" test $? = 0
	ok "which is said" loud "1 of 2 files cannot be read" cat failing.out
	ok "it stays, and the rest is taken" test "$(inside failing)" = "0000000000000002-00000000.fleet "
else
	skip "what cannot be read is an error" "needs root"
fi

mkdir -m 777 open
ok "a spool that others may write to is refused" loud "others may" fleet collect open
# Whoever may read the directory could lock that.
into spool 1 some/machine00001.fleet
exec 7<spool
flock 7
ok "a lock of the directory holds up nobody" loud "had been reduced before" fleet collect --db all.db spool
exec 7<spool/lock
flock 7
ok "one collector at a time" loud "another ispot fleet collect" fleet collect --db all.db spool
exec 7<&-
if [ "$(id -u)" = 0 ]; then
	# Under sudo the database is written as the user, who may not read root's spool.
	chmod 711 "$planted" && mkdir private theirs && chmod 700 private && chown 65534 theirs
	into private 1 some/machine00001.fleet
	SUDO_UID=65534 SUDO_GID=65534 fleet collect --db theirs/x.db private >theirs.out 2>&1
	ok "root's spool is taken into a user's database" loud "4 blocks are new" cat theirs.out
	ok "and is empty then" test -z "$(inside private)"
	ok "its lock is private" test "$(stat -c '%u %a' private/lock)" = "0 600"
else
	skip "root's spool is taken into a user's database" "needs root"
fi
ok "a spool is one directory" loud "one spool" fleet collect a b
# emptied: until the spool is, for half a minute at most
emptied() {
	for _ in {1..300}; do
		[ -n "$(inside spool)" ] || return 0
		sleep 0.1
	done
	return 1
}
into spool 1 some/machine00001.fleet
"$ISPOT" fleet collect --every 200ms --db every.db spool >every.out 2>&1 &
collector=$!
goes_on() {
	emptied && into spool 2 some/machine00002.fleet && emptied && kill -TERM $collector && wait $collector &&
		[ "$(grep -c 'are new' every.out)" = 2 ]
}
ok "--every TIME goes on until it is ended" goes_on
