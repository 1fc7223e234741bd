#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A fleet's database from anybody: it is read in a time that its size bounds, or refused, with the reason.
. "$(dirname "$0")/lib.sh"
if ! command -v python3 >/dev/null; then
	skip "foreign databases" "no python3"
	exit
fi
cd "$planted" || exit 1
"$ISPOT" fleet simulate -o fleet --machines 2 --samples 20000 >/dev/null 2>&1
"$ISPOT" fleet reduce --db sound.db fleet/*.fleet >/dev/null 2>&1

# spoil NAME: a copy of the sound database, spoiled by the SQL on stdin
spoil() {
	cp sound.db "$1.db"
	python3 -c '
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript(sys.stdin.read())
db.commit()' "$1.db"
}

# refuses NAME WORDS: soon, and says so
refuses() {
	local out rc
	out=$(timeout 200 "$ISPOT" fleet report --db "$1.db" 2>&1)
	rc=$?
	[ $rc -eq 1 ] && [[ $out == *"$2"* ]] && return
	printf '# exit %s: %s\n' $rc "$out" >&2
	return 1
}
reads() { timeout 60 "$ISPOT" fleet report --db "$1.db" >/dev/null; }

ok "a sound database is read" reads sound
not_theirs="its tables are not those of a fleet"
spoil view <<<"ALTER TABLE rows RENAME TO r; CREATE VIEW rows AS SELECT * FROM r"
ok "a view of a table's name" refuses view "$not_theirs"
spoil trigger <<<"CREATE TRIGGER t AFTER INSERT ON apps BEGIN DELETE FROM rows; END"
ok "a trigger" refuses trigger "$not_theirs"
spoil index <<<"CREATE INDEX i ON apps(name)"
ok "an index" refuses index "$not_theirs"
spoil more <<<"CREATE TABLE more(x)"
ok "another table" refuses more "$not_theirs"
spoil computed <<<"DROP TABLE meta; CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT AS (key)) WITHOUT ROWID"
ok "a computed column" refuses computed "$not_theirs"
# Each row would be joined with each of them.
spoil twice <<<"ALTER TABLE apps RENAME TO a; CREATE TABLE apps(id INTEGER, name TEXT NOT NULL);
	WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
	INSERT INTO apps SELECT a.id, a.name || i FROM n, a WHERE a.id < 9; DROP TABLE a"
ok "names whose numbers are not one each" refuses twice "$not_theirs"
ok "nor is it written into" loud "$not_theirs" "$ISPOT" fleet reduce --db twice.db fleet/machine00001.fleet

# What the report says to run next is pasted: a name in it is no code, and is not broken.
"$ISPOT" fleet simulate -o many --machines 6 --samples 240000 --seed 4 --applications 8 --interferers 4 >/dev/null 2>&1
"$ISPOT" fleet reduce --db names.db many/*.fleet >/dev/null 2>&1
python3 -c 'import sqlite3, sys; db = sqlite3.connect("names.db"); db.execute(sys.argv[1]); db.commit()' "UPDATE apps SET name = 'x'';touch owned;  ''\`touch owned\`\$(touch owned)' || id"
suggested() {
	local line
	mkdir -p bin && printf '#!/bin/sh\nprintf "%%s\\n" "$@" >ran\n' >bin/ispot && chmod 755 bin/ispot
	# shellcheck disable=SC2016 # the backquotes are the text's
	line=$("$ISPOT" fleet report --db names.db --min-samples 100 | sed -n 's/^`\(.*\)` has its other co-runners\.$/\1/p')
	PATH=$PWD/bin:$PATH bash -c "$line"
	[ "$(head -5 ran | xargs)" = "fleet report --db names.db --base" ] && [[ $(tail -1 ran) == "x';touch owned;  '\`"* ]] && ! [ -e owned ] && return
	printf '# %s\n' "$line" >&2
	return 1
}
ok "a name is no code when what to run next is pasted" suggested

# A journal beside it, as of a transaction that was cut off, which says that it was of several databases and names the
# file that SQLite is to remove when it has played it back.
cp sound.db journal.db
echo precious >precious
python3 - <<'EOP'
import os, struct
raw = open("journal.db", "rb").read()
page = struct.unpack(">H", raw[16:18])[0]
page = 65536 if page == 1 else page
name = os.path.abspath("precious").encode()
magic = bytes.fromhex("d9d505f920a163d7")
with open("journal.db-journal", "wb") as f:
    f.write((magic + struct.pack(">IIIII", 0, 1, len(raw) // page, 512, page)).ljust(512, b"\0"))
    f.write(struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), sum(name)) + magic)
EOP
"$ISPOT" fleet reduce --db journal.db fleet/machine00001.fleet >journal.out 2>&1
ok "a journal does not name what is removed" grep -q precious precious
ok "and why is said" grep -q "a journal is beside it" journal.out

# A tree whose inner page has its one child a hundred times, for each of several levels: SQLite would walk it for ever.
python3 - <<'EOP'
import sqlite3, struct
raw = open("sound.db", "rb").read()
page = struct.unpack(">H", raw[16:18])[0]
page = 65536 if page == 1 else page
db = sqlite3.connect("sound.db")
root = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'crowds'").fetchone()[0]
db.close()
data = bytearray(raw)
pages = len(data) // page
leaf = bytes(data[(root - 1) * page : root * page])
if leaf[0] != 10:  # the leaf page of an index: where it has grown already, its first child
	leaf = bytes(data[(struct.unpack(">I", leaf[8:12])[0] - 1) * page :][:page])
n_cells = struct.unpack(">H", leaf[3:5])[0]
first = struct.unpack(">H", leaf[8:10])[0]
size = leaf[first] + 1  # one byte of payload length: rows of crowds are short
cell = leaf[first : first + size]
def inner(child, fan):
	body = bytearray(page)
	at = page
	cells = []
	for _ in range(fan):
		at -= 4 + len(cell)
		body[at : at + 4 + len(cell)] = struct.pack(">I", child) + cell
		cells.append(at)
	body[0:12] = struct.pack(">BHHHBI", 2, 0, fan, at, 0, child)
	for i, c in enumerate(cells):
		body[12 + 2 * i : 14 + 2 * i] = struct.pack(">H", c)
	return body
fan = (page - 12) // (6 + len(cell))
data += leaf
child = pages + 1
for _ in range(6):
	data += inner(child, fan)
	child += 1
data[(root - 1) * page : root * page] = inner(child, fan)
data[28:32] = struct.pack(">I", len(data) // page)
open("tree.db", "wb").write(data)
EOP
ok "a tree that has one page a thousand times" refuses tree "name another with --db"

# ---- a server whose answer has no end ----

cat >server.py <<'EOP'
import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(8)
print(s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    try:
        c.recv(65536)
        c.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nConnection: close\r\n\r\n")
        while True:
            c.sendall(b"\x01" * 1048576)
    except OSError:
        pass
    c.close()
EOP
python3 server.py >port &
server=$!
for _ in {1..100}; do [ -s port ] || sleep 0.1; done
endless() {
	local out rc
	out=$(timeout 100 "$ISPOT" fleet report --engine "clickhouse://127.0.0.1:$(cat port)/fleet" --retry 1s 2>&1)
	rc=$?
	[ $rc -eq 1 ] && [ "$(grep -c "^ispot: " <<<"$out")" = 1 ] && return
	printf '# exit %s: %s\n' $rc "$out" >&2
	return 1
}
if ldconfig -p | grep -q libcurl.so; then
	ok "an answer without end is refused" endless
else
	skip "an answer without end is refused" "no libcurl"
fi
kill $server

# ---- servers whose answers lie ----

cat >lies.py <<'EOP'
import socket, sys
kind = sys.argv[1]
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(8)
print(s.getsockname()[1], flush=True)
other = socket.socket()
other.bind(("127.0.0.1", 0))
other.listen(8)
ok = b"HTTP/1.1 200 OK\r\n"
begin, again = {
    "headers": (ok, b"X-Y: " + b"z" * 1000 + b"\r\n"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "length": (ok + b"Content-Length: 9223372036854775807\r\n\r\n\x01\x02", b""),
    "chunk": (ok + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n\x01", b""),
    "elsewhere": (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/x\r\nContent-Length: 0\r\n\r\n"
                  % other.getsockname()[1], b""),
    "passwd": (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", b""),
}[kind]
other.setblocking(False)
while True:
    c, _ = s.accept()
    try:
        c.recv(65536)
        c.sendall(begin)
        while again:
            c.sendall(again)
    except OSError:
        pass
    c.close()
    try:
        other.accept()
        open("followed", "w")
    except OSError:
        pass
EOP
# lies KIND: ends with one error, and nothing is followed or shown of what is elsewhere
lies() {
	local out rc lies
	rm -f liesport followed
	python3 lies.py "$1" >liesport &
	lies=$!
	for _ in {1..100}; do [ -s liesport ] || sleep 0.1; done
	out=$(ISPOT_MEMORY=256M timeout 100 "$ISPOT" fleet report --engine "clickhouse://127.0.0.1:$(cat liesport)/fleet" --retry 1s 2>&1)
	rc=$?
	kill $lies
	[ $rc -eq 1 ] && [ "$(grep -c "^ispot: fleet: " <<<"$out")" = 1 ] && ! [ -e followed ] && [[ $out != *root:* ]] && return
	printf '# exit %s: %s\n' $rc "$out" >&2
	return 1
}
for kind in headers continue length chunk elsewhere passwd; do
	if ldconfig -p | grep -q libcurl.so; then
		ok "an answer that lies is an error: $kind" lies $kind
	else
		skip "an answer that lies is an error: $kind" "no libcurl"
	fi
done

# ---- a server that never answers ----

cat >deaf.py <<'EOP'
import socket, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(64)
print(s.getsockname()[1], flush=True)
time.sleep(600)
EOP
python3 deaf.py >deafport &
server=$!
for _ in {1..100}; do [ -s deafport ] || sleep 0.1; done
mkdir -m 700 spool
cp fleet/machine00001.fleet spool/0000000000000001-00000000.fleet
# asked PORT: somebody is connected to it
asked() { grep -q "$(printf ' 0100007F:%04X 0100007F:' "$1")" /proc/net/tcp; }
# Who goes on until a signal comes has signals blocked; the server's whole time would be ten minutes.
ends() {
	local collector rc
	ISPOT_FLEET_USER=me ISPOT_FLEET_PASSWORD=very-secret timeout --signal=KILL 100 "$ISPOT" fleet collect --every 1s --engine "clickhouse://127.0.0.1:$(cat deafport)/x" spool >deaf.out 2>&1 &
	collector=$!
	for _ in {1..300}; do
		if asked "$(cat deafport)"; then break; fi
		sleep 0.1
	done
	tr '\0' '\n' <"/proc/$(pgrep -P $collector)/environ" >deaf.env
	pkill -TERM -P $collector
	wait $collector
	rc=$?
	[ $rc -eq 1 ] && grep -q "had not answered when ispot was to end" deaf.out && [ -s spool/0000000000000001-00000000.fleet ] && return
	printf '# exit %s: %s\n' $rc "$(cat deaf.out)" >&2
	return 1
}
forgets() { grep -q ISPOT_FLEET_USER=me deaf.env && ! grep -q very-secret deaf.env; }
keeps_password() {
	ISPOT_FLEET_USER=me ISPOT_FLEET_PASSWORD=very-secret "$ISPOT" fleet report --engine clickhouse://127.evil.example:1/x 2>&1 |
		grep -q "the password would go to 127.evil.example:1"
}
if ldconfig -p | grep -q libcurl.so; then
	ok "SIGTERM ends waiting for a server that never answers" ends
	ok "its environment has no password" forgets
	ok "a name that begins like an address of this machine gets no password" keeps_password
else
	skip "SIGTERM ends waiting for a server that never answers" "no libcurl"
fi
kill $server
