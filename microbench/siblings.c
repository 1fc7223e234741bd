/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads compute on the two hyperthreads of one core, which has its units once. Now and then
 * one of them pauses (a barrier keeps the phases apart), which gives the fast calls that the rest
 * is compared with. Where no core has two there is nothing to measure, and it says so.
 */
#include "common.h"

enum { ALONE_ONE_IN = 4, STEPS = 20000, PHASES = 40 };

static pthread_barrier_t phase_gate;
static struct truth computed = { .block = "fill_units", .cause = "frequency-smt" };
static int cpus[2];

/* Products that do not wait for each other: alone, a thread keeps the core's units busy. */
TRACED void fill_units(unsigned thread)
{
	uint64_t begin = now_ns(), a = begin, b = a + 1, c = a + 2, d = a + 3;

	for (int i = 0; i < STEPS; i++) {
		a = a * 6364136223846793005u + 1;
		b = b * 6364136223846793005u + 1;
		c = c * 6364136223846793005u + 1;
		d = d * 6364136223846793005u + 1;
	}
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
	truth_call(&computed, thread, begin);
}

/* "0,4" or "0-1"; false: the CPU is not there, or alone on its core, or not for this program. */
static bool siblings_of(int cpu, const cpu_set_t *allowed)
{
	char path[96], between;
	bool are_two;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		 cpu);
	file = fopen(path, "re");
	if (!file)
		return false;
	are_two = fscanf(file, "%d%c%d", &cpus[0], &between, &cpus[1]) == 3;
	fclose(file);
	return are_two && CPU_ISSET(cpus[0], allowed) && CPU_ISSET(cpus[1], allowed);
}

static void run(struct worker *w)
{
	uint64_t done = 0;
	cpu_set_t own;

	CPU_ZERO(&own);
	CPU_SET(cpus[w->index % 2], &own);
	if (sched_setaffinity(0, sizeof(own), &own))
		bench_die("sched_setaffinity");
	for (unsigned phase = 0; phase < PHASES; phase++) {
		uint64_t until = w->calls * (phase + 1) / PHASES;

		pthread_barrier_wait(&phase_gate);
		if (phase % ALONE_ONE_IN == 0 && w->index == 0)
			for (; done < until; done++)
				fill_units(w->index);
		pthread_barrier_wait(&phase_gate);
		for (; done < until; done++)
			fill_units(w->index);
	}
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "siblings",
				   .what = "Two threads compute on the hyperthreads of one core.",
				   .threads = 2,
				   .iterations = 8009,
				   .seed = 1 };
	bool found = false;
	cpu_set_t allowed;

	bench_parse(&o, argc, argv);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		bench_die("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE && !found; cpu++)
		found = siblings_of(cpu, &allowed);
	if (!found) {
		printf("no core with two hyperthreads here: nothing to measure\n");
		return 0;
	}
	pthread_barrier_init(&phase_gate, NULL, (unsigned)o.threads);
	workers_run(&o, run);
	truth_print(&computed);
	return 0;
}
