// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/threadrow.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "probes/inject/injection.h"
#include "probes/inject/machine/threadtable.h"
#include "probes/inject/tracee.h"

/* glibc has what it knows of a thread in so many bytes below the thread's base. */
#define BELOW 4096u
#define PAGE  4096u

/* Returns the address of the only word below the base that is the thread's number, or 0. */
static uint64_t tid_address(const struct tracees *t, uint64_t base, pid_t tid)
{
	uint32_t words[BELOW / sizeof(uint32_t)];
	uint64_t start = base - BELOW, found = 0;
	size_t n;

	if (tracees_read(t, start, words, BELOW)) /* there may be another thread's guard page */
		start = (base - 1) & ~(uint64_t)(PAGE - 1);
	n = (size_t)(base - start) / sizeof(*words);
	if (n > BELOW / sizeof(*words) || tracees_read(t, start, words, n * sizeof(*words)))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (words[i] != (uint32_t)tid)
			continue;
		if (found)
			return 0;
		found = start + i * sizeof(*words);
	}
	return found;
}

int threadrow_write(const struct injection *in, const struct tracees *t, const struct tracee *e,
		    uint64_t key, uint64_t block)
{
	const struct threadtable_row row = { .key = key,
					     .block = block,
					     .tid_at = tid_address(t, key, e->tid),
					     .tid = (uint32_t)e->tid };
	const uint32_t home = threadtable_home(key);

	if (!row.tid_at)
		return -ENOENT;
	for (uint32_t i = 0; i < THREADTABLE_STEPS; i++) {
		const uint32_t at = (home + i) & ((1u << THREADTABLE_BITS) - 1);
		const uint64_t address = in->table + at * sizeof(row);
		uint64_t there;
		int ret = tracees_read(t, address, &there, sizeof(there));

		if (ret)
			return ret;
		if (!there)
			return tracees_write(t, address, &row, sizeof(row));
	}
	return -ENOENT;
}

uint64_t threadrow_tid_below(const struct tracees *t)
{
	uint64_t below = 0;

	vec_for_each (&t->threads, const struct tracee, e) {
		const uint64_t base = e->gone ? 0 : tracee_key(t, e);
		const uint64_t at = base ? tid_address(t, base, e->tid) : 0;

		if (at && below && base - at != below)
			return 0;
		below = at ? base - at : below;
	}
	return below;
}
