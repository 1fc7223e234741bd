#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A stripped program's functions are found through debuginfod where DEBUGINFOD_URLS names a server:
# here one of this machine's own.
. "$(dirname "$0")/lib.sh"

work=$planted/debuginfod
mkdir "$work"
program=build/microbench/exact
if ! [ -x $program ]; then
	skip "symbols come from debuginfod" "no $program; run make"
	exit
elif ! ldconfig -p | grep -q libdebuginfod.so; then
	skip "symbols come from debuginfod" "no libdebuginfod (Debian: libdebuginfod1)"
	exit
fi
id=$(readelf -n $program | sed -n 's/.*Build ID: //p')
strip -o "$work/stripped" $program
mkdir -p "$work/served/buildid/$id"
objcopy --only-keep-debug $program "$work/served/buildid/$id/debuginfo"

python3 -c '
import functools, http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.log_message("at most %s bytes", self.headers.get("X-DEBUGINFOD-MAXSIZE"))
        super().do_GET()
handler = functools.partial(Handler, directory=sys.argv[1])
server = http.server.HTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, file=open(sys.argv[2], "w"), flush=True)
server.serve_forever()' "$work/served" "$work/port" 2>"$work/log" &
server=$!
trap 'kill $server; rm -rf "$planted"; echo "1..$tests"' EXIT
for _ in $(seq 100); do
	[ -s "$work/port" ] && break
	sleep 0.1
done
check() { # check URLS
	env "DEBUGINFOD_URLS=$1" "DEBUGINFOD_CACHE_PATH=$work/cache" "$ISPOT" check -F outer "$work/stripped"
}
ok "without a server a stripped program has no functions" loud "is stripped" check ""
ok "with one it has" loud outer check "http://127.0.0.1:$(cat "$work/port")"
ok "which were asked for" grep -q "GET /buildid/$id/debuginfo" "$work/log"
ok "and the answer has an end" grep -q "at most 4294967296 bytes" "$work/log"
rm -rf "$work/cache"
export DEBUGINFOD_MAXSIZE=1
ok "or the user's own" loud "is stripped" check "http://127.0.0.1:$(cat "$work/port")"
unset DEBUGINFOD_MAXSIZE
cat >"$work/says.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline, noclone, used, aligned(64))) int outer(int n) { volatile int s = n; return s + 1; }
int main(int argc, char **argv)
{
	const char *bytes = getenv("DEBUGINFOD_MAXSIZE"), *seconds = getenv("DEBUGINFOD_MAXTIME");
	(void)argv;
	printf("%s %s %d\n", bytes ? bytes : "none", seconds ? seconds : "none", outer(argc));
	return 0;
}
EOF
# serve_whole: the symbols of a program that says which limits it has
serve_whole() {
	cc -g -O1 -Wl,--build-id -o "$work/whole" "$work/says.c" 2>"$work/cc.err" &&
		strip -o "$work/says" "$work/whole" &&
		id=$(readelf -n "$work/whole" | sed -n 's/.*Build ID: //p') && mkdir -p "$work/served/buildid/$id" &&
		objcopy --only-keep-debug "$work/whole" "$work/served/buildid/$id/debuginfo"
}
record() { # record: that program
	env "DEBUGINFOD_URLS=http://127.0.0.1:$(cat "$work/port")" "DEBUGINFOD_CACHE_PATH=$work/cache" DEBUGINFOD_MAXTIME=77 \
		"$ISPOT" record -q --engine in-process -o "$work/says.data" -F outer "$work/says"
}
if [ "$(uname -m)" != x86_64 ] || ! serve_whole; then
	skip "a recorded command has no limits that its user has not set" "no program that is patched"
elif ! record >"$work/said" 2>"$work/says.err" && grep -q 'stamps by the TSC' "$work/says.err"; then
	skip "a recorded command has no limits that its user has not set" "no stable TSC here"
else
	ok "a recorded command has no limits that its user has not set" loud "none 77 2" cat "$work/said"
fi
if [ "$(id -u)" = 0 ] && ! grep -q __asan_init "$ISPOT"; then
	: >"$work/log"
	rm -rf "$work/cache"
	chown 65534:65534 "$work/stripped"
	ok "to root, another user's has none" loud "is stripped" check "http://127.0.0.1:$(cat "$work/port")"
	ok "the file of another user is not asked about" silent cat "$work/log"
else
	skip "the file of another user is not asked about" "needs root, and a build without sanitizers"
fi
