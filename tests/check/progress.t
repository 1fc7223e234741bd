#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Commands that read a recording for longer than a second say how far they are, on a terminal only.
# They are stopped for that long, so that it does not matter how fast the machine is.
. "$(dirname "$0")/lib.sh"
speed=build/bench/trace_speed
big=$planted/big.data
[ -x $speed ] || make -s $speed >/dev/null 2>&1
if ! command -v python3 >/dev/null || ! $speed -n 2 -w -o "$big" >/dev/null 2>&1; then
	skip "progress" "python3 or $speed is missing"
	exit
fi

# Lines NUMBER HOW ARGS...: all at once, each in a terminal of its own (HOW on, and off: its errors go
# to a file). Writes what is wrong with what NUMBER drew into $planted/NUMBER.
cat >"$planted/shown.py" <<-'EOP'
	import os, pty, re, select, signal, subprocess, sys, threading, time
	ispot, big, planted = sys.argv[1:]
	def opened(p):
	    try:
	        return any(os.readlink(f"/proc/{p.pid}/fd/{fd}") == os.path.realpath(big)
	                   for fd in os.listdir(f"/proc/{p.pid}/fd"))
	    except OSError:
	        return False
	def drawn_by(how, args):
	    master, slave = pty.openpty()
	    read, write = os.pipe()
	    p = subprocess.Popen([ispot] + args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
	                         stderr=slave if how == "on" else write)
	    os.close(slave), os.close(write)
	    # The reading is before it once it has opened the file.
	    while p.poll() is None and not opened(p):
	        time.sleep(0.001)
	    p.send_signal(signal.SIGSTOP)
	    time.sleep(1.2)
	    p.send_signal(signal.SIGCONT)
	    drawn = b""
	    while True:
	        try:
	            more = os.read(master if how == "on" else read, 65536)
	        except OSError: # of a terminal that nobody has any more
	            more = b""
	        if not more:
	            return drawn, p.wait()
	        drawn += more
	def wrong(how, args):
	    drawn, status = drawn_by(how, args)
	    line = re.search(rb"\r[a-z ]+: [0-9]+%\x1b\[K", drawn)
	    if status:
	        return f"exit status {status}: {drawn}"
	    if how == "on" and not line:
	        return f"no progress: {drawn}"
	    if how == "on" and not re.search(rb"\r\x1b\[K", drawn[line.end():]):
	        return f"the line stays: {drawn}"
	    if how == "off" and b"\r" in drawn:
	        return f"progress where none is wanted: {drawn}"
	    return ""
	def judge(number, how, *args):
	    with open(f"{planted}/{number}", "w") as f:
	        f.write(wrong(how, list(args)))
	threads = [threading.Thread(target=judge, args=line.split()) for line in sys.stdin]
	for t in threads:
	    t.start()
	for t in threads:
	    t.join()
EOP

cases=(
	"on report -i $big"
	"on report --by sequence -i $big"
	"on report --html $planted/page.html -i $big"
	"on report --slow f0 -i $big"
	"on report --baseline $big -i $big"
	"on diff $big -- $big"
	"on outliers -i $big"
	"on imbalance -i $big"
	"on dump -i $big"
)
for format in chrome csv folded perf pprof speedscope; do
	cases+=("on export --format $format -i $big -o $planted/out.$format")
done
cases+=("off report -i $big" "off export --format csv -i $big -o $planted/out")
for i in "${!cases[@]}"; do echo "$i ${cases[i]}"; done |
	python3 "$planted/shown.py" "$ISPOT" "$big" "$planted"
for i in "${!cases[@]}"; do
	ok "progress ${cases[i]//"$planted/"/}" silent cat "$planted/$i"
done
