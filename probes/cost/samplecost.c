/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/cost/samplecost.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "probes/bpf/wire.h"
#include "probes/cost/interrupted.h"
#include "probes/process/child.h"
#include "probes/ring/ringbuf.h"

#define WALKS_MAX  65536
#define WALKED	   32768 /* bytes: the size of a first-level cache */
#define LINE	   64
#define PASSES	   4 /* in a walk, which takes about a microsecond */
#define MEASURE_NS 40000000ull
#define HANGS_NS   10000000000ull
#define FRAMES	   12  /* of the child's stack, as programs have some */
#define BEHIND	   4   /* walks that a sample slows down, with the one it falls into */
#define DISTURBED  0.1 /* part of the samples in which something else slowed down the walks, too */

struct walks {
	uint64_t n;
	uint64_t at_ns[WALKS_MAX];
};

static uint64_t walk(const volatile uint8_t *memory)
{
	uint64_t sum = 0;

	for (int pass = 0; pass < PASSES; pass++)
		for (size_t i = 0; i < WALKED; i += LINE)
			sum += memory[i];
	return sum;
}

/* Recurses to make real frames: each result is used, so that the compiler keeps the calls. */
__attribute__((noinline)) static uint64_t walk_often(struct walks *w, const uint8_t *memory,
						     int frames)
{
	uint64_t begin_ns = clock_now_ns(), now_ns = begin_ns, sum = 0;

	if (frames)
		return walk_often(w, memory, frames - 1) + 1;
	while (w->n < WALKS_MAX && now_ns - begin_ns < MEASURE_NS) {
		w->at_ns[w->n++] = now_ns;
		sum += walk(memory);
		now_ns = clock_now_ns();
	}
	return sum;
}

static void child(struct walks *w)
{
	static uint8_t memory[WALKED];
	volatile uint64_t sum;

	for (size_t i = 0; i < WALKED; i++)
		memory[i] = (uint8_t)i;
	sum = walk_often(w, memory, FRAMES);
	_exit(sum == 0);
}

struct sampled {
	pid_t child;
	struct {
		VEC(uint64_t)
	} times;
};

static void visit(void *ctx, uint32_t cpu, const void *record)
{
	const struct wire_head *h = record;
	struct sampled *s = ctx;

	(void)cpu;
	if (h->tgid == (uint32_t)s->child && h->head >> WIRE_ID_BITS == WIRE_SAMPLE)
		*vec_add(&s->times) = h->time_ns;
}

static double median_walk(const uint64_t *walks, size_t n)
{
	uint64_t *ns = xcalloc(n, sizeof(*ns)), median;

	for (size_t i = 0; i + 1 < n; i++)
		ns[i] = walks[i + 1] - walks[i];
	qsort(ns, n - 1, sizeof(*ns), vec_by_u64);
	median = ns[(n - 1) / 2];
	free(ns);
	return (double)median;
}

double samplecost_of(const uint64_t *walks, size_t n, uint64_t *samples, size_t n_samples)
{
	uint64_t *cost_ns = xcalloc(n_samples + 1, sizeof(*cost_ns));
	size_t at = 0, met = 0;
	double median, sum = 0;

	if (n <= BEHIND || n_samples < SAMPLECOST_LEAST) {
		free(cost_ns);
		return NAN;
	}
	median = median_walk(walks, n);
	qsort(samples, n_samples, sizeof(*samples), vec_by_u64);
	for (size_t i = 0; i < n_samples; i++) {
		double ns;

		while (at + BEHIND < n && walks[at + 1] <= samples[i])
			at++;
		if (samples[i] < walks[at] || at + BEHIND >= n)
			continue;
		ns = (double)(walks[at + BEHIND] - walks[at]) - BEHIND * median;
		cost_ns[met++] = ns > 0 ? (uint64_t)ns : 0;
	}
	qsort(cost_ns, met, sizeof(*cost_ns), vec_by_u64);
	met = interrupted_from(cost_ns, met);
	met -= (size_t)(DISTURBED * (double)met);
	for (size_t i = 0; i < met; i++)
		sum += (double)cost_ns[i];
	free(cost_ns);
	return met < SAMPLECOST_LEAST / 2 ? NAN : sum / (double)met;
}

/* Reads the rings while the child runs, and ends a child that hangs. */
static void read_until_ended(struct sampled *s, struct ringbufs *rings)
{
	uint64_t begin_ns = clock_now_ns();
	bool ended = false;

	while (!ended) {
		ended = waitpid(s->child, NULL, WNOHANG) == s->child;
		if (!ended && clock_now_ns() - begin_ns > HANGS_NS)
			kill(s->child, SIGKILL);
		for (uint32_t i = 0; i < rings->n; i++)
			ringbuf_drain(&rings->rings[i], visit, s);
		if (!ended)
			clock_sleep_ns(5000000);
	}
}

double samplecost_measure(struct ringbufs *rings, int (*prepare)(void *ctx, pid_t child), void *ctx)
{
	struct walks *w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct sampled s = { 0 };
	double ns = NAN;
	int go_fd;

	if (w == MAP_FAILED)
		return NAN;
	s.child = child_fork_held(&go_fd, -1);
	if (!s.child)
		child(w);
	if (s.child > 0) {
		bool ready = !prepare(ctx, s.child) && child_go(go_fd);

		close(go_fd);
		read_until_ended(&s, rings);
		if (ready)
			ns = samplecost_of(w->at_ns, w->n, s.times.data, s.times.n);
	}
	vec_release(&s.times);
	munmap(w, sizeof(*w));
	return ns;
}
