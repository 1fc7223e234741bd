# SPDX-License-Identifier: GPL-3.0-or-later
# owners.awk DUMP TIMEHIST: how long threads of the dump were ready to run without a CPU by `perf sched
# timehist --state` of the same time, and who had the CPU meanwhile that each of them got: a line
# "ready NS program NS other NS idle NS". A stretch behind a wakeup is perf's "sch delay"; behind a
# preemption it is the "wait time".

FNR == 1 { file++ }

file == 1 && $4 ~ /^switch-/ {
	split($3, task, "/")
	mine[task[1]] = 1
	if (!first)
		first = $1
	last = $1
}

function tid_of(name,    n, part) {
	if (name ~ /^<idle>/)
		return 0
	n = split(name, part, "[")
	split(part[n], task, /[\/\]]/)
	return task[1]
}

# Who ran on that CPU between the two times, by the runs so far: the latest come last.
function own(cpu, from, to,    i, begin, end, tid) {
	for (i = runs[cpu]; i > 0 && ends[cpu, i] > from; i--) {
		begin = ends[cpu, i] - ran[cpu, i]
		begin = begin > from ? begin : from
		end = ends[cpu, i] < to ? ends[cpu, i] : to
		if (end <= begin)
			continue
		tid = who[cpu, i]
		owner[!tid ? "idle" : tid in mine ? "program" : "other"] += end - begin
	}
}

# TIME CPU NAME... WAIT DELAY RUN STATE, in seconds and milliseconds
file == 2 && $2 ~ /^\[[0-9]+\]$/ {
	is_state = $NF !~ /\./
	f = NF - is_state
	time = $1 * 1e9
	name = $3
	for (i = 4; i < f - 2; i++)
		name = name " " $i
	tid = tid_of(name)
	begin = time - $f * 1e6
	ready = $(f - 1) * 1e6
	if (!ready && state[tid] == "R")
		ready = $(f - 2) * 1e6
	if (tid in mine && begin > first && begin <= last) {
		sum += ready
		own($2, begin - ready, begin)
	}
	state[tid] = is_state ? $NF : ""
	runs[$2]++
	ends[$2, runs[$2]] = time
	ran[$2, runs[$2]] = $f * 1e6
	who[$2, runs[$2]] = tid
}

END { printf "ready %.0f program %.0f other %.0f idle %.0f\n", sum, owner["program"], owner["other"], owner["idle"] }
