#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Looking at a program runs nothing of it: neither its audit modules nor what it names as its
# loader, whatever asks for its libraries. What runs is the command, once, as its user.
. "$(dirname "$0")/lib.sh"
needs_probes
needs_command "${CC:=cc}" setpriv getent sort
getent passwd nobody >/dev/null || skip_all "there is no user nobody"
user=$(id -u nobody)
chmod 755 "$DIR"

# Each leaves a line with its user in $MARKS, a directory that anybody may write to.
MARKS=$DIR/marks
mkdir "$MARKS" && chmod 1777 "$MARKS"
cat >audit.c <<EOF
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void mark(const char *what)
{
	char path[200];
	snprintf(path, sizeof(path), "$MARKS/%s.%d.%d", what, (int)geteuid(), (int)getpid());
	close(open(path, O_CREAT | O_WRONLY, 0644));
}
#ifdef AUDIT
unsigned la_version(unsigned v) { mark("audit"); return v; }
#else
int main(void) { mark("loader"); return 0; }
#endif
EOF
cat >app.c <<'EOF'
__attribute__((noinline, noclone)) int work(int n) { __asm__ volatile("" : "+r"(n)); return n; }
int main(void) { return work(0); }
EOF
{ "$CC" -DAUDIT -shared -fPIC -o evil.so audit.c && "$CC" -static -o evil-loader audit.c &&
	"$CC" -g -O1 -Wl,--audit="$DIR/evil.so" -o audited app.c &&
	"$CC" -g -O1 -Wl,--dynamic-linker="$DIR/evil-loader" -o swapped app.c &&
	"$CC" -g -O1 -Wl,--dynamic-linker=/usr/bin/env -o through-env app.c; } ||
	skip_all "${CC} makes no such programs"
chown "$user" evil.so evil-loader audited swapped through-env

# `env --list FILE` runs FILE: a copy that is a script would be; the program itself is audited.
"$CC" -g -O1 -Wl,--dynamic-linker=/usr/bin/env,--audit="$DIR/evil.so" -o env-audited app.c

marks() { (cd "$MARKS" && printf '%s\n' * | grep -v '^\*$' | cut -d. -f1,2 | sort | uniq -c | awk '{ print $1 "x" $2 }' | paste -sd' '); }
forget() { rm -f "$MARKS"/*; }

# It would run: without this the rest proves nothing.
forget
./audited
is "$(marks)" "1xaudit.0" "the audit module leaves its mark where the program runs"
forget
./evil-loader --list ./swapped
is "$(marks)" "1xloader.0" "and so does what is named as the loader, where it is asked"

for program in audited swapped through-env env-audited; do
	forget
	"$ISPOT" check -F work "./$program" >check.out 2>check.err
	like check.out "work" "check: $program is looked at" || diag check.err
	"$ISPOT" check --perf-script -F work "./$program" >check.out 2>check.err
	is "$(marks)" "" "check: nothing of $program is run"

	"$ISPOT" probe add -F work "./$program" >probe.out 2>probe.err
	is "$?" 0 "probe add: $program has its probes" || diag probe.err
	is "$(marks)" "" "probe add: nothing of $program is run"
	"$ISPOT" probe remove -F "$program:work" >probe.out 2>probe.err || diag probe.err

	"$ISPOT" imbalance --count edges -- "./$program" >edges.txt 2>edges.err
	is "$(marks)" "" "imbalance: nothing of $program is run, which does not count its edges"
done

# The command itself runs all of that, once, and as the user it is started as.
forget
record plain -F work -- ./audited
is "$status $(marks)" "0 1xaudit.0" "record: the module runs with the command only" || diag plain.err
forget
record user --user nobody -F work -- ./audited
is "$status $(marks)" "0 1xaudit.$user" "record --user: and as its user" || diag user.err
forget
record swapped --user nobody -F work -- ./swapped
is "$(marks | tr ' ' '\n' | grep -c '\.0$')" 0 "record --user: the loader that it names does not run as root"
forget
record through --user nobody -F work -- ./env-audited
is "$(marks | tr ' ' '\n' | grep -c '\.0$')" 0 "record --user: nothing runs as root through env"
forget
SUDO_UID=$user SUDO_GID=$user "$ISPOT" check -F work ./swapped >check.out 2>check.err
is "$(marks)" "" "check under sudo: nothing of the user's program is run"
done_testing
