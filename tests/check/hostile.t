#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Small recordings that unpack to very much: memory stays within ISPOT_MEMORY, the command ends
# with one line, and a recording of an ordinary kind is read within the same bound.
. "$(dirname "$0")/lib.sh"

if [ "${ASAN_OPTIONS-}${TSAN_OPTIONS-}" ]; then
	skip "memory" "a sanitizer takes address space without bound"
	exit
fi

# bomb KIND FILE: big: 64 MiB of records for each of 64 CPUs; threads: a thread for every record;
# names: functions without end
bomb() {
	python3 - "$1" "$planted/chunk" <<'EOP' || return
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
    chunks += [chunk(2, cpu, len(body) // 3, body) for cpu in range(8)]
elif kind == "threads":
    n = 1500000
    body = b"".join(varint((i + 1) << 2 | 2) + b"\1\0\2\0" for i in range(n))
    chunks.append(chunk(2, 0, n, body))
else:
    line = b'{"kind":"notice","text":"%s"}\n' % (b"x" * 2000)
    chunks += [chunk(1, 0, 30000, line * 30000) for _ in range(8)]
for i, c in enumerate(chunks):
    open("%s.%03d" % (path, i), "wb").write(c)
EOP
	: >"$2"
	for chunk in "$planted"/chunk.*; do
		zstd -q -3 --no-check -c "$chunk" >>"$2"
	done
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
