# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What an unsampled call would cost with uprobe sessions (kernel >= 6.13), beside two probes.

bench_session() {
	local class way
	head_line "A call that is not sampled: two probes, and a session that wants one return in 100"
	if [ "$(uname -m)" != x86_64 ] ||
		! gcc -O2 -o session "$ROOT/tests/bench/uprobe_session.c" 2>session.err ||
		! ./session >session.out 2>session.err; then
		echo "  not measured: $(head -1 session.err)"
		return
	fi
	for class in nop5 push; do
		for way in alone entry both session; do
			row "$class: $way" "$(value ${class}_$way session.out)" ns
		done
		row "$class: of both, a session costs" "$(compute "($(value ${class}_session session.out) - \
			$(value ${class}_alone session.out)) / ($(value ${class}_both session.out) - \
			$(value ${class}_alone session.out))")" ""
	done
}
