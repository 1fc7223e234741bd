/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/score/judgement.h"

#include <stdlib.h>

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[] = { "interference", "workload",      "noise",
					     "idle",	     "too-few-calls", "cannot-tell" };

	return names[verdict];
}

const char *verdict_words(enum verdict verdict)
{
	static const char *const words[] = { "interference", "more work",     "below noise",
					     "idle",	     "too few calls", "not measurable" };

	return words[verdict];
}

const char *work_by_name(enum work_by by)
{
	static const char *const names[] = { NULL,	     "call-index",   "argument",
					     "instructions", "calls-inside", "undisturbed" };

	return names[by];
}

void causes_release(struct causes *causes)
{
	vec_for_each (causes, struct cause, c) {
		vec_for_each (&c->evidence, char *, e)
			free(*e);
		vec_release(&c->evidence);
	}
	vec_release(causes);
}
