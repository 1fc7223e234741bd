#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet push and report with two ClickHouse servers: what SQLite says, to the last digit, whatever
# happens to the servers, to the line or to the push.
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/live/clickhouse.sh"
needs_command python3 curl jq cmp
find_clickhouse
if "$ISPOT" fleet push --engine clickhouse://127.0.0.1:1/x x 2>&1 | grep -q "built without libcurl"; then
	skip_all "this ispot was built without libcurl"
fi
unset http_proxy https_proxy
export ISPOT_FLEET_USER=default ISPOT_FLEET_PASSWORD=$CH_PASSWORD
A=18123 B=18124 LINE=18125 # the servers, and a faulty line to B

tls=
if command -v openssl >/dev/null && openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=a -keyout key.pem \
	-out cert.pem -addext subjectAltName=IP:127.0.0.1 >openssl.log 2>&1; then
	tls="<https_port>18443</https_port><openSSL><server><certificateFile>$DIR/cert.pem</certificateFile>
		<privateKeyFile>$DIR/key.pem</privateKeyFile><verificationMode>none</verificationMode>
		<cacheSessions>false</cacheSessions><disableProtocols>sslv2,sslv3</disableProtocols></server></openSSL>"
fi
configure a $A 19000 "$tls"
configure b $B 19001
{ start a && start b; } || skip_all "the server does not start: $(tail -n 2 a/log b/log | head -c 300)"

fleet() { "$ISPOT" fleet "$@"; }
both() { echo "clickhouse://127.0.0.1:$A,127.0.0.1:$B/$1"; }
through() { echo "clickhouse://127.0.0.1:$A,127.0.0.1:$LINE/$1"; }
on_b() { echo "clickhouse://127.0.0.1:${2-$B}/$1"; }

# line FAULT...: a new one
line() {
	[ -z "${line-}" ] || { kill "$line"; wait "$line" 2>/dev/null; }
	python3 "$ROOT/tests/live/faulty.py" $LINE $B "$@" >line.out 2>line.err &
	line=$!
	children+=("$line")
	for _ in $(seq 100); do
		curl -sf http://127.0.0.1:$LINE/ -d '' >/dev/null 2>&1
		[ $? != 7 ] && return
		sleep 0.05
	done
}

# named_data: where a command that is suggested reads the same data, DATA
named_data() { sed -E 's/(fleet report) --(db|engine) [^ ]+/\1 DATA/'; }

# same DATABASE FILE NAME: all that can be reported, of the servers that $of names
of=both
same() {
	local how differ=
	for how in --json --csv "" "--class core --min-samples 5000 --csv" "--bucket 6h --json" "--base $base --top 100"; do
		# shellcheck disable=SC2086 # words
		fleet report --db "$2" $how 2>&1 | named_data >wanted
		# shellcheck disable=SC2086
		fleet report --engine "$($of "$1")" $how 2>&1 | named_data >got
		cmp wanted got >cmp.out 2>&1 || differ="$differ [$how]: $(cat cmp.out) $(head -c 300 got)"
	done
	ok "$([ -z "$differ" ] && echo 0 || echo 1)" "$3" || diag "$differ"
}

fleet simulate -o some --machines 12 --samples 1200000 --seed 4 --applications 14 --interferers 10 >/dev/null
fleet simulate -o three --machines 8 --samples 2400000 --seed 4 --applications 10 --interferers 4 --trio-interferers 6 >/dev/null
mapfile -t named < <(awk -F, '$3 == "trio" { print "--trios"; print $1 }' three/planted.csv)
fleet reduce --db some.db some/*.fleet >/dev/null
fleet reduce --db three.db "${named[@]}" three/*.fleet >/dev/null
base=$(fleet report --db some.db --json | jq -r '[.pairs[] | select(.effect == "negative")][0].base')
is "$(fleet report --db some.db --json | jq '[.pairs[] | select(.effect == "negative")] | length > 3')" true "there is something to report"

# ---- the same answers ----

fleet push --engine "$(both some)" some/*.fleet >push.out 2>&1
is $? 0 "push" || diag push.out
like push.out "1.2M samples in [0-9]+ blocks are new: .* rows .* in [0-9]+ inserts" "what was pushed is said"
same some some.db "two servers say what SQLite says"
on() { ask "$1" "SELECT count() FROM $2.$3"; }
is "$(($(on a some blocks) > 20 && $(on b some blocks) > 20))" 1 "both have a part" || diag "$(on a some blocks) and $(on b some blocks)"

fleet push --engine "$(both some)" some/*.fleet >push.out 2>&1
like push.out "^0 samples in 0 blocks are new" "the same once more is nothing new"
like push.out "had been pushed before and count once" "which is said"
same some some.db "nor counts it"

cp some/machine00001.fleet copy.fleet
head -c 100000 some/machine00002.fleet >cut.fleet
fleet push --engine "$(both pieces)" cut.fleet copy.fleet some/machine00001.fleet >push.out 2>push.err
like push.err "cut.fleet ends inside of a block" "a file that is cut off is said"
mapfile -t back < <(find some -name '*.fleet' | sort -r)
fleet push --engine "$(both pieces)" "${back[@]}" >push.out 2>&1
same pieces some.db "pieces, copies, another order: the same"

fleet push --engine "$(both three)" "${named[@]}" three/*.fleet >push.out 2>&1 || diag push.out
base=$(awk -F, '$3 == "trio" { print $1; exit }' three/planted.csv)
same three three.db "trios"
fleet push --engine "$(both three)" --trios app0001 three/machine00001.fleet >push.out 2>&1
like push.out "whose trios were not kept" "other applications' trios are refused"
base=$(fleet report --db some.db --json | jq -r '[.pairs[] | select(.effect == "negative")][0].base')

# ---- databases ----

mapfile -t files < <(find some -name '*.fleet' | sort)
fleet reduce --db first.db "${files[@]:0:5}" >/dev/null
fleet reduce --db second.db "${files[@]:5}" >/dev/null
fleet push --engine "$(both databases)" first.db second.db >push.out 2>&1
is $? 0 "databases of SQLite are pushed" || diag push.out
like push.out "1.2M samples in [0-9]+ blocks are new: .* rows" "what was pushed is said of them, too"
same databases some.db "the same"
fleet push --engine "$(both databases)" second.db some.db "${files[@]}" first.db >push.out 2>&1
like push.out "^0 samples in 0 blocks are new" "once more, all in one, and their files: nothing is new"
same databases some.db "nor counts"
fleet push --engine "$(both three)" three.db >push.out 2>&1
like push.out "^0 samples in 0 blocks are new" "a database whose files were pushed is nothing new"
fleet push --engine "$(both trios)" three.db >push.out 2>&1 || diag push.out
plain=$base
base=$(awk -F, '$3 == "trio" { print $1; exit }' three/planted.csv)
same trios three.db "trios of a database: which are kept is its own choice"
base=$plain
fleet push --engine "$(both trios)" some.db >push.out 2>&1
is $? 1 "one without trios, to those with them"
like push.out "some.db: it has no trios" "is refused"

fleet push --engine "$(both mixed)" "${files[0]}" >push.out 2>&1
fleet push --engine "$(both mixed)" first.db >push.out 2>&1
is $? 1 "a database of which a file was pushed"
like push.out "^ispot: .*first.db: [0-9]+ blocks of it were pushed before.* push the files" "is refused, and what to do"
fleet push --engine "$(both mixed)" first.db second.db >push.out 2>&1
is $? 1 "of several databases those that can be taken" || diag push.out
like push.out "1 of 2 files cannot be read" "which is said"
fleet push --engine "$(both mixed)" "${files[@]}" >push.out 2>&1
same mixed some.db "are, and with the other's files all is there once"

# A database that lives where it is pushed from, and grows.
fleet push --engine "$(both grows)" first.db >push.out 2>&1
cp first.db growing.db
fleet reduce --db growing.db "${files[@]:5:2}" >/dev/null
fleet push --engine "$(both grows)" growing.db >push.out 2>&1
is $? 0 "one that has grown" || diag push.out
same grows growing.db "counts in the place of what it was"
fleet push --engine "$(both grows)" first.db >push.out 2>&1
like push.out "^0 samples in 0 blocks are new" "what it was is nothing new"
fleet reduce --db growing.db "${files[@]:7}" >/dev/null
fleet push --engine "$(both grows)" growing.db >push.out 2>&1
same grows some.db "and again"

# ---- what goes wrong ----

fleet push --engine "$(both faulty)" some/machine00001.fleet >faulty.out 2>&1
ask b "SYSTEM STOP MERGES" # of the tables that there are, so that what is there twice is seen
line lose double cut busy double lose cut lose
for f in some/*.fleet; do fleet push --engine "$(through faulty)" "$f" >>faulty.out 2>>faulty.err || echo "$f failed" >>faulty.err; done
is "$(paste -sd' ' line.out | cut -c1-38)" "lose double cut busy double lose cut l" "the line was faulty"
unlike faulty.err "failed" "it is pushed all the same"
like faulty.err "does not answer and is asked again" "which is said"
is "$(($(on b faulty rows) > $(on b some rows)))" 1 "some of it is there twice" || diag "$(on b faulty rows) and $(on b some rows) rows"
same faulty some.db "and counts once"
ask b "SYSTEM START MERGES"
ask b "OPTIMIZE TABLE faulty.rows FINAL" && same faulty some.db "nor when the server has put it in order"

line ok ok ok ok "kill=$(cat b/pid)"
for f in some/*.fleet; do fleet push --engine "$(through killed)" "$f" || exit 1; done >killed.out 2>&1 &
push=$!
while ! grep -q kill line.out; do sleep 0.1; done
down b
ok $? "a server is killed in the middle of an insert"
sleep 1
ok "$(kill -0 $push && echo 0 || echo 1)" "the push waits for it"
start b
wait $push
is $? 0 "and goes on when it is there again" || diag killed.out
same killed some.db "nothing is lost, nor counts twice"

stop b
fleet push --engine "$(both stays)" --retry 1s some/*.fleet >stays.out 2>&1
is $? 1 "a server that stays away"
like stays.out "^ispot: .*127.0.0.1:$B: .*run the same again" "is named, and what to do"
fleet report --engine "$(both some)" --retry 1s >stays.out 2>&1
is $? 1 "without it there is no report" || diag stays.out
start b
fleet push --engine "$(both stays)" some/*.fleet >stays.out 2>&1
same stays some.db "the same again, and all is there"

# killed_at_hang ARGS...: a push, as soon as the line hangs
killed_at_hang() {
	"$ISPOT" fleet push "$@" &
	local push=$!
	children+=("$push")
	while ! grep -q hang line.out; do sleep 0.1; done
	kill -9 $push
	wait $push 2>/dev/null
}

# What is not committed by the line in blocks does not count, though its rows are there.
line ok ok hang
killed_at_hang --engine "$(through dead)" some/machine00001.fleet some/machine00002.fleet >dead.out 2>&1
is "$(($(on b dead rows) > 0 && $(on b dead blocks) == 0))" 1 "a push is killed before the blocks are written"
fleet report --engine "$(both dead)" --json >dead.json 2>&1
is "$(jq .fleet.blocks dead.json)" "$(on a dead blocks)" "rows without a block do not count" || diag dead.json
line
fleet push --engine "$(both dead)" some/*.fleet >dead.out 2>&1
same dead some.db "pushed again, all is there"

# The same of a database, of which nothing counts before all of it is there.
of=on_b
line lose double ok ok hang
killed_at_hang --engine "$(on_b half $LINE)" some.db >half.out 2>&1
is "$(($(on b half rows) > 0 && $(on b half blocks) > 0 && $(on b half databases) == 0))" 1 "a push of a database is killed at its end"
fleet report --engine "$(on_b half)" >half.out 2>&1
is $? 1 "nothing of it counts" || diag half.out
fleet push --engine "$(on_b half)" "${files[0]}" >half.out 2>&1
like half.out "^[0-9.]+k samples in [1-9][0-9]* blocks are new" "nor is known"
fleet push --engine "$(on_b half)" "${files[@]}" >half.out 2>&1
same half some.db "its files can be pushed instead"
line cut lose lose busy double lose double
fleet push --engine "$(on_b whole $LINE)" first.db >whole.out 2>&1 || diag whole.out
cp first.db growing.db
fleet reduce --db growing.db "${files[@]:5}" >/dev/null
line lose double cut ok lose double
fleet push --engine "$(on_b whole $LINE)" growing.db >whole.out 2>&1 || diag whole.out
same whole some.db "over a faulty line, twice: all is there once"
of=both

line ok ok garbage
fleet push --engine "$(through liar)" some/*.fleet >liar.out 2>&1
fleet push --engine "$(through liar)" some/*.fleet >liar.out 2>&1
same liar some.db "a line that says done and is not: the same push again"
ask b "INSERT INTO liar.blocks VALUES(1, 2, 0, 'm', '$(ask b "SELECT any(type) FROM liar.blocks" | head -n 1)', 1, 1, 0, 3, 0, 0)"
fleet report --engine "$(both liar)" >liar.out 2>&1
is $? 1 "a block whose rows are not there"
like liar.out "rows of it are lost" "is said"

# ---- from the recorder and from a spool ----

mkdir -m 700 spool
i=0
for file in some/*.fleet; do
	i=$((i + 1))
	cp "$file" "spool/$(printf '%016x-%08d.fleet' $i 0)"
done
fleet collect --engine "$(both spooled)" spool >spooled.out 2>&1
is $? 0 "a spool is collected into servers" || diag spooled.out
same spooled some.db "all of it"
is "$(find spool -name "*.fleet*" | wc -l)" 0 "and is gone"

if [ "$(id -u)" = 0 ] && [ -x "$HELPERS/neighbours" ] &&
	"$ISPOT" record -q -o probe.data -F main -- true >probe.out 2>&1; then
	cp "$HELPERS/neighbours" requests
	fleet record --to "$(both live)" -o live.fleet -F marker:request -- ./requests 2 >live.out 2>live.err
	is $? 0 "record sends to servers" || diag live.err
	fleet reduce --db live.db live.fleet >/dev/null
	same live live.db "what its file has"
	fleet push --engine "$(both live)" live.fleet >live.out 2>&1
	like live.out "had been pushed before and count once" "which counts once"
else
	skip "record sends to servers" "no root, or no probes"
fi

# ---- who may, and how ----

refuses() { # refuses NAME TEXT ARGUMENT...; $wanted: the status, 1
	fleet "${@:3}" >refuse.out 2>&1
	is $? "${wanted-1}" "$1"
	like refuse.out "^ispot: .*$2" "and said" && is "$(grep -vc "^hint: " refuse.out)" 1 "in one line and a hint"
}
wanted=2 refuses "a password in the address" "shows in the list of processes" report --engine clickhouse://u:very-secret@127.0.0.1:$A/some
unlike refuse.out very-secret "which is not repeated"
wanted=2 refuses "no address" "no such address" report --engine "http://127.0.0.1/x"
wanted=2 refuses "a database with a quote" "no such address" report --engine "clickhouse://127.0.0.1:$A/x'y"
refuses "a password for all to read" "the password would go to" report --engine clickhouse://192.0.2.1:8123/some
refuses "one server of two" "name every one, each once" report --engine clickhouse://127.0.0.1:$A/some
refuses "the same server twice" "name every one, each once" report --engine clickhouse://127.0.0.1:$A,localhost:$A/some
refuses "servers in another order" "has shard" push --engine clickhouse://127.0.0.1:$B,127.0.0.1:$A/some copy.fleet
refuses "one server more" "has shard 1 of 2, and not 1 of 3; push into another database" \
	push --engine clickhouse://127.0.0.1:$A,127.0.0.1:$B,127.0.0.1:$A/some copy.fleet
refuses "another bucket" "has bucket_ns" push --engine "$(both some)" --bucket 1m copy.fleet
refuses "a database that is not there" "no fleet in database" report --engine "$(both nowhere)"
ISPOT_FLEET_PASSWORD=wrong refuses "a wrong password" "user or password are not right" report --engine "$(both some)"
printf 'user=default\npassword=%s\n' "$CH_PASSWORD" >credentials
chmod 644 credentials
refuses "a file that others may read" "chmod 600" report --credentials credentials --engine "$(both some)"
chmod 600 credentials
is "$(env -u ISPOT_FLEET_USER -u ISPOT_FLEET_PASSWORD "$ISPOT" fleet report --credentials credentials --engine "$(both some)" --json | md5sum)" \
	"$(fleet report --db some.db --json | md5sum)" "credentials from a file"

if [ -n "$tls" ]; then
	refuses "a certificate that nobody has signed" "certificate" report --engine clickhouse+https://127.0.0.1:18443/some --retry 1s
	fleet push --engine clickhouse+https://127.0.0.1:18443/sealed --ca-file cert.pem some/*.fleet >sealed.out 2>&1
	is $? 0 "one that is trusted" || diag sealed.out
	is "$(fleet report --engine clickhouse+https://127.0.0.1:18443/sealed --ca-file cert.pem --json | md5sum)" \
		"$(fleet report --db some.db --json | md5sum)" "the same over https, on one server"
	refuses "a certificate of another name" "name" report --engine clickhouse+https://localhost:18443/sealed --ca-file cert.pem --retry 1s
else
	skip "https" "openssl cannot make a certificate here"
fi
done_testing
