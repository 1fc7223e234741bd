/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbol/dso/patience.h"

#include "base/clock.h"
#include "base/identity.h"
#include "base/log.h"
#include "base/text.h"
#include "base/vec.h"

#define ANSWER_NS  120000000000ull /* for one answer */
#define ALL_USERS  3		   /* factor for all users together: a user may have many uids */
#define ONE_IN	   4		   /* 1/4 of the time since the first answer */
#define RUN_ONE_IN 8

/* The time spent on the files of one user, or of all users. */
struct patience {
	uid_t uid;
	uint64_t since_ns, waited_ns;
	bool was_late; /* later answers get PATIENCE_LEAST_NS only */
	bool is_told;
};

static struct {
	VEC(struct patience)
} users;
static struct patience everybody;
static struct patience recording;
static enum patience_kind how;
static size_t given_up;
uint64_t patience_user_ns = 8000000000ull;
uint64_t patience_run_ns = 5000000000ull;
uint64_t patience_after_ns = 10000000000ull;

void patience_set(enum patience_kind now)
{
	how = now;
	recording = (struct patience){ .since_ns = clock_now_ns() };
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns what is left of a budget: first_ns, plus a part of the time that has passed since. */
static uint64_t left_ns(const struct patience *p, uint64_t now_ns, uint64_t first_ns, unsigned part)
{
	uint64_t all_ns = first_ns + (now_ns - p->since_ns) / part;

	return all_ns > p->waited_ns ? all_ns - p->waited_ns : 0;
}

/*
 * Returns the limit that a recording sets: its buffers must be drained and its end must not take
 * long.
 */
static uint64_t recording_ns(uint64_t now_ns)
{
	uint64_t end_ns = recording.since_ns + patience_after_ns;

	switch (how) {
	case PATIENCE_RECORDING:
		return least(patience_run_ns,
			     left_ns(&recording, now_ns, patience_run_ns, RUN_ONE_IN));
	case PATIENCE_AFTERWARDS:
		return end_ns > now_ns ? end_ns - now_ns : 0;
	case PATIENCE_FULL:
		break;
	}
	return ANSWER_NS;
}

static struct patience *patience_of(uid_t uid, uint64_t now_ns)
{
	if (!everybody.since_ns)
		everybody.since_ns = now_ns;
	vec_for_each (&users, struct patience, p)
		if (p->uid == uid)
			return p;
	*vec_add(&users) = (struct patience){ .uid = uid, .since_ns = now_ns };
	return vec_last(&users);
}

static bool is_callers(uid_t uid)
{
	static bool looked, there;
	static struct identity caller;

	if (!looked)
		there = identity_of_sudo(&caller);
	looked = true;
	return there && caller.uid == uid;
}

static void report(struct patience *p)
{
	char waited[TEXT_NUMBER];

	if (!p->is_told)
		log_notice("files of user %u take too long to read (%s so far): what else "
			   "they say of symbols and lines is left out",
			   p->uid, text_time(waited, p->waited_ns));
	p->is_told = true;
}

uint64_t patience_deadline_ns(uid_t owner, uint64_t now_ns)
{
	struct patience *p = patience_of(owner, now_ns);
	uint64_t wait_ns = ANSWER_NS;

	if (is_callers(owner))
		return now_ns + wait_ns;
	wait_ns = least(wait_ns, left_ns(p, now_ns, patience_user_ns, ONE_IN));
	wait_ns = least(wait_ns, left_ns(&everybody, now_ns, ALL_USERS * patience_user_ns, ONE_IN));
	wait_ns = least(wait_ns, recording_ns(now_ns));
	if (p->was_late)
		wait_ns = least(wait_ns, PATIENCE_LEAST_NS);
	if (!wait_ns)
		report(p);
	return wait_ns ? now_ns + wait_ns : 0;
}

void patience_waited(uid_t owner, uint64_t since_ns, bool late)
{
	struct patience *p = patience_of(owner, since_ns);
	uint64_t waited_ns = clock_now_ns() - since_ns;

	p->was_late |= late;
	p->waited_ns += waited_ns;
	if (is_callers(owner))
		return;
	everybody.waited_ns += waited_ns;
	recording.waited_ns += waited_ns;
}

void patience_give_up(void)
{
	given_up++;
}

size_t patience_given_up(void)
{
	return given_up;
}
