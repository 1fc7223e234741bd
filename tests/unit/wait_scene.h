/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that sleep and wake each other, in microseconds. */
#ifndef ISPOT_TESTS_WAIT_SCENE_H
#define ISPOT_TESTS_WAIT_SCENE_H

#include "unit.h"
#include "scene.h"

#include "analysis/cause/kind.h"
#include "analysis/threads/wait.h"
#include "analysis/threads/wakeup_chain.h"

enum { SERVE, READ, LOCK };
/* No futex here holds such a number by chance. */
#define TID(i) (100 + (i))

enum { FUTEX_PLAIN = 0x8000, FUTEX_BITSET = 0x8900, FUTEX_END = 0x10900 };

static inline void begin(struct scene *s)
{
	*s = (struct scene){ 0 };
	/* Names that say the opposite of what is done in them. */
	scene_function(s, "serve", 1);
	scene_function(s, "read", 1);
	scene_function(s, "pthread_mutex_lock", 1);
	scene_calibrate(s, 60, 50, 1.0);
	scene_start(s, 0);
	for (uint32_t tid = TID(1); tid <= TID(4); tid++)
		other(s, REC_SWITCH_IN, 1, tid, tid, 0, 0);
}

static inline void sleep_in(struct scene *s, uint64_t us, uint32_t i, uint32_t kind, uint64_t how,
			    uint64_t what, uint64_t value)
{
	const uint64_t values[] = { kind, 1, what, how, value };
	const uint32_t tid = TID(i);
	const struct record r = { .time_ns = us * 1000,
				  .kind = REC_WAIT,
				  .cpu = tid,
				  .tid = tid,
				  .tgid = 1,
				  .n_values = 5,
				  .values = values };

	other(s, REC_SWITCH_OUT, us * 1000, tid, tid, SWITCH_SLEEPING, 0);
	calls_record(&s->calls, &r);
}

/* waker 0: by an interrupt or timer, as how says */
static inline void wake_up(struct scene *s, uint64_t us, uint32_t i, uint32_t waker, uint64_t how)
{
	const uint32_t tid = TID(i);

	other(s, REC_WAKING, us * 1000, 1, waker ? TID(waker) : 0, tid, how);
	other(s, REC_SWITCH_IN, us * 1000, tid, tid, 0, 0);
}

static inline const struct thread *thread(const struct scene *s, uint32_t i)
{
	return threads_alive(&s->calls.threads, TID(i));
}

static inline void about(uint64_t got_ns, double us)
{
	assert_true(fabs((double)got_ns - us * 1000) <= 0.01 * us * 1000 + 1);
}

#endif
