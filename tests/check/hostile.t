#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Small recordings that unpack to very much: memory stays within ISPOT_MEMORY, the command ends
# with one line, and a recording of an ordinary kind is read within the same bound.
. "$(dirname "$0")/lib.sh"

if [ "${ASAN_OPTIONS-}${TSAN_OPTIONS-}" ]; then
	skip "memory" "a sanitizer takes address space without bound"
	exit
fi

# bomb KIND FILE: big: 64 MiB of records for each of 3 CPUs; threads: a thread for every record;
# names: 180 MB of notices
bomb() {
	python3 -S - "$1" "$planted/chunk" <<'EOP' || return
import struct, sys, zlib
kind, path = sys.argv[1:]
def chunk(kind, cpu, n, body):
    head = struct.pack("<IHHIIQQQI", 0x74637369, 1, kind, cpu, n, 1000, 10**12, len(body),
                       zlib.crc32(body))
    return head + struct.pack("<I", zlib.crc32(head)) + body
def varint(v):
    out = bytearray()
    while v >= 128:
        out.append(v & 127 | 128)
        v >>= 7
    out.append(v)
    return bytes(out)
meta = b'{"kind":"session","version":1,"clock":"monotonic"}\n'
meta += b'{"kind":"function","id":0,"symbol":"f","name":"f"}\n'
chunks = [chunk(1, 0, 2, meta)]
if kind == "big":
    body = bytes(64 << 20)
    chunks += [chunk(2, cpu, len(body) // 3, body) for cpu in range(3)]
elif kind == "threads":
    n = 600000
    body = b"".join(varint((i + 1) << 2 | 2) + b"\1\0\2\0" for i in range(n))
    chunks.append(chunk(2, 0, n, body))
else:
    line = b'{"kind":"notice","text":"%s"}\n' % (b"x" * 2000)
    chunks += [chunk(1, 0, 30000, line * 30000)] * 3
for i, c in enumerate(chunks):
    open("%s.%03d" % (path, i), "wb").write(c)
EOP
	zstd -q -1 --no-check -c "$planted"/chunk.* >"$2"
	rm -f "$planted"/chunk.*
}

# ends_within MEMORY FILE COMMAND...: one line says that the memory does not suffice, in time
ends_within() {
	local out status=0
	out=$(ISPOT_MEMORY=$1 timeout 100 "$ISPOT" "${@:3}" -i "$2" 2>&1 >/dev/null) || status=$?
	[ $status = 1 ] && [[ $out == "ispot: out of memory;"* ]] && [ "$(wc -l <<<"$out")" = 1 ] && return
	echo "# status $status: $out"
	return 1
}

for kind in big threads names; do
	bomb $kind "$planted/$kind.data" || echo "# no recording $kind"
	for view in "report --json" "export --format csv -o /dev/null" dump; do
		# A dump keeps no threads.
		[ "$kind $view" = "threads dump" ] && continue
		# shellcheck disable=SC2086 # words
		ok "$kind: $view ends within its memory" ends_within 100M "$planted/$kind.data" $view
	done
done

"$ISPOT" dump --from-text tests/golden/svc.trace -o "$planted/svc.data"
reads() { ISPOT_MEMORY=64M "$ISPOT" report --csv -i "$planted/svc.data" >/dev/null; }
ok "an ordinary recording is read in 64 MiB" reads
no_size() { ISPOT_MEMORY=much "$ISPOT" report -i "$planted/svc.data"; }
ok "ISPOT_MEMORY that is no size is refused" loud "ISPOT_MEMORY=much is no size" no_size

# JSON has escapes of its own, but none for DEL.
sed 's/\("kind":"function".*"name":"\)/\1q\\u007f\\u001b/' tests/golden/svc.trace >"$planted/escapes.trace"
"$ISPOT" dump --from-text "$planted/escapes.trace" -o "$planted/escapes.data"
tame() {
	"$ISPOT" "$@" >"$planted/escapes.out" && grep -q 'q??' "$planted/escapes.out" &&
		! tr -d '\n\t' <"$planted/escapes.out" | LC_ALL=C grep -q '[[:cntrl:]]'
}
ok "names without control characters: report --json" tame report --json -i "$planted/escapes.data"
ok "names without control characters: diff --json" tame diff --json "$planted/escapes.data" "$planted/escapes.data"

# U+009B begins an escape sequence, U+202E turns the direction of writing round: exported text and dumps have them escaped.
sed 's/\("kind":"function".*"name":"\)/\1q\\u009b\\u202e/' tests/golden/svc.trace >"$planted/turned.trace"
"$ISPOT" dump --from-text "$planted/turned.trace" -o "$planted/turned.data"
escaped() {
	"$ISPOT" "$@" -i "$planted/turned.data" >"$planted/turned.out" && grep -q 'u009b' "$planted/turned.out" &&
		! LC_ALL=C grep -qP '\xc2\x9b|\xe2\x80\xae' "$planted/turned.out"
}
ok "names without control characters: export" escaped export --format chrome -o -
ok "names without control characters: dump" escaped dump

# A perf.data that says of itself what is not so: pieces that unpack to very much, and lengths beyond its end.
perf_lies() { # perf_lies KIND FILE
	python3 -S - "$1" "$2" <<'EOP'
import struct, subprocess, sys
kind, path = sys.argv[1:]
def packed(n):
    """Records of 8 bytes, of which nobody knows the kind."""
    return subprocess.run(["zstd", "-q", "-1", "--no-check", "-c"], input=struct.pack("<IHH", 250, 0, 8) * (n // 8),
                          stdout=subprocess.PIPE, check=True).stdout
def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body
HUGE = (1 << 63) - 8
attr = struct.pack("<IIQQQQ", 1, 64, 9, 1000, 1 | 2 | 4, 0).ljust(64, b"\0")
ids, data, features, tail = (0, 0), b"", 0, b""
attrs_bytes = None
if kind == "bombs":  # behind a sound recording, through a pipe
    open(path, "ab").write(record(81, packed(160 << 20)) * 3)
    sys.exit()
if kind == "bomb":
    data = record(81, packed(200 << 20))
elif kind == "piece":
    data = record(83, struct.pack("<Q", HUGE) + packed(1 << 20)[:40])
elif kind == "ids":
    ids = (104, HUGE)
elif kind == "attrs":
    attrs_bytes = HUGE
elif kind == "trace":
    data = record(71, struct.pack("<QQQIIII", HUGE, 0, 0, 0, 0, 0, 0)) * 2
elif kind == "formats":
    data = record(66, struct.pack("<I", 0xffffffff)) * 2
elif kind in ("section", "words", "names"):
    features = {"section": 1 << 3 | 1 << 11 | 1 << 2, "words": 1 << 11, "names": 1 << 12}[kind]
data_at = 104 + len(attr) + 16
body = attr + struct.pack("<QQ", *ids) + data
at = data_at + len(data)
if kind == "section":
    tail = struct.pack("<QQ", 8, HUGE) * 3
elif kind == "words":
    tail = struct.pack("<QQ", at + 16, 12) + struct.pack("<III", 0xffffffff, 0xfffffff0, 7)
elif kind == "names":
    tail = struct.pack("<QQ", at + 16, 16) + struct.pack("<IIII", 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff)
head = b"PERFILE2" + struct.pack("<QQQQQQQQQ", 104, 80, 104, attrs_bytes or 80, data_at, len(data) or 0, 0, 0, features)
open(path, "wb").write(head.ljust(104, b"\0") + body + tail)
EOP
}
# perf_ends KIND: an error with what to do, or a report that says what is wrong; a small file needs little memory
perf_ends() {
	local out status=0
	perf_lies "$1" "$planted/lies.perf" || return
	out=$(ISPOT_MEMORY=350M timeout 100 "$ISPOT" dump --meta -i "$planted/lies.perf" 2>&1) || status=$?
	case $status/$out in
	0/*'"kind":"session"'* | 1/*"hint: "* | "1/ispot: out of memory;"*) return ;;
	esac
	printf '# %s: status %s: %.300s\n' "$1" "$status" "$out"
	return 1
}
for kind in bomb piece ids attrs trace formats section words names; do
	ok "a perf.data that lies ends in order: $kind" perf_ends $kind
done
# What takes time is in proportion to the file.
bombs_end() {
	"$ISPOT" dump -i "$planted/svc.data" | python3 -S tests/check/import.py --pipe >"$planted/bombs.perf"
	perf_lies bombs "$planted/bombs.perf" && "$ISPOT" dump --meta -i "$planted/bombs.perf"
}
ok "small pieces of a perf.data that unpack to very much are left out" loud "cut off or damaged" bombs_end

# What the screens say to run next is pasted: whatever the recording calls its program and functions, a shell takes them
# for words. $code ends quotes that it may stand in.
mkdir -p "$planted/paste/bin"
for tool in ispot perf; do
	printf '#!/bin/sh\necho %s "$@" >>ran\n' $tool >"$planted/paste/bin/$tool"
done
chmod 755 "$planted"/paste/bin/*
code="x';touch owned;touch\${IFS}owned;'\`touch owned\`\$(touch owned);"
# paste: runs what lines from stdin say to run, and fails if there is none, or anything but ispot and perf ran
paste() (
	cd "$planted/paste" || exit
	rm -f ran owned
	# shellcheck disable=SC2016 # the backquotes are the text's
	sed -nE ':a; / \\$/ { N; s/ \\\n */ /; ba }
		s/^Next:  //; s/^ {7}(ispot )/\1/; s/^(ispot .*)/\1/p; s/.*`(ispot [^`]*.*)` (has|lists) .*/\1/p
		s/^hint: .*(perf probe .*)/\1/p; s/^hint: record it with (.*)/ispot record \1/p' >lines
	PATH=$PWD/bin:$PATH bash lines >out 2>&1
	[ -s ran ] && ! [ -e owned ] && return
	sed 's/^/# pasted: /' lines out
	return 1
)
# called TRACE: a recording of that golden trace, in which all names are code
called() {
	sed 's/\("kind":"session".*"command":"\)[^"]*/\1.\/'"$code"' two words/
		s/\("kind":"\(function\|frame\)".*"symbol":"\)/\1'"$code"'/
		s/\("kind":"\(function\|not_traced\)".*"name":"\)/\1'"$code"'/' "tests/golden/$1.trace" >"$planted/paste/$1.trace"
	grep -q '"kind":"session"' "$planted/paste/$1.trace" ||
		sed -i '1a {"kind":"session","version":1,"command":".\/'"$code"' two words","pid":1,"start_ns":0,"clock":"monotonic"}' "$planted/paste/$1.trace"
	"$ISPOT" dump --from-text "$planted/paste/$1.trace" -o "$planted/paste/$code.data"
}
pasted() { # pasted WORDS...: what that view says to run next
	"$ISPOT" "$@" -i "$planted/paste/$code.data" 2>&1 | paste
}
called svc
for view in report "report --by thread" outliers; do
	# shellcheck disable=SC2086 # words
	ok "nothing of a recording is code when pasted: $view" pasted $view
done
ok "nothing of a recording is code when pasted: --slow" pasted report --slow "${code}pthread_mutex_lock"
ok "nothing of a recording is code when pasted: --key" pasted report --key "${code}pthread_mutex_lock@nosuch"
called pool
ok "nothing of a recording is code when pasted: a function to trace" pasted report
called empty
ok "nothing of a recording is code when pasted: the command" pasted report

# A program whose file and function have such names, and a line that a shell would run.
hostile_program() {
	cd "$planted" || return
	echo 'int evil(int n) { return n * 3; } int main(int n, char **v) { return evil(n) == n && v; }' >evil.c
	gcc -O0 -c evil.c -o evil.o && objcopy --redefine-sym evil=$'evil\ntouch owned\n#' evil.o &&
		gcc evil.o -o $'a b\e]0;title\a'
}
check() { (cd "$planted" && "$ISPOT" check "$@" -F 'evil*' $'./a b\e]0;title\a' >check.out 2>&1); }
plain() { check && ! tr -d '\n\t' <"$planted/check.out" | LC_ALL=C grep -q '[[:cntrl:]]'; }
# What is a comment there is still one if a symbol has several lines.
one_line() { check --perf-script && grep -q '^# evil?touch owned?#: ' "$planted/check.out" && ! grep -q '^touch' "$planted/check.out"; }
if (hostile_program) >"$planted/gcc.out" 2>&1; then
	ok "names without control characters: check" plain
	ok "check --perf-script makes no command of a symbol" one_line
else
	skip "names without control characters: check" "no gcc, or no objcopy"
fi
