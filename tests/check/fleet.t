#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# ispot fleet from samples to report: what was planted is found, nothing is invented, and no block
# counts twice, in whatever order and pieces the files come.
. "$(dirname "$0")/lib.sh"

work=$planted/fleet
mkdir "$work"
cd "$work" || exit 1
fleet() { "$ISPOT" fleet "$@"; }

fleet simulate -o some --machines 12 --samples 2400000 --seed 4 --applications 14 --interferers 10 >/dev/null
fleet simulate -o none --machines 12 --samples 2400000 --seed 5 --applications 14 --interferers 0 >/dev/null
fleet reduce --db some.db some/*.fleet >some.out
fleet reduce --db none.db none/*.fleet >none.out

# score PLANTED DATABASE: precision and recall of the pairs on one core, among those with enough samples
score() {
	fleet report --db "$2" --csv | awk -F, -v planted="$1" '
		BEGIN { while ((getline line < planted) > 0) { split(line, f, ","); truth[f[1] "," f[2]] = 1 } }
		FNR == 1 || $4 == "too-few-samples" { next }
		$4 == "negative" && $3 == "core" { found++; right += ($1 "," $2) in truth }
		$4 == "negative" && $3 != "core" { found++ }
		$3 == "core" && ($1 "," $2) in truth { there++ }
		END { printf "%d found, %d of them planted, of %d\n", found, right, there
			exit !(there >= 5 && right >= 0.95 * found && right >= 0.95 * there) }'
}
recovered() { score some/planted.csv some.db | sed 's/^/# /' && return "${PIPESTATUS[0]}"; }
ok "planted interferers are found, and no others" recovered

# The example of the manual page.
fleet simulate -o made-up >made-up.out
fleet reduce --db made-up.db made-up/*.fleet >made-up.out
all_planted() { score made-up/planted.csv made-up.db | grep "^8 found, 8 of them planted, of 8$"; }
ok "without options there is something to find, and all of it is found" all_planted

# peak COMMAND...: its memory in kB
peak() { python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"; }
if command -v python3 >/dev/null; then
	little=$(peak "$ISPOT" fleet reduce --db peak.db some/machine00001.fleet)
	much=$(peak "$ISPOT" fleet reduce --db peak.db some/*.fleet)
	ok "twelve times the samples take no more memory ($little and $much kB)" test "$((2 * much))" -lt "$((3 * little))"
else
	skip "twelve times the samples take no more memory" "no python3"
fi

invented() { fleet report --db none.db --csv | awk -F, '$4 == "negative" || $4 == "positive"'; }
holds "in a fleet without interferers none is found" invented

fleet simulate -o little --machines 2 --samples 2e4 >/dev/null
fleet reduce --db little.db little/*.fleet >/dev/null
ok "of too few samples nothing is said" loud "Cannot tell which applications slow others: none has 1000000 samples" \
	fleet report --db little.db --min-samples 1000000

# What is no file of samples makes no database, which would say later that it has none.
refused() {
	echo nonsense >nonsense.fleet
	fleet reduce --db never.db "$@" 2>refused.err
	[ $? -eq 1 ] && [ ! -e never.db ]
}
ok "what cannot be read makes no database" refused nonsense.fleet
ok "nor do several such files" refused nonsense.fleet no-such.fleet
ok "of which all are named" grep -q '^ispot: no-such.fleet: No such file' refused.err

# Another indicator of the same applications, by its own database: here the same fleet with fewer interferers.
fleet simulate -o fewer --machines 12 --samples 2400000 --seed 4 --applications 14 --interferers 5 >/dev/null
fleet reduce --db fewer.db fewer/*.fleet >/dev/null
fleet report --db some.db --beside fewer.db --json >beside.json
slowed() { fleet report --db "$1" --json | jq -r '.pairs[] | select(.effect == "negative") | "\(.base) \(.corunner) \(.class)"' | sort; }
both() { diff <(comm -12 <(slowed some.db) <(slowed fewer.db)) <(jq -r '.pairs[] |
	select(.effect == "negative" and .beside.effect == "negative") | "\(.base) \(.corunner) \(.class)"' beside.json | sort) >&2; }
ok "--beside: pairs that both databases have as slowed are matched" both
sums() { jq -e '.beside as $b | [.pairs[] | select(.effect != "too-few-samples" and .beside and
	.beside.effect != "too-few-samples")] as $p | ($p | length) == $b.pairs and $b.slowed_by_both >= 2 and
	([$p[] | select(.effect == "negative" and .beside.effect == "negative")] | length) == $b.slowed_by_both and
	$b.correlation > 0.3 and $b.correlation < 1' beside.json >/dev/null; }
ok "and counted, with their correlation" sums
ok "the screen has both" loud "are slowed by both" fleet report --db some.db --beside fewer.db
same_twice() { [ "$(fleet report --db some.db --beside some.db --json | jq '.beside.correlation > 0.999999')" = true ]; }
ok "a database correlates with itself" same_twice
ok "--beside is not for CSV" loud "leave out --by-phase" fleet report --db some.db --beside fewer.db --csv

# Two of which neither does what both do: the paper's section VI-A.
fleet simulate -o three --machines 24 --samples 7200000 --seed 4 --applications 18 --interferers 6 --trio-interferers 18 >/dev/null
mapfile -t named < <(awk -F, '$3 == "trio" { print "--trios"; print $1 }' three/planted.csv)
fleet reduce --db three.db "${named[@]}" three/*.fleet >three.out
trios() {
	fleet report --db three.db --class trio --csv | awk -F, '
		BEGIN { while ((getline line < "three/planted.csv") > 0) { split(line, f, ",")
			if (f[3] == "trio") { planted++; truth[f[1] "," f[2] "," f[5]] = 1 } } }
		FNR == 1 || $4 == "too-few-samples" { next }
		{ here = ($1 "," $2 "," $15) in truth; tested++ }
		$4 == "negative" || $4 == "positive" { found++; right += here && $4 == "negative" }
		END { printf "%d of %d planted found, %d found, of %d\n", right, planted, found, tested
			exit !(planted == 18 && right == 18 && found == 18 && tested > 1000) }'
}
recovered_trios() { trios | sed 's/^/# /' && return "${PIPESTATUS[0]}"; }
ok "planted trios are found, and no others" recovered_trios
alone() { fleet report --db three.db --json | jq -e '[.trios[] | select(.effect == "negative") |
	.of_one[] | .deviations | fabs < 0.5] | length == 36 and all' >/dev/null; }
ok "what each of the two does alone is said, and is nothing" alone
ok "trios are no pairs" test "$(fleet report --db three.db --json | jq '[.pairs[] | select(.class == "trio")] | length')" = 0
ok "the text names all three" loud "$(awk -F, '$3 == "trio" { print $1 " alongside " $2 " and " $5; exit }' three/planted.csv)" \
	fleet report --db three.db
ok "other applications' trios are refused" loud "whose trios were not kept" \
	fleet reduce --db three.db --trios app0001 three/machine00001.fleet
ok "a database without trios takes none later" loud "whose trios were not kept" \
	fleet reduce --db some.db --trios app0001 some/machine00001.fleet

# rows DATABASE: everything that does not depend on the order in which names came
rows() {
	sqlite3 "$1" "SELECT b.name, c.name, class, t.name, bucket, n, sum, hex(squares), blocks, hex(contrast),
		hex(histogram) FROM rows JOIN apps b ON b.id = base JOIN apps c ON c.id = corunner
		JOIN types t ON t.id = type; SELECT t.name, bucket, kind, number, ns FROM crowds
		JOIN types t ON t.id = type;
		SELECT b.name, c.name, s.name, bucket, n, sum, hex(squares), blocks, hex(contrast), hex(histogram)
		FROM trios JOIN apps b ON b.id = base JOIN apps c ON c.id = corunner JOIN apps s ON s.id = second;
		SELECT recording, sequence, samples, alone FROM blocks" | LC_ALL=C sort
}
same() { cmp <(rows "$1") <(rows "$2"); }

# shadow FILE COPY: another recording, whose blocks' numbers are such that a sum of hashes with the
# recording's is that of FILE's
shadow() {
	python3 - "$@" <<'EOP'
import json, struct, sys, zlib
M = 1 << 64
def mix(x):
    x ^= x >> 32
    x = x * 0xd6e8feb86659fd93 % M
    x ^= x >> 32
    x = x * 0xd6e8feb86659fd93 % M
    return x ^ x >> 32
data = open(sys.argv[1], "rb").read()
n = struct.unpack_from("<I", data, 8)[0]
header = json.loads(data[16:16 + n])
apart = mix(header["id"])
header["id"] = 12345
apart = (apart - mix(12345)) * pow(0x9e3779b97f4a7c15, -1, M) % M
text = json.dumps(header).encode()
out = data[:8] + struct.pack("<II", len(text), zlib.crc32(text)) + text
at = 16 + n
while at < len(data):
    head = list(struct.unpack_from("<IIQQIIII", data, at))
    body = data[at + 40:at + 40 + head[1]]
    at += 40 + head[1]
    head[2] = (head[2] + apart) % M
    packed = struct.pack("<IIQQIII", *head[:7])
    out += packed + struct.pack("<I", zlib.crc32(packed)) + body
open(sys.argv[2], "wb").write(out)
EOP
}

# altered FILE COPY PYTHON: another recording of another machine; PYTHON changes header, apps (bytes by bytes)
# and, of a block's head, start
altered() {
	python3 - "$@" <<'EOP'
import json, struct, sys, zlib
data = open(sys.argv[1], "rb").read()
n = struct.unpack_from("<I", data, 8)[0]
header, apps, at, k = json.loads(data[16:16 + n]), {}, 16 + n, 0
header.update(id=header["id"] ^ 0xabcdef, machine="altered")
blocks = b""
while at < len(data):
    head = list(struct.unpack_from("<IIQQIIII", data, at))
    body = data[at + 40:at + 40 + head[1]]
    at += 40 + head[1]
    start, k = head[3], k + 1
    exec(sys.argv[3])
    for a, b in apps.items():
        body = body.replace(bytes([len(a)]) + a, bytes([len(b)]) + b, 1)
    head[1], head[3], head[6] = len(body), start, zlib.crc32(body)
    packed = struct.pack("<IIQQIII", *head[:7])
    blocks += packed + struct.pack("<I", zlib.crc32(packed)) + body
text = json.dumps(header).encode()
open(sys.argv[2], "wb").write(data[:8] + struct.pack("<II", len(text), zlib.crc32(text)) + text + blocks)
EOP
}
# beside FILE: what is said, and that all its samples count beside those of another machine
counted() { # counted FILE
	rm -f counted.db
	fleet reduce --db counted.db some/machine00002.fleet "$1" >counted.out 2>counted.err || return 1
	test "$(fleet report --db counted.db --json 2>/dev/null | jq '.fleet | .samples == $n and .machines == 2' \
		--argjson n "$(jq -n '$a + $b' --argjson a "$(of some/machine00001.fleet)" --argjson b "$(of some/machine00002.fleet)")")" = true
}
of() { rm -f of.db && fleet reduce --db of.db "$1" >/dev/null && fleet report --db of.db --json | jq .fleet.samples; }
odd() { # odd NAME WHAT-IS-SAID PYTHON
	altered some/machine00001.fleet odd.fleet "$3"
	ok "$1: all counts" counted odd.fleet
	ok "$1: said" loud "$2" cat counted.err
}
if command -v python3 >/dev/null; then
	altered some/machine00001.fleet even.fleet ""
	ok "a machine as others" counted even.fleet
	ok "of which nothing is said" test ! -s counted.err
	odd "a clock that is ahead" "odd.fleet: the clock of altered is ahead of this one's" "start += 10**18"
	odd "a clock that was never set" "odd.fleet: the clock of altered was never set" "start = 10**9 * k"
	odd "a clock that is set back" "odd.fleet: the clock of altered was set back" "start -= k * 10**12"
	altered some/machine00001.fleet odd.fleet 'header["type"] = ""'
	fleet reduce --db typeless.db odd.fleet some/machine00002.fleet >/dev/null 2>typeless.err
	ok "an unknown machine type: said" loud "the machine type of altered is not known" cat typeless.err
	ok "and a type of its own" test "$(fleet report --db typeless.db --type unknown --json | jq -c '.fleet | [.type, .other_types]')" = '["unknown",1]'
	altered some/machine00001.fleet odd.fleet 'header["cpus"] = []'
	fleet reduce --db flat.db odd.fleet >/dev/null 2>flat.err
	ok "a machine whose CPUs are not known: said" loud "class other" cat flat.err
	ok "and all its pairs are of class other" test "$(fleet report --db flat.db --json | jq -c '[.pairs[].class] | unique')" = '["other"]'
	altered some/machine00001.fleet old.fleet 'apps = {b"app0001": b"old@12345678"}'
	altered some/machine00002.fleet new.fleet 'apps = {b"app0001": b"new@12345678"}; header["by"] = "executable"'
	fleet reduce --db renamed.db old.fleet new.fleet >/dev/null 2>&1
	ok "an application renamed: said" loud "are one program, renamed or under two names" fleet report --db renamed.db
	ok "and counts as two" test "$(fleet report --db renamed.db --json 2>/dev/null | jq '[.applications[].name | select(endswith("@12345678"))] | length')" = 2
else
	skip "clocks, types, names" "no python3"
fi

if command -v sqlite3 >/dev/null; then
	fleet reduce --db in-two.db "${named[@]}" three/machine0001*.fleet three/machine0002*.fleet >/dev/null
	fleet reduce --db in-two.db three/*.fleet >/dev/null # whose trios the database knows
	holds "trios in parts, and named once: the same rows" same three.db in-two.db

	# Each machine's rows made on it, and the databases added to each other: any tree of them.
	for f in three/*.fleet; do fleet reduce --db "$(basename "$f" .fleet).db" "${named[@]}" "$f" >/dev/null; done
	tree() { # tree DB...: two by two; prints the one that has all
		local n=0
		while [ $# -gt 1 ]; do
			n=$((n + 1))
			fleet reduce --db tree$n.db "$2" "$1" >/dev/null || return
			set -- "${@:3}" tree$n.db
		done
		echo "$1"
	}
	merged=$(tree machine000*.db)
	holds "databases of single machines, added two by two: the same rows" same three.db "$merged"
	ok "and the same report" test "$(fleet report --db "$merged" --json | md5sum)" = "$(fleet report --db three.db --json | md5sum)"
	fleet reduce --db "$merged" machine00007.db "$merged" >known.out 2>&1
	holds "one that has been added: nothing counts twice" same three.db "$merged"
	ok "and it is said" loud "had been reduced before" cat known.out
	fleet reduce --db part.db "${named[@]}" three/machine00001.fleet >/dev/null
	cp part.db part-before.db
	fleet reduce --db overlap.db "${named[@]}" three/machine0000[12].fleet >/dev/null
	ok "one of which a part is there is refused" loud "cannot be told apart any more" fleet reduce --db part.db overlap.db
	holds "and nothing is added" same part.db part-before.db
	ok "so is one without trios" loud "keeps trios that some.db does not" fleet reduce --db part.db some.db
	holds "and nothing is added of that" same part.db part-before.db
	fleet reduce --db minutes.db --bucket 1m some/machine00001.fleet >/dev/null
	ok "and one of other buckets" loud "has bucket_ns" fleet reduce --db minutes.db some.db
	ok "export takes no database" loud "not a file of fleet samples" fleet export -o x.csv some.db
	cp some.db old.db && sqlite3 old.db "DROP TABLE trios; DROP TABLE trio_bases"
	ok "a database of before there were trios is read" test "$(fleet report --db old.db --json | jq '.trios | length')" = 0
	fleet reduce --db old.db some/*.fleet >/dev/null
	holds "and added to" same some.db old.db

	find some -name '*.fleet' | sort -r | while read -r f; do fleet reduce --db back.db "$f" >/dev/null; done
	holds "files one by one, from the last: the same rows" same some.db back.db

	fleet reduce --db back.db some/*.fleet some/machine00001.fleet >again.out
	holds "the same files once more: nothing counts twice" same some.db back.db
	ok "and it is said" loud "had been reduced before" cat again.out

	head -c 250000 some/machine00003.fleet >cut.fleet
	fleet reduce --db cut.db cut.fleet >/dev/null 2>cut.err
	ok "a file that is cut off is said" loud "cut.fleet ends inside of a block" cat cut.err
	ok "and its whole blocks count" test "$(sqlite3 cut.db 'SELECT count(*) > 0 FROM blocks')" = 1
	fleet reduce --db cut.db some/*.fleet >/dev/null
	holds "the whole file afterwards adds what was missing" same some.db cut.db

	cp some/machine00002.fleet broken.fleet
	printf 'xxxx' | dd of=broken.fleet bs=1 seek=100000 conv=notrunc status=none
	fleet reduce --db broken.db broken.fleet >/dev/null 2>broken.err
	ok "a damaged file is said" loud "broken.fleet is damaged" cat broken.err

	cp some/machine00002.fleet header.fleet
	printf 'xxxx' | dd of=header.fleet bs=1 seek=30 conv=notrunc status=none
	fleet reduce --db rest.db header.fleet some/*.fleet nowhere.fleet >/dev/null 2>rest.err
	ok "of several files some that cannot be read fail" test $? = 1
	ok "which is said of each" loud "header.fleet: its header is damaged" cat rest.err
	ok "and of all" loud "2 of 14 files cannot be read" cat rest.err
	holds "the others count" same some.db rest.db

	if command -v python3 >/dev/null; then
		cp some/machine00001.fleet first.fleet
		shadow first.fleet second.fleet
		fleet reduce --db shadow.db first.fleet second.fleet >/dev/null
		is_twice() { [ "$(sqlite3 shadow.db 'SELECT count(*) = 2 * count(DISTINCT start_ns) FROM blocks')" = 1 ]; }
		ok "a recording whose numbers are chosen hides no other" is_twice
	else
		skip "a recording whose numbers are chosen" "no python3"
	fi

	sqlite3 rest.db "INSERT INTO crowds SELECT type, bucket, kind, 4294967295, 1 FROM crowds LIMIT 1"
	ok "a database with more CPUs than there can be" loud "a row is damaged" fleet report --db rest.db
else
	skip "rows" "no sqlite3"
fi

ok "another bucket in the same database is refused" loud "has bucket_ns" fleet reduce --db some.db --bucket 1m some/machine00001.fleet
ok "no file of samples" loud "not a file of fleet samples" fleet reduce --db x.db some/planted.csv
ok "no database" loud "make it with ispot fleet reduce" fleet report --db nowhere.db
echo text >text.db
ok "another file" loud "not a" fleet report --db text.db
ok "an unknown verb" loud "give record, collect" fleet frob
# option VERB OPTION...: of another verb
option() {
	loud "no option $2" fleet "$@" && { fleet "$@" >/dev/null 2>&1; test $? = 2; }
}
ok "report has no functions" option report -F x
ok "reduce writes no JSON" option reduce --json some/machine00001.fleet
ok "simulate has no duty cycle" option simulate --duty 1s/2s -o x
ok "record has no database" option record --db x.db -F x -p 1
ok "nor before the verb" loud "no option --json" fleet --json reduce some/machine00001.fleet
ok "what cannot be planted is refused" loud "give fewer" fleet simulate -o x --interferers 4294967297
ok "and said where there is room for some" loud "only 14 pairs and 0 trios are planted" \
	fleet simulate -o crowded --machines 1 --samples 1000 --applications 14 --interferers 15
ok "they are in the file" test "$(wc -l <crowded/planted.csv)" = 15

base=$(fleet report --db some.db --json | jq -r '[.pairs[] | select(.effect == "negative")][0].base')
co=$(fleet report --db some.db --json | jq -r '[.pairs[] | select(.effect == "negative")][0].corunner')
ok "what a base gains without a co-runner" loud "without $co it would be" \
	fleet report --db some.db --base "$base" --exclude "$co"
without() { fleet report --db some.db --base "$base" "$@" | grep "it would be"; }
ok "who is left out twice is left out once" test "$(without --exclude "$co" --exclude "$co")" = "$(without --exclude "$co")"
ok "several take a class in which none of their samples are the same" loud "class core and cpu: in others two may be near at once" \
	fleet report --db some.db --base "$base" --class cache --exclude app0001 --exclude app0002
of_one() { fleet report --db some.db --base "$base" --class cache --exclude "$1" --exclude "$1" | grep -q "it would be"; }
ok "one, any class" of_one app0001
ok "of too few samples beside a co-runner no gain is said" loud "too few to say what it would gain" \
	fleet report --db some.db --base "$base" --exclude "$co" --min-samples 1000000
IFS=, read -r three one _ < <(grep ,trio, three/planted.csv)
ok "nor of a trio" loud "$three never ran alongside $one in class trio" fleet report --db three.db --base "$three" --class trio --exclude "$one"
always_beside() { # its samples beside the co-runner are all that there are
	cp some.db always.db && sqlite3 always.db "UPDATE rows SET (n, sum, histogram) = (SELECT a.n, a.sum, a.histogram
		FROM rows a WHERE a.class = 'all' AND a.base = rows.base AND a.type = rows.type AND a.bucket = rows.bucket)
		WHERE class = 'core' AND corunner = (SELECT id FROM apps WHERE name = '$co')"
	fleet report --db always.db --base "$base" --exclude "$co"
}
if command -v sqlite3 >/dev/null; then
	ok "nor of one that is always there" loud "without $co there are none of its samples to say what it would gain" always_beside
else
	skip "one that is always there" "no sqlite3"
fi
ok "a file and servers at once are refused" loud "give one" fleet report --db some.db --engine clickhouse://127.0.0.1:1/x
ok "a page that cannot be written: no option is named that report has not" test "$(fleet report --db some.db --html nowhere/x.html 2>&1)" = \
	$'ispot: fleet: cannot write nowhere/x.html: No such file or directory\nhint: name a file in a directory that can be written'
ok "the text names both" loud " $base alongside $co" fleet report --db some.db
ok "JSON has the share of samples without co-runner" test "$(fleet report --db some.db --json |
	jq '.fleet | .samples_alone / .samples < 0.2 and .machines == 12')" = true
ok "the same seed, the same samples" cmp -s <(fleet simulate -o again --machines 1 --samples 1000 --seed 4 >/dev/null
	cat again/machine00001.fleet) <(fleet simulate -o again2 --machines 1 --samples 1000 --seed 4 >/dev/null
	cat again2/machine00001.fleet)
