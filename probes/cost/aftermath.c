/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/cost/aftermath.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "probes/cost/selfcost.h"
#include "probes/kernel/bpfprog.h"
#include "probes/place/probeset.h"
#include "probes/process/child.h"
#include "probes/ring/ringbuf.h"

#define PAIRS	   192 /* of each length */
#define WORDS_MOST (1u << 22)
#define HANGS_NS   10000000000ull

/*
 * The memory of a program, in bytes: up to the first size it counts as little, from the second on
 * as much.
 */
#define LITTLE_BYTES 4e6
#define MUCH_BYTES   64e6

static const uint32_t words_of[AFTERMATH_MEMORIES] = { 1u << 16, WORDS_MOST };

/*
 * How often the work is done in a call and again behind it. First it is not done at all, which
 * gives the cost of an empty call.
 */
static const unsigned lengths[AFTERMATH_POINTS + 1] = { 0, 1, 4, 16 };

struct pair {
	int64_t more_ns; /* extra time of the probed call and the work behind it */
	int64_t work_ns; /* time of the other call and work */
};

struct pairs {
	struct pair of[AFTERMATH_MEMORIES][AFTERMATH_POINTS + 1][PAIRS];
};

struct memory {
	uint32_t *words, mask, at;
	unsigned length;
};

struct state {
	uint32_t *words, mask, at, sum;
};

/* Reads, branches on the value, and may write. 256 of these steps fill some 8 KiB of code. */
static inline __attribute__((always_inline)) void step(struct state *s)
{
	s->at = s->at * 1664525u + 1013904223u;
	if (s->words[(s->at >> 8) & s->mask] & 64)
		s->sum ^= s->at;
	else
		s->words[(s->at >> 9) & s->mask] += s->sum;
}

static inline __attribute__((always_inline)) void four_steps(struct state *s)
{
	step(s);
	step(s);
	step(s);
	step(s);
}

static inline __attribute__((always_inline)) void steps(struct state *s)
{
	four_steps(s);
	four_steps(s);
	four_steps(s);
	four_steps(s);
}

__attribute__((noinline)) static uint32_t work(const struct memory *m, uint32_t at)
{
	struct state s = { m->words, m->mask, at, at };

	steps(&s), steps(&s), steps(&s), steps(&s);
	steps(&s), steps(&s), steps(&s), steps(&s);
	steps(&s), steps(&s), steps(&s), steps(&s);
	steps(&s), steps(&s), steps(&s), steps(&s);
	return s.sum;
}

static void work_often(void *ctx)
{
	struct memory *m = ctx;

	for (unsigned i = 0; i < m->length; i++)
		m->at = work(m, m->at + i);
}

/* Makes a call with work in it and behind it. Returns the time at which that is done. */
static uint64_t call(struct memory *m, void (*function)(void *ctx, void (*work)(void *ctx)))
{
	function(m, work_often);
	work_often(m);
	return clock_now_ns();
}

static void call_in(struct memory *m, struct pair of[AFTERMATH_POINTS + 1][PAIRS])
{
	for (int l = 0; l <= AFTERMATH_POINTS; l++) {
		m->length = lengths[l];
		for (int i = 0; i < PAIRS; i++) {
			uint64_t begin_ns = clock_now_ns(), middle_ns, end_ns;

			middle_ns = call(m, ispot_work_probed);
			end_ns = call(m, ispot_work_not_probed);
			of[l][i] = (struct pair){
				(int64_t)(middle_ns - begin_ns) - (int64_t)(end_ns - middle_ns),
				(int64_t)(end_ns - middle_ns),
			};
		}
	}
}

/* The memory is allocated like a program's own, and thus has pages of the same size. */
static void child(struct pairs *p)
{
	struct memory m = { .words = malloc(WORDS_MOST * sizeof(*m.words)) };

	if (!m.words)
		_exit(1);
	for (uint32_t i = 0; i < WORDS_MOST; i++)
		m.words[i] = i * 2654435761u;
	for (int k = 0; k < AFTERMATH_MEMORIES; k++) {
		m.mask = words_of[k] - 1;
		call_in(&m, p->of[k]);
	}
	_exit(0);
}

static int by_more(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->more_ns < y->more_ns ? -1 : x->more_ns > y->more_ns;
}

static int by_work(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->work_ns < y->work_ns ? -1 : x->work_ns > y->work_ns;
}

static double median_more(struct pair *pairs)
{
	qsort(pairs, PAIRS, sizeof(*pairs), by_more);
	return (double)pairs[PAIRS / 2].more_ns;
}

static double median_work(struct pair *pairs)
{
	qsort(pairs, PAIRS, sizeof(*pairs), by_work);
	return (double)pairs[PAIRS / 2].work_ns;
}

/*
 * Values that were measured on a busy machine may be out of order, so a cost is at least that of
 * shorter work.
 */
static void summarise(struct pairs *p, struct aftermath *a)
{
	for (int k = 0; k < AFTERMATH_MEMORIES; k++) {
		double empty_ns = median_more(p->of[k][0]), least_ns = 0;

		for (int i = 0; i < AFTERMATH_POINTS; i++) {
			double after_ns = median_more(p->of[k][i + 1]) - empty_ns;

			least_ns = after_ns > least_ns ? after_ns : least_ns;
			a->at[k][i].after_ns = least_ns;
			a->at[k][i].work_ns = median_work(p->of[k][i + 1]);
		}
	}
}

static void forget(void *ctx, uint32_t cpu, const void *record)
{
	(void)ctx, (void)cpu, (void)record;
}

/*
 * Reads the rings until the child ends, and ends a child that hangs. Returns whether the child
 * exited with status 0.
 */
static bool forget_until_ended(pid_t pid, struct ringbufs *rings)
{
	uint64_t begin_ns = clock_now_ns();
	int status = -1;

	while (waitpid(pid, &status, WNOHANG) != pid) {
		if (clock_now_ns() - begin_ns > HANGS_NS)
			kill(pid, SIGKILL);
		for (uint32_t i = 0; i < rings->n; i++)
			ringbuf_drain(&rings->rings[i], forget, NULL);
		clock_sleep_ns(2000000);
	}
	for (uint32_t i = 0; i < rings->n; i++)
		ringbuf_drain(&rings->rings[i], forget, NULL);
	return status == 0;
}

static int run(struct probeset *set, struct bpfprog *b, struct ringbufs *rings, struct pairs *p,
	       struct err *err)
{
	int go_fd, ret;
	bool ended;
	pid_t pid = child_fork_held(&go_fd, -1);

	if (!pid)
		child(p);
	if (pid < 0)
		return err_set(err, -errno,
			       "cannot start a process: %s; raise ulimit -u, or end some",
			       strerror(errno));
	ret = set->attached ? probeset_follow(set, pid, false, err)
			    : probeset_open(set, b, pid, err);
	bpfprog_record(b, true);
	if (!ret && !child_go(go_fd))
		ret = -errno;
	close(go_fd);
	ended = forget_until_ended(pid, rings);
	bpfprog_record(b, false);
	return ret ? ret : ended ? 0 : -ECHILD;
}

int aftermath_measure(struct probeset *set, struct bpfprog *b, struct ringbufs *rings,
		      struct aftermath *a, struct err *err)
{
	struct pairs *p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int ret;

	*a = (struct aftermath){ 0 };
	if (p == MAP_FAILED)
		return err_set(err, -errno, "no memory for the calibration: %s; free some",
			       strerror(errno));
	ret = run(set, b, rings, p, err);
	if (!ret)
		summarise(p, a);
	munmap(p, sizeof(*p));
	return ret;
}

static double after_in(const struct aftermath *a, enum aftermath_memory k, double work_ns)
{
	double from_ns = 0, from_after_ns = 0;

	for (int i = 0; i < AFTERMATH_POINTS; i++) {
		double to_ns = a->at[k][i].work_ns, to_after_ns = a->at[k][i].after_ns;

		if (work_ns < to_ns)
			return from_after_ns + (to_after_ns - from_after_ns) * (work_ns - from_ns) /
						       (to_ns - from_ns);
		from_ns = to_ns;
		from_after_ns = to_after_ns;
	}
	return from_after_ns;
}

double aftermath_ns(const struct aftermath *a, double work_ns, double memory_bytes)
{
	double much = log(fmax(memory_bytes, 1) / LITTLE_BYTES) / log(MUCH_BYTES / LITTLE_BYTES);
	double little_ns = after_in(a, AFTERMATH_LITTLE, work_ns);
	double more_ns = after_in(a, AFTERMATH_MUCH, work_ns) - little_ns;

	/*
	 * With much memory, the same time means fewer instructions, and for short work they may
	 * lose less than with little memory. And a program's accesses are never all misses.
	 */
	return little_ns + fmin(fmax(much, 0), 1) * fmax(more_ns, 0);
}
