# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Why calls travel in BPF ring buffers: what a record costs there and in a perf ring (ring_speed.c).

bench_ring() {
	local speed=$ROOT/build/bench/ring_speed
	head_line "A record of 40 bytes from a BPF program to its reader, both rings mapped"
	if [ ! -x "$speed" ] || ! "$speed" >ring.out 2>ring.err; then
		echo "  not measured: $(head -1 ring.err 2>/dev/null || echo "no $speed; run make bench")"
		return
	fi
	row "through a BPF ring buffer" "$(value ring_ns ring.out)" ns
	row "through a perf ring" "$(value perf_ns ring.out)" ns
	row "  the ring buffer's part of that" "$(compute "$(value ring_ns ring.out) / $(value perf_ns ring.out)")" "" "<=" 0.5
}
