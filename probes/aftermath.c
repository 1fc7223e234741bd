/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/aftermath.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "probes/bpfprog.h"
#include "probes/child.h"
#include "probes/probeset.h"
#include "probes/ringbuf.h"
#include "probes/selfcost.h"

#define PAIRS	 256 /* of each length */
#define WORDS	 (1u << 16)
#define HANGS_NS 10000000000ull

/* How often the work is done behind a call; first not at all, for what an empty call costs. */
static const unsigned lengths[AFTERMATH_POINTS + 1] = { 0, 1, 8, 32 };

struct pair {
	int64_t more_ns; /* that the probed call and its work took */
	int64_t work_ns; /* of the other */
};

struct pairs {
	struct pair of[AFTERMATH_POINTS + 1][PAIRS];
	uint32_t words[WORDS], at;
};

struct state {
	uint32_t *words, at, sum;
};

/* Reads, branches on what it has read, and may write. 256 of them fill some 8 KiB of code. */
static inline __attribute__((always_inline)) void step(struct state *s)
{
	s->at = s->at * 1664525u + 1013904223u;
	if (s->words[(s->at >> 8) & (WORDS - 1)] & 64)
		s->sum ^= s->at;
	else
		s->words[(s->at >> 9) & (WORDS - 1)] += s->sum;
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

__attribute__((noinline)) static uint32_t work(uint32_t *words, uint32_t at)
{
	struct state s = { words, at, at };

	steps(&s), steps(&s), steps(&s), steps(&s);
	steps(&s), steps(&s), steps(&s), steps(&s);
	steps(&s), steps(&s), steps(&s), steps(&s);
	steps(&s), steps(&s), steps(&s), steps(&s);
	return s.sum;
}

/* A call and what is done behind it, other than behind the last one; when that is done. */
static uint64_t call(struct pairs *p, void (*empty)(int unused), unsigned length)
{
	empty(0);
	for (unsigned i = 0; i < length; i++)
		p->at = work(p->words, p->at + i);
	return clock_now_ns();
}

static void child(struct pairs *p)
{
	for (uint32_t i = 0; i < WORDS; i++)
		p->words[i] = i * 2654435761u;
	for (int l = 0; l <= AFTERMATH_POINTS; l++)
		for (int i = 0; i < PAIRS; i++) {
			uint64_t begin_ns = clock_now_ns(), middle_ns, end_ns;

			middle_ns = call(p, ispot_empty_before_work, lengths[l]);
			end_ns = call(p, ispot_empty_not_probed, lengths[l]);
			p->of[l][i] = (struct pair){
				(int64_t)(middle_ns - begin_ns) - (int64_t)(end_ns - middle_ns),
				(int64_t)(end_ns - middle_ns),
			};
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

/* What is measured on a busy machine may be out of order: longer work never loses less. */
static void summarise(struct pairs *p, struct aftermath *a)
{
	double empty_ns = median_more(p->of[0]), least_ns = 0;

	for (int i = 0; i < AFTERMATH_POINTS; i++) {
		double after_ns = median_more(p->of[i + 1]) - empty_ns;

		least_ns = after_ns > least_ns ? after_ns : least_ns;
		a->at[i].after_ns = least_ns;
		a->at[i].work_ns = median_work(p->of[i + 1]);
	}
}

static void forget(void *ctx, uint32_t cpu, const void *record)
{
	(void)ctx, (void)cpu, (void)record;
}

/* Whether it ended in order. Reads the rings meanwhile; one that hangs is ended. */
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
		return err_set(err, -errno, "cannot start a process: %s", strerror(errno));
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
		return err_set(err, -errno, "no memory for the calibration: %s", strerror(errno));
	ret = run(set, b, rings, p, err);
	if (!ret)
		summarise(p, a);
	munmap(p, sizeof(*p));
	return ret;
}

double aftermath_ns(const struct aftermath *a, double work_ns)
{
	double from_ns = 0, from_after_ns = 0;

	for (int i = 0; i < AFTERMATH_POINTS; i++) {
		double to_ns = a->at[i].work_ns, to_after_ns = a->at[i].after_ns;

		if (work_ns < to_ns)
			return from_after_ns + (to_after_ns - from_after_ns) * (work_ns - from_ns) /
						       (to_ns - from_ns);
		from_ns = to_ns;
		from_after_ns = to_after_ns;
	}
	return from_after_ns;
}
