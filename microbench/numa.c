/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread per memory node goes through a buffer of its own node, and in one call of two through
 * one of the next node. Where there is one node there is nothing to measure, and it says so.
 */
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common.h"

enum { BLOCK_BYTES = 4 << 20, NODES_MAX = 64, LINE_BYTES = 64, BIND = 2 /* MPOL_BIND */ };

static struct truth walks = { .block = "walk_buffer", .cause = "numa", .verdict = "interference" };
static int nodes[NODES_MAX]; /* those that have memory and a CPU, by number */
static unsigned n_nodes;

TRACED void walk_buffer(unsigned thread, char *buffer)
{
	uint64_t begin = now_ns();

	for (size_t i = 0; i < BLOCK_BYTES; i += LINE_BYTES)
		buffer[i]++;
	truth_call(&walks, thread, begin);
}

/* The first CPU of a node, -1: it has none. */
static int cpu_of_node(int node)
{
	char path[64];
	int cpu = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &cpu) != 1)
		cpu = -1;
	fclose(file);
	return cpu;
}

static char *buffer_on(int node)
{
	unsigned long mask = 1ul << node;
	char *buffer =
		mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (buffer == MAP_FAILED)
		bench_die("mmap");
	if (syscall(SYS_mbind, buffer, BLOCK_BYTES, BIND, &mask, NODES_MAX, 0))
		bench_die("mbind");
	memset(buffer, 1, BLOCK_BYTES);
	return buffer;
}

static void run(struct worker *w)
{
	int home = nodes[w->index % n_nodes], away = nodes[(w->index + 1) % n_nodes];
	char *buffers[] = { buffer_on(home), buffer_on(away) };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu_of_node(home), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		bench_die("sched_setaffinity");
	for (uint64_t i = 0; i < w->calls; i++)
		walk_buffer(w->index, buffers[i % 2]);
	munmap(buffers[0], BLOCK_BYTES);
	munmap(buffers[1], BLOCK_BYTES);
}

int main(int argc, char **argv)
{
	struct bench_options o = { .name = "numa",
				   .what = "Memory of the own node and of another.",
				   .threads = 2,
				   .iterations = 1009,
				   .seed = 1 };

	bench_parse(&o, argc, argv);
	for (int node = 0; node < NODES_MAX; node++)
		if (cpu_of_node(node) >= 0)
			nodes[n_nodes++] = node;
	if (n_nodes < 2) {
		printf("one memory node here: nothing to measure\n");
		return 0;
	}
	workers_run(&o, run);
	truth_print(&walks);
	return 0;
}
