#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet report --bucket: what holds in one part of the day is found there and in no other, and is found as well
# where each phase of an application is an application of its own. Needs python3, to move samples in time.
. "$(dirname "$0")/lib.sh"

work=$planted/fleetphases
mkdir "$work"
cd "$work" || exit 1
if ! command -v python3 >/dev/null; then
	skip "relations by time of day" "no python3"
	exit
fi
fleet() { "$ISPOT" fleet "$@"; }

# moved HOUR FILE...: their blocks, from that hour of a day on
moved() {
	python3 - "$@" <<-'EOP'
		import struct, sys, zlib
		for path in sys.argv[2:]:
		    data = bytearray(open(path, "rb").read())
		    at, first = 16 + struct.unpack_from("<I", data, 8)[0], None
		    while at + 40 <= len(data):
		        body, start = struct.unpack_from("<I", data, at + 4)[0], struct.unpack_from("<Q", data, at + 16)[0]
		        first = start if first is None else first
		        struct.pack_into("<Q", data, at + 16, start - first + (480000 + int(sys.argv[1])) * 3600 * 10**9)
		        struct.pack_into("<I", data, at + 36, zlib.crc32(data[at:at + 36]))
		        at += 40 + body
		    open(path, "wb").write(data)
	EOP
}

# By day some slow others; by night nobody does, and every application is faster or slower than by day.
fleet simulate -o day --machines 12 --samples 1200000 --seed 4 --applications 14 --interferers 10 >/dev/null
fleet simulate -o night --machines 12 --samples 1200000 --seed 5 --applications 14 --interferers 0 >/dev/null
moved 7 day/*.fleet
moved 19 night/*.fleet
fleet reduce --db all.db day/*.fleet night/*.fleet >/dev/null
fleet reduce --db day.db day/*.fleet >/dev/null

fleet report --db all.db --bucket 6h --json >all.json
fleet report --db day.db --json >day.json
# negative FILE FILTER: pairs that are slowed
negative() { jq -r "$2 | .pairs[] | select(.effect == \"negative\") | \"\(.base) \(.corunner) \(.class)\"" "$1" | sort; }
found() { [ "$(negative day.json . | wc -l)" -ge 5 ]; }
ok "by day there is something to find" found
at_day() { diff <(negative day.json .) <(negative all.json '.phases[] | select(.phase == "06:00-12:00")') >&2; }
ok "in its part of the day is found what is there without the other" at_day
holds "in the others nothing is found" negative all.json '.phases[] | select(.phase != "06:00-12:00")'
less() { [ "$(negative all.json . | wc -l)" -lt "$(negative day.json . | wc -l)" ]; }
ok "all of the day together hides some of it" less
parts() { jq -e '[.phases[] | [.phase, .from_ns / 3.6e12, .to_ns / 3.6e12, .samples > 0]] ==
	[["00:00-06:00", 0, 6, false], ["06:00-12:00", 6, 12, true], ["12:00-18:00", 12, 18, false],
	["18:00-24:00", 18, 24, true]]' all.json >/dev/null; }
ok "the parts are those of the day" parts
sums() { jq -e '([.phases[].samples] | add) == ([.applications[].samples] | add)' all.json >/dev/null; }
ok "their samples are all samples" sums
none() { [ "$(jq -c .phases day.json)" = "[]" ]; }
ok "without --bucket there are none" none

fleet report --db all.db --bucket 6h --by-phase '*' --json >split.json
own() { diff <(negative day.json . | sed 's/ / 06:00-12:00 /; s/ \([a-z]*\)$/ 06:00-12:00 \1/') <(negative split.json .) >&2; }
ok "with each phase an application of its own it is found, too" own
one=$(jq -r '.applications[0].name' all.json)
fleet report --db all.db --bucket 6h --by-phase "$one" --json >one.json
named() { jq -e --arg one "$one" '([.applications[].name | select(startswith($one))] | sort) ==
	[$one + " 06:00-12:00", $one + " 18:00-24:00"] and ([.applications[].name] | length) == 15' one.json >/dev/null; }
ok "one that is named becomes two, the others stay" named

fleet report --db all.db --bucket 6h >all.text
ok "the screen says what each part of the day has" loud "ALL DAY   00:00   06:00   12:00   18:00" cat all.text
wide() { fleet report --db all.db --bucket 1h | sed -n '/By time of day/,$p' | awk 'length > 80' | grep .; }
holds "24 hours fit on a screen" wide
csv() { [ "$(fleet report --db all.db --bucket 12h --csv | awk -F, 'NR > 1 { print $NF }' | sort -u | tr '\n' ' ')" = \
	" 00:00-12:00 12:00-24:00 " ]; }
ok "CSV has them, too" csv
ok "HTML has them, too" loud "By time of day" fleet report --db all.db --bucket 6h --html -
ok "parts that no day is made of are refused" loud "give 1h, 6h, 12h" fleet report --db all.db --bucket 5h
ok "parts that rows are too long for are refused" loud "the rows are of" fleet report --db all.db --bucket 30m
ok "--by-phase says what it needs" loud "--bucket 6h" fleet report --db all.db --by-phase "$one"
ok "an unknown application is refused" loud "no application xyz" fleet report --db all.db --bucket 6h --by-phase xyz
