/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/ends.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/threads/threads.h"

#define MADE_TOGETHER 0.1 /* all in so small a part of the time from the first to the last end */
#define WAITED_LEAST  0.1 /* of the threads' time until the last end: from here on it is much */

bool threads_end_apart(const struct threads *th)
{
	uint64_t first_ns = UINT64_MAX, last_born_ns = 0, last_ns = 0;
	double waited = 0, all;
	bool awaited = false;
	size_t n = 0;

	vec_for_each (&th->all, struct thread *, it) {
		const struct thread *t = *it;

		if (t->tid == t->tgid)
			continue;
		n++;
		first_ns = t->born_ns < first_ns ? t->born_ns : first_ns;
		last_born_ns = t->born_ns > last_born_ns ? t->born_ns : last_born_ns;
		last_ns = t->end_ns > last_ns ? t->end_ns : last_ns;
		awaited |= t->awaited;
	}
	if (n < 2 || !awaited || last_ns <= first_ns)
		return false;
	all = (double)(last_ns - first_ns);
	if ((double)(last_born_ns - first_ns) > MADE_TOGETHER * all)
		return false;
	vec_for_each (&th->all, struct thread *, it)
		if ((*it)->tid != (*it)->tgid)
			waited += (double)(last_ns - (*it)->end_ns);
	return waited > WAITED_LEAST * all * (double)n;
}
