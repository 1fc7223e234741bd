#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Programs that patches could break behave as they do alone, with every function of theirs and of their
# libraries patched, also where the kernel's probes are beside the patches; and attaching and detaching
# again and again does not disturb a running one.
# ENGINES: those that launched commands are recorded with.
. "$(dirname "$0")/lib.sh"

case $(uname -m) in x86_64 | aarch64) ;; *) skip_all "no patches are made on $(uname -m)" ;; esac
needs_command jq
needs_helper hostile hostile_cxx patched
H=$HELPERS/hostile
"$ISPOT" record -q --engine in-process -o probe.data -F leaf "$HELPERS/patched" 1 0 1 0 >probe.out 2>probe.err ||
	{ grep -q 'stamps by the TSC' probe.err && skip_all "no stable TSC here: $(cat probe.err)"; }

engines=${ENGINES:-in-process auto}
if ! may_probe; then
	engines=in-process
	skip "both engines in one recording" "kernel probes cannot be made here"
fi

# unharmed NAME COMMAND...: output and status as alone, by each engine
unharmed() {
	local name=$1 engine
	shift
	"$@" >"$name.alone" 2>/dev/null </dev/null
	local alone=$?
	for engine in $engines; do
		record "$name" --engine "$engine" -F '*' -F 'lib*:*' -- "$@" </dev/null
		is "$status" "$alone" "$name, $engine: status $alone" || diag "$name.err"
		cmp -s "$name.alone" "$name.out"
		ok $? "$name, $engine: output" || diag "$name.err"
	done
}

unharmed thread_exit "$H" thread_exit 101
unharmed cancel_blocked "$H" cancel_blocked 50
unharmed cancel_anywhere "$H" cancel_anywhere 50
unharmed signal_jump "$H" signal_jump 101
unharmed coroutines "$H" coroutines 300
unharmed own_stack "$H" own_stack 300
unharmed signals "$H" signals 2000
unharmed return_address "$H" return_address 11
unharmed deep "$H" deep 2
unharmed tail "$H" tail 3
unharmed threads "$H" threads 300
unharmed forks "$H" forks 50
unharmed vforks "$H" vforks 50
unharmed execs "$H" execs 20
if ldconfig -p 2>/dev/null | grep -q 'libz\.so\.1 '; then
	unharmed reload "$H" reload 100
else
	skip "reload" "no libz.so.1"
fi
unharmed filter "$H" filter 101
unharmed unwinding "${H}_cxx"
for engine in $engines; do
	record locked --engine "$engine" -F one_step -- "$H" filter 101 </dev/null
	is "$status" 5 "$engine: a program that locks itself up before its first record" || diag locked.err
done

# ---- unmodified programs ----

seq 1 100000 >numbers
! command -v xz >/dev/null || unharmed xz xz -c numbers
! command -v xz >/dev/null || unharmed xz_threads xz -T2 --block-size=100KiB -c numbers
! command -v gzip >/dev/null || unharmed gzip gzip -nc numbers
! command -v sort >/dev/null || unharmed sort sort -rn numbers
# shellcheck disable=SC2016 # they are perl's
! command -v perl >/dev/null || unharmed perl perl -e 'my %h; $h{$_ % 997} .= $_ for 1 .. 20000; print map { "$_ $h{$_}\n" } sort keys %h'
# shellcheck disable=SC2016 # they are awk's
! command -v awk >/dev/null || unharmed awk awk '{ n[$1 % 7] += $1 } END { for (k = 0; k < 7; k++) print n[k] }' numbers
! command -v sqlite3 >/dev/null || unharmed sqlite sqlite3 :memory: 'create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c where x < 5000) insert into t select x, hex(x) from c;
	select sum(a), count(distinct b), max(b) from t; select group_concat(a) from (select a from t order by b desc limit 100);'
[ ! -x /usr/bin/python3 ] || unharmed python /usr/bin/python3 -c 'import json, re, zlib
print(json.dumps({str(i): i * i for i in range(500)}), re.findall("a+", "aaabaa" * 100), zlib.crc32(zlib.compress(b"x" * 10000)))
try: raise KeyError(7)
except KeyError as e: print(e)'
! command -v gcc >/dev/null || unharmed gcc gcc -### -x c numbers
cc1=$(gcc -print-prog-name=cc1 2>/dev/null)
if [ -x "${cc1:-}" ]; then
	echo 'int printf(const char *, ...); static int f(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * n ^ s >> 3; return s; }
		int main(int c, char **v) { return printf("%d %s", f(c) + f(7), *v); }' >compiled.c
	unharmed cc1 "$cc1" -quiet -O2 compiled.c -o -
else
	skip "cc1" "no gcc"
fi
# Of node what is not made as it runs; its own functions are more than are patched in a test's time.
if command -v node >/dev/null; then
	echo 'const z = require("zlib"), h = require("crypto").createHash("sha256"), o = {};
		for (let i = 0; i < 500; i++) { h.update(z.deflateSync(Buffer.from("x".repeat(i)))); o["k" + i % 97] = i; }
		console.log(h.digest("hex"), JSON.stringify(o).length);' >program.js
	node program.js >node.alone
	for engine in $engines; do
		record node --engine "$engine" -F 'uv_*' -F 'v8::internal::Heap::*' -F 'libc.so.6:*' -F 'libstdc++.so.6:*' -- node program.js
		is "$status" 0 "node, $engine: status" || diag node.err
		cmp -s node.alone node.out
		ok $? "node, $engine: output" || diag node.err
	done
else
	skip "node" "not installed"
fi

# ---- servers under load, attached to and left ----

# attached NAME PID: attached to twice while others use it, all its functions and those of its libraries
attached() {
	local k
	for k in 1 2; do
		"$ISPOT" record --engine in-process -o "$1.data" -F '*' -F 'lib*:*' -p "$2" -d 0.5 >"$1.rec" 2>&1 || break
	done
	is "$k/$?" 2/0 "$1: attached to under load" || diag "$1.rec"
	kill -0 "$2"
	ok $? "$1: it lives"
}

if command -v redis-server redis-benchmark redis-cli >/dev/null; then
	redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --daemonize no >redis.log 2>&1 &
	server=$!
	children+=("$server")
	eventually [ -S redis.sock ]
	redis-benchmark -s "$PWD/redis.sock" -n 1000000000 -q -t incr,lpush >load.out 2>&1 &
	load=$!
	children+=("$load")
	attached redis "$server"
	kill "$load"
	wait "$load"
	is "$(redis-cli -s "$PWD/redis.sock" eval 'local n = 0; for i = 1, 1000 do n = n + redis.call("incr", "own") end return n' 0)" 500500 "redis: it computes"
	redis-cli -s "$PWD/redis.sock" shutdown nosave >/dev/null 2>&1
	wait "$server"
	is "$?" 0 "redis: it ends as it would have"
else
	skip "redis" "not installed"
fi

if command -v memcached >/dev/null && [ -x /usr/bin/python3 ]; then
	memcached -u "$(id -un)" -s "$PWD/memcached.sock" -t 2 >memcached.log 2>&1 &
	server=$!
	children+=("$server")
	eventually [ -S memcached.sock ]
	/usr/bin/python3 -c 'import os, socket
s = socket.socket(socket.AF_UNIX); s.connect("memcached.sock"); f = s.makefile("rwb"); n = bad = 0
while not os.path.exists("enough"):
    v = b"v%d" % n
    f.write(b"set k%d 0 0 %d\r\n%s\r\n" % (n % 997, len(v), v)); f.flush(); bad += f.readline() != b"STORED\r\n"
    f.write(b"get k%d\r\n" % (n % 997)); f.flush(); f.readline(); bad += f.readline() != v + b"\r\n"; f.readline()
    n += 1
print(n > 0, bad)' >load.out 2>&1 &
	load=$!
	children+=("$load")
	attached memcached "$server"
	: >enough
	wait "$load"
	is "$(cat load.out)" "True 0" "memcached: it answers right"
	kill "$server"
	wait "$server"
	is "$?" 0 "memcached: it ends as it would have"
else
	skip "memcached" "not installed, or no python3"
fi

# PostgreSQL refuses to be root's, and ispot to be more than it is.
postgres=$(echo /usr/lib/postgresql/*/bin/postgres | awk '{ print $NF }')
if [ -x "$postgres" ] && command -v pgbench psql setpriv >/dev/null && [ "$(id -u)" = 0 ]; then
	chmod 755 "$DIR" && mkdir -m 700 pg && cp "$ISPOT" pg/ispot && chown -R 65534:65534 pg
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$DIR/pg" TMPDIR="$DIR/pg")
	"${as_nobody[@]}" "${postgres%/*}/initdb" -D "$DIR/pg/data" -U tester -A trust -N >pg.log 2>&1
	"${as_nobody[@]}" "$postgres" -D "$DIR/pg/data" -k "$DIR/pg" -c listen_addresses= -c fsync=off >>pg.log 2>&1 &
	server=$!
	children+=("$server")
	eventually psql -h "$DIR/pg" -U tester -c 'select 1' postgres >/dev/null 2>&1
	pgbench -h "$DIR/pg" -U tester -i -q postgres >>pg.log 2>&1
	pgbench -h "$DIR/pg" -U tester -T 600 -c 2 postgres >load.out 2>&1 &
	load=$!
	children+=("$load")
	# pgbench has looked at its tables through a connection of its own
	backend() { [ "$(pgrep -c -P "$server" -f 'postgres: tester ')" -ge 2 ] && backend=$(pgrep -n -P "$server" -f 'postgres: tester '); }
	if eventually backend; then
		for k in 1 2; do
			"${as_nobody[@]}" pg/ispot record --engine in-process -o pg/pg.data -F '*' -F 'libc.so.6:*' -p "$backend" -d 0.5 >pg.rec 2>&1 || break
		done
		is "$k/$?" 2/0 "postgres: attached to under load" || diag pg.rec
	fi
	kill -0 "$load"
	ok $? "postgres: the load goes on" || diag load.out
	kill "$load"
	wait "$load"
	is "$(psql -h "$DIR/pg" -U tester -Atc 'select (select sum(abalance) from pgbench_accounts) = (select sum(tbalance) from pgbench_tellers),
		(select sum(delta) from pgbench_history) = (select sum(bbalance) from pgbench_branches)' postgres)" "t|t" "postgres: its books are right"
	kill -INT "$server"
	wait "$server"
	is "$?" 0 "postgres: it ends as it would have"
else
	skip "postgres" "not installed, or not root"
fi

# ---- attached to again and again ----

"$HELPERS/patched" wait 4 >running.out &
running=$!
children+=("$running")
eventually [ -e "/proc/$running/maps" ] && sleep 0.2
done=0
for ((round = 0; round < 100; round++)); do
	"$ISPOT" record -q --engine in-process -o attached.data -F '*' -F 'libc.so.6:*' -p "$running" -d 0.02 >attached.out 2>&1 || break
	done=$((done + 1))
done
is "$done" 100 "attached to and detached from 100 times" || diag attached.out
kill "$running"
wait "$running"
is "$?/$(grep -c '^calls leaf' running.out)" 0/1 "the program ends as it would have"

# ---- other tools meanwhile ----

"$HELPERS/patched" wait 2 >running.out &
running=$!
children+=("$running")
eventually [ -e "/proc/$running/maps" ] && sleep 0.2
"$ISPOT" record --engine in-process -o beside.data -F leaf -p "$running" -d 600 >beside.out 2>&1 &
recorder=$!
children+=("$recorder")
eventually grep -q memfd:ispot "/proc/$running/maps"
if command -v gdb >/dev/null; then
	gdb -p "$running" -batch -ex 'thread apply all bt' >gdb.out 2>&1
	grep -q '^#0' gdb.out && kill -0 "$running"
	ok $? "gdb shows stacks, and the program lives" || diag gdb.out
else
	skip "gdb" "not installed"
fi
if command -v perf >/dev/null && perf record -q -o perf.data -p "$running" -- sleep 0.3 >perf.out 2>&1; then
	kill -0 "$running"
	ok $? "perf samples it, and the program lives"
else
	skip "perf" "not installed, or it may not"
fi
tracefs=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
offset=0x$(nm "$HELPERS/patched" | awk '$3 == "leaf" { print $1 }') # its code is where it is in the file
if [ -n "$tracefs" ] && echo "p:ispotbeside$$/leaf $HELPERS/patched:$offset" >>"$tracefs/uprobe_events"; then
	echo 1 >"$tracefs/events/ispotbeside$$/leaf/enable"
	sleep 0.5
	kill -0 "$running"
	ok $? "another tool's probe on the function's start: the program lives"
	echo 0 >"$tracefs/events/ispotbeside$$/leaf/enable"
	echo "-:ispotbeside$$/leaf" >>"$tracefs/uprobe_events"
else
	skip "another tool's probe" "no tracefs that may be written"
fi 2>/dev/null
kill -INT "$recorder"
wait "$recorder"
is "$?" 0 "the recording ends" || diag beside.out
kill "$running"
wait "$running"
is "$?/$(grep -c '^calls leaf' running.out)" 0/1 "the program ends as it would have"

done_testing
