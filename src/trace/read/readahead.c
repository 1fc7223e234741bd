// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/read/readahead.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "trace/read/stream.h"

struct readahead {
	void (*fill)(void *ctx, struct batch *batch);
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned filled, taken; /* batches so far */
	bool ended, stop;
	struct batch batches[READAHEAD_BATCHES];
};

/*
 * Waking a thread takes as long as reading some batches. So a thread that has to wait is woken only
 * when half of the ring is ready for it.
 */
#define HALF (READAHEAD_BATCHES / 2)

/* Returns the batches in use: the filled ones, and the one that the reader has taken last. */
static unsigned used(const struct readahead *a)
{
	return a->filled + 1 - a->taken;
}

/* Waits until a batch is free. Returns false if the reader is being closed. */
static bool wait_for_room(struct readahead *a)
{
	bool go_on;

	pthread_mutex_lock(&a->lock);
	if (used(a) >= READAHEAD_BATCHES)
		while (!a->stop && used(a) > HALF)
			pthread_cond_wait(&a->changed, &a->lock);
	go_on = !a->stop;
	pthread_mutex_unlock(&a->lock);
	return go_on;
}

static void *fill_ahead(void *ahead)
{
	struct readahead *a = ahead;
	bool more = true;

	while (more && wait_for_room(a)) {
		struct batch *b = &a->batches[a->filled % READAHEAD_BATCHES];

		a->fill(a->ctx, b);
		more = b->n > 0;
		pthread_mutex_lock(&a->lock);
		a->filled++;
		a->ended = !more;
		if (a->ended || a->filled - a->taken == HALF)
			pthread_cond_signal(&a->changed);
		pthread_mutex_unlock(&a->lock);
	}
	return NULL;
}

/* Starts the thread with signals blocked, so that the main thread gets them. */
static int start(struct readahead *a)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&a->thread, NULL, fill_ahead, a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ret;
}

struct readahead *readahead_new(void (*fill)(void *ctx, struct batch *batch), void *ctx)
{
	struct readahead *a;
	cpu_set_t cpus;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) < 2)
		return NULL;
	a = xcalloc(1, sizeof(*a));
	a->fill = fill;
	a->ctx = ctx;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	if (start(a)) {
		free(a);
		return NULL;
	}
	return a;
}

struct batch *readahead_next(struct readahead *a)
{
	struct batch *b;

	pthread_mutex_lock(&a->lock);
	if (a->taken == a->filled)
		while (a->filled - a->taken < HALF && !a->ended)
			pthread_cond_wait(&a->changed, &a->lock);
	if (a->taken != a->filled)
		a->taken++;
	b = &a->batches[(a->taken - 1) % READAHEAD_BATCHES];
	if (used(a) == HALF)
		pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return b;
}

void readahead_free(struct readahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	free(a);
}
