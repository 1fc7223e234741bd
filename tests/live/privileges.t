#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whose the files are, through whose links nothing is written, and whom the command runs as.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_command stat setpriv getent

user=$(getent passwd nobody | cut -d: -f3)
group=$(getent passwd nobody | cut -d: -f4)
[ -n "$user" ] || skip_all "there is no user nobody"
chmod 755 "$DIR"
cp "$MB/exact" exact
chmod 755 exact

# as_sudo ARGS...: as sudo starts ispot for that user
as_sudo() { SUDO_UID=$user SUDO_GID=$group SUDO_USER=nobody "$ISPOT" "$@"; }
owner() { stat -c %u "$1" 2>/dev/null; }
as_user() { setpriv --reuid "$user" --regid "$group" --clear-groups "$@"; }

# ---- files ----

mkdir home && chown "$user:$group" home && chmod 700 home
for _ in 1 2; do
	as_sudo record -o home/a.data -F inner -- ./exact -n 11 >/dev/null 2>a.err
done
is "$?" 0 "under sudo: status" || diag a.err
is "$(owner home/a.data) $(owner home/a.data.old)" "$user $user" "the file and the one before are the user's"
is "$(stat -c %a home/a.data)" 600 "nobody else may read it"
is "$(stat -c %g home/a.data)" "$group" "and of the user's group"

mkdir roots && chmod 755 roots
as_sudo record -o roots/a.data -F inner -- ./exact -n 11 >/dev/null 2>roots.err
is "$? $(owner roots/a.data)" "0 $user" "where the user may not write root does, and gives the file" ||
	diag roots.err

echo precious >precious && chmod 644 precious
as_user ln -s "$DIR/precious" home/link.data
as_sudo record -o home/link.data -F inner -- ./exact -n 11 >/dev/null 2>link.err
is "$?" 0 "a link of the user's to where he may not write: status" || diag link.err
is "$(cat precious) $(ls precious*)" "precious precious" "and nothing is touched there"
is "$(readlink home/link.data.old) $(owner home/link.data)" "$DIR/precious $user" \
	"the link is kept beside the new file, which is the user's"
for to in precious nowhere; do
	echo precious >precious
	ln -s $to $to.data
	"$ISPOT" record -o $to.data -F inner -- ./exact -n 11 >/dev/null 2>own.err
	is "$? $(readlink $to.data.old) $(cat precious) $(ls precious.old nowhere 2>/dev/null)" "0 $to precious " \
		"-o through a link of one's own to $to leaves that alone" || diag own.err
done
ln -s /dev/null null.data
"$ISPOT" record -o null.data -F inner -- ./exact -n 11 >/dev/null 2>null.err
is "$? $(readlink null.data)" "0 /dev/null" "one to a device is written through" || diag null.err

# As in /tmp: another user's links and pipes.
mkdir sticky && chmod 1777 sticky
setpriv --reuid 1 --regid 1 --clear-groups ln -s "$DIR/precious" sticky/a.data
setpriv --reuid 1 --regid 1 --clear-groups mkfifo sticky/pipe.data
for who in root sudo; do
	run=("$ISPOT")
	[ $who = root ] || run=(env SUDO_UID="$user" SUDO_GID="$group" "$ISPOT")
	"${run[@]}" record -o sticky/a.data -F inner -- ./exact -n 11 >/dev/null 2>sticky.err
	is "$?" 125 "$who: another user's link: status"
	like sticky.err "a link that belongs to another user; remove it or name another|Permission denied" \
		"$who: and is said"
	is "$(cat precious)" precious "$who: and not written through"
	timeout 20 "${run[@]}" record -o sticky/pipe.data -F inner -- ./exact -n 11 >/dev/null 2>sticky.err
	is "$?" 125 "$who: another user's pipe: status"
done

# ---- the command ----

"$ISPOT" record -o u.data --user nobody -F inner -- ./exact -t 2 -n 1001 >u.out 2>u.err
status=$?
is "$status" 0 "--user: status" || diag u.err
report u
is "$(block u inner .calls)" 3003 "--user: calls"
nothing_lost u
"$ISPOT" record -o id.data --user "$user" -F 'libc:getuid' -- /bin/sh -c 'id -u; id -g; id -G; printenv HOME USER LOGNAME' \
	>id.out 2>id.err
is "$(sed -n 1p id.out) $(sed -n 2p id.out)" "$user $group" "--user UID: user and group" || diag id.err
is "$(sed -n 3p id.out)" "$(id -G nobody)" "the account's groups, and none of root's"
is "$(sed -n 4,6p id.out | xargs)" "$(getent passwd nobody | cut -d: -f6) nobody nobody" "HOME, USER and LOGNAME"
chmod 700 exact
record denied --user nobody -F inner -- ./exact -n 1
is "$status" 126 "what the user may not run is not run"
record nosuch --user no-such-user -F inner -- ./exact -n 1
is "$status" 125 "an unknown user: status"
like nosuch.err "there is no user 'no-such-user'; give a name or a number" "and is said"
record nocommand --user nobody -p $$ -d 0.1
like nocommand.err "for a command, and there is none; leave it out" "--user without a command"

done_testing
