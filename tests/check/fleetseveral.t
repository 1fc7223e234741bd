#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Several indicators in a file of ispot fleet: each has a report of its own, two are compared, also occurrence by
# occurrence, and files and databases of one indicator stay what they were.
. "$(dirname "$0")/lib.sh"

work=$planted/fleetseveral
mkdir "$work"
cd "$work" || exit 1
fleet() { "$ISPOT" fleet "$@"; }
# report DB OPTION...: as JSON
report() { fleet report --db "$1" --min-samples 100 --json "${@:2}"; }
world='--machines 6 --samples 240000 --seed 4 --applications 8 --interferers 4'
# shellcheck disable=SC2086 # options
fleet simulate -o one $world >/dev/null
# shellcheck disable=SC2086 # options
fleet simulate -o two $world --indicator ipc,llc-misses >/dev/null
fleet reduce --db one.db one/*.fleet >/dev/null
fleet reduce --db two.db two/*.fleet >/dev/null
# field FILE JQ: of what a file says once
field() { tail -c +17 "$1" | head -c "$(($(od -An -tu4 -j8 -N4 "$1")))" | jq -c "$2"; }

ok "a file of one indicator is of version 1" [ "$(field one/machine00001.fleet '[.version, .indicators]')" = '[1,null]' ]
ok "one of two is of version 2, and lists them" [ "$(field two/machine00001.fleet '[.version, .indicator, [.indicators[].name]]')" = \
	'[2,"ipc",["ipc","llc-misses"]]' ]
report one.db >one.json
report two.db >two.json
ok "the first indicator's report is the same as without the second" cmp one.json two.json
ok "the second has its own" [ "$(report two.db --indicator llc-misses | jq -c '.fleet | [.indicator, .higher_is_better, .samples, .blocks]')" = \
	"[\"llc-misses\",false,$(jq .fleet.samples one.json),$(jq .fleet.blocks one.json)]" ]

first() { fleet report --db two.db --min-samples 100 "$@" | head -9; }
ok "worse misses are not called a slowdown" [ "$(first | grep -c ' slows ')$(first --indicator llc-misses | grep -c ' slows \|faster')$(first \
	--indicator llc-misses | grep -c 'has a worse llc-misses')" = 101 ]

# Misses rise where IPC falls, so both slow the same pairs, and in the same blocks.
report two.db --beside llc-misses >beside.json
ok "a pair that both slow is matched in every block of it" [ "$(jq '[.pairs[] | select(.effect == "negative" and .beside.effect == "negative")] |
	length >= 3 and all(.matched.blocks == .blocks and .matched.blocks == .beside.blocks)' beside.json)" = true ]
ok "with the same contrasts" [ "$(jq '[.pairs[] | select(.effect == "negative" and .beside.effect == "negative") |
	(.matched.contrast / .contrast, .matched.beside / .beside.contrast)] | length >= 6 and all(. > 0.99 and . < 1.01)' beside.json)" = true ]
ok "and from block to block one follows the other" [ "$(jq '[.pairs[].matched.correlation |
	select(. != null)] | length > 10 and add / length > 0.3' beside.json)" = true ]
report two.db --indicator llc-misses --beside ipc >turned.json
# as NAME TURN: of each pair what is matched
matched() { jq -c "[.pairs[] | [.base, .corunner, .class, .matched.blocks, .matched.$1, .matched.$2, (.matched.correlation // 0 | . * 1e6 | round)]] | sort" "$3"; }
ok "of few blocks no correlation is told, and none beyond 1" [ "$(jq '[.pairs[].matched | select(.blocks > 0)] |
	any(.blocks < 10) and any(.correlation != null) and all(.correlation == null or (.blocks >= 10 and (.correlation | fabs) <= 1))' beside.json)" = true ]
ok "in the other order it is the same" [ "$(matched contrast beside beside.json)" = "$(matched beside contrast turned.json)" ]
fleet report --db two.db --min-samples 100 --beside llc-misses >beside.out
ok "the screen has a line of the blocks" grep -Eq '^ +-[0-9.]+% +-[0-9.]+% +in [0-9]+ blocks with both(; correlation there -?[01]\.[0-9]+)?$' beside.out

# In parts, through databases, in another order, twice: the same.
files=(two/*.fleet)
fleet reduce --db a.db "${files[0]}" "${files[3]}" >/dev/null
fleet reduce --db b.db "${files[5]}" "${files[4]}" "${files[1]}" "${files[2]}" >/dev/null
fleet reduce --db parts.db b.db a.db >/dev/null
fleet reduce --db parts.db two/*.fleet a.db >/dev/null
ok "reduced in parts and twice it is the same" cmp beside.json <(report parts.db --beside llc-misses)
ok "by the second indicator, too" cmp turned.json <(report parts.db --indicator llc-misses --beside ipc)

# A database that knew one indicator takes files of several.
cp two/machine00002.fleet more.fleet
fleet reduce --db grown.db one/machine00001.fleet >/dev/null
ok "a database of one indicator takes a file of two" fleet reduce --db grown.db more.fleet
ok "and has the second of that file alone" [ "$(report grown.db --indicator llc-misses | jq -c '.fleet.machines')" = 1 ]
ok "beside the first of both" [ "$(report grown.db | jq -c '.fleet.machines')" = 2 ]

# named FIRST SECOND FILE NUMBER: a file whose header has other indicators
named() {
	python3 - "$@" <<-'EOP'
		import json, struct, sys, zlib
		data = open(sys.argv[3], "rb").read()
		n = struct.unpack_from("<I", data, 8)[0]
		header = json.loads(data[16:16 + n])
		header["id"] = int(sys.argv[4])
		for i in (0, 1):
		    header["indicators"][i] = {"name": sys.argv[1 + i], "unit": "1e-6", "higher_is_better": sys.argv[1 + i] == "ipc"}
		header |= {"indicator": sys.argv[1], "higher_is_better": sys.argv[1] == "ipc"}
		text = json.dumps(header).encode()
		sys.stdout.buffer.write(data[:8] + struct.pack("<II", len(text), zlib.crc32(text)) + text + data[16 + n:])
	EOP
}
# typed FILE: the same of a machine of another type
typed() {
	python3 - "$@" <<-'EOP'
		import json, struct, sys, zlib
		data = open(sys.argv[1], "rb").read()
		n = struct.unpack_from("<I", data, 8)[0]
		text = json.dumps(json.loads(data[16:16 + n]) | {"type": "another"}).encode()
		sys.stdout.buffer.write(data[:8] + struct.pack("<II", len(text), zlib.crc32(text)) + text + data[16 + n:])
	EOP
}
# rows DB: how many it has, and blocks
rows() { python3 -c 'import sqlite3, sys; print(*[sqlite3.connect(sys.argv[1]).execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in ("rows", "blocks")])' "$1"; }
if command -v python3 >/dev/null; then
	named llc-misses ipc two/machine00001.fleet 1 >turned.fleet
	named other ipc two/machine00001.fleet 2 >other.fleet
	named other another two/machine00001.fleet 3 >none.fleet
	cp grown.db named.db
	ok "the order in a file may be another" fleet reduce --db named.db turned.fleet
	ok "and others may be in it" fleet reduce --db named.db other.fleet
	ok "of whose first the file has what it had as its second" [ "$(report named.db --indicator other | jq .fleet.machines)" = 1 ]
	ok "but not without the database's first" loud "named.db has indicator ipc, and not other" "$ISPOT" fleet reduce --db named.db none.fleet

	# Most machines have the first indicator alone; the one with the second is of another type.
	typed two/machine00005.fleet >typed.fleet
	fleet reduce --db types.db one/machine0000[1-3].fleet typed.fleet >/dev/null
	ok "without --type a report is of the type that has most of its indicator" [ "$(report types.db --indicator llc-misses |
		jq -c '.fleet | [.type, .other_types, .blocks > 0]')" = '["another",0,true]' ]
	ok "and so is the first's" [ "$(report types.db | jq -c '.fleet | [.type, .other_types]')" = '["simulated-24",1]' ]

	# What is damaged in a database damages no other.
	for damage in "rows of an indicator that is not listed|UPDATE indicator_rows SET indicator = 3" \
		"matches of one|UPDATE matches SET other = 3" \
		"rows of the first among the others'|UPDATE indicator_rows SET indicator = 0" \
		"counts of the first among the others'|UPDATE indicator_blocks SET indicator = 0" \
		"the first once more|UPDATE indicators SET name = 'ipc'"; do
		cp two.db damaged.db
		python3 -c 'import sqlite3, sys; d = sqlite3.connect("damaged.db"); d.execute(sys.argv[1]); d.commit()' "${damage#*|}"
		rm -f into.db
		ok "${damage%|*} are refused" loud "damaged.db: a row is damaged; reduce again" "$ISPOT" fleet reduce --db into.db damaged.db
		ok "and nothing is taken" [ "$(rows into.db)" = "0 0" ]
	done
else
	skip "files with other indicators" "no python3"
fi

ok "an indicator that is not there is said, with those that are" loud "no indicator nothing; name one of ipc, llc-misses" "$ISPOT" fleet report --db two.db --indicator nothing
ok "nor beside" loud "neither an indicator of two.db nor a database; name either" "$ISPOT" fleet report --db two.db --beside nothing
ok "an indicator is not compared with itself" loud "name another indicator" "$ISPOT" fleet report --db two.db --beside ipc
ok "another database still is" [ "$(report two.db --beside one.db | jq -c '[.beside.indicator, (.pairs[0] | has("matched"))]')" = '["ipc",false]' ]
for list in '' 'ipc,' ipc,ipc a,b,c,d,e,f,g,h,i duration; do
	ok "indicators that cannot be measured are refused: '$list'" loud "--indicator" "$ISPOT" fleet record --indicator "$list"
done
ok "and -F without durations" loud "its duration is not among" "$ISPOT" fleet record --indicator ipc -F f -p 1

# A server that says yes to all, and has nothing.
if ! command -v python3 >/dev/null || ! ldconfig -p | grep -q libcurl.so; then
	skip "pushes of one of several" "no python3, or no libcurl"
	exit
fi
python3 "$top/tests/live/yes.py" >port &
server=$!
for _ in {1..100}; do [ -s port ] || sleep 0.1; done
push() { "$ISPOT" fleet push --engine "clickhouse://127.0.0.1:$(cat port)/x" --retry 1s "$@"; }
pushed() { push "$@" 2>>push.err | grep -o '^[^(]* are new'; } # how many samples and blocks
push two/*.fleet >push.out 2>first.err
ok "of several the first is pushed, which is said once" [ "$(grep -c 'only ipc is sent' first.err)" = 1 ]
ok "its samples alone are counted" [ "$(pushed two/*.fleet)" = "$(pushed one/*.fleet)" ]
ok "as are the second's" [ "$(pushed --indicator llc-misses two/*.fleet)" = "$(pushed one/*.fleet)" ]
ok "another than a database's first is not pushed" loud "two.db: of a database only its first indicator, ipc, can be pushed; push the files of it" \
	push --indicator llc-misses two.db
ok "one that a file lacks is said" loud "has no indicator another; leave --indicator out for ipc, or name another" push --indicator another two/*.fleet
kill $server
wait $server 2>/dev/null || true
