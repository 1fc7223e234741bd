/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which part of the waits for a lock passes while its holder waits for work. */
#include "unit.h"

#include "analysis/threads/behind.h"

enum { LOCK, WORK, N_WORDS };

static struct behind_word words[N_WORDS] = { { .is_lock = true, .twin = LOCK },
					     { .is_work = true, .twin = WORK } };

static const struct past_sleep none = { .word = BEHIND_ANY };

static void waits(struct behind *b, uint64_t since_ns, uint64_t woken_ns, struct past_sleep holder)
{
	const struct past_sleep s = { since_ns, woken_ns, LOCK }, own[] = { holder, none };

	behind_add(b, &s, own);
}

static double part(struct behind *b)
{
	behind_judge(b, words, N_WORDS);
	behind_release(b);
	return words[LOCK].part;
}

/* Each holder sleeps for work from when it gets the lock until it releases it. */
static void holders_that_wait_for_work_are_seen(void **state)
{
	struct behind b = { 0 };

	for (uint64_t i = 0; i < 10; i++)
		waits(&b, i * 1000, (i + 4) * 1000,
		      (struct past_sleep){ (i + 3) * 1000, (i + 4) * 1000, WORK });
	assert_true(part(&b) > 0.7);
}

/* A thread that slept for work without the lock takes it as its holder releases it, and releases
 * it at once: the waits were for the holder. */
static void holders_that_waited_before_are_not(void **state)
{
	struct behind b = { 0 };

	for (uint64_t i = 0; i < 10; i++) {
		uint64_t at = i * 10000;

		waits(&b, at, at + 9000, none);
		waits(&b, at + 100, at + 9100, (struct past_sleep){ at, at + 9000, WORK });
	}
	assert_true(part(&b) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_that_wait_for_work_are_seen),
		cmocka_unit_test(holders_that_waited_before_are_not),
	};

	return unit_run(tests);
}
