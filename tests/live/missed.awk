# SPDX-License-Identifier: GPL-3.0-or-later
# missed.awk DUMP SPAWNER-LOG: prints how many of the calls in the spawner's log fall into the times
# in which the probes fired, by threads at least 10 ms old, and how many of them have no entry
# record between their two stamps. Each of these goes to stderr, with what there is behind it.

FNR == 1 { file++ }

# Dump: TIME CPU TID/TGID KIND ...
file == 1 && $4 == "set-on" && !firing { on[windows + 0] = $1; firing = 1 }
file == 1 && $4 == "set-off" && firing { off[windows++] = $1; firing = 0 }
file == 1 && $4 == "entry" {
	split($3, task, "/")
	entry[task[1], made[task[1]]++] = $1
	if ($1 > last)
		last = $1
}
file == 2 && FNR == 1 && firing { off[windows++] = last }

function is_seen(begin, end,    w) {
	for (w = 0; w < windows; w++)
		if (begin >= on[w] && end <= off[w])
			return 1
	return 0
}

# Log: TID BORN BEFORE AFTER, the calls of a thread in order
file == 2 {
	if (!is_seen($3, $4) || $3 - $2 < 10e6)
		next
	calls++
	tid = $1
	k = seen[tid] + 0
	while (k < made[tid] && entry[tid, k] < $3)
		k++
	if (k < made[tid] && entry[tid, k] <= $4)
		k++
	else {
		missing++
		printf "# thread %s, call %d: none from %s to %s; %d more of the thread, the last record %.1f ms behind\n",
			tid, k, $3, $4, made[tid] - k, (last - $4) / 1e6 >"/dev/stderr"
	}
	seen[tid] = k
}

END { print calls + 0, missing + 0 }
