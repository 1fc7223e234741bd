/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/threads/behind.h"

#include <stdlib.h>

#include "base/mem.h"

#define LEAST 0.1 /* of the time waited for a lock: less is not told apart */

/* Returns the row, valid until the next call, or NULL if there are too many. */
static struct behind_row *row_of(struct behind *b, uint32_t word, uint32_t at)
{
	uint64_t key = (uint64_t)word << 32 | at;
	uint32_t i = map_get(&b->row_of, key);

	if (i == MAP_NONE) {
		if (b->rows.n >= BEHIND_MAX)
			return NULL;
		map_put(&b->row_of, key, i = (uint32_t)b->rows.n);
		*vec_add(&b->rows) = (struct behind_row){ .word = word, .at = at };
	}
	return &b->rows.data[i];
}

static void add_common(struct behind *b, const struct past_sleep *s, const struct past_sleep *own)
{
	uint64_t from = s->since_ns > own->since_ns ? s->since_ns : own->since_ns;
	uint64_t to = s->woken_ns < own->woken_ns ? s->woken_ns : own->woken_ns;
	struct behind_row *row =
		own->word != BEHIND_ANY && from < to ? row_of(b, s->word, own->word) : NULL;

	if (row)
		row->ns += to - from;
}

void behind_add(struct behind *b, const struct past_sleep *s, const struct past_sleep own[2])
{
	struct behind_row *row = row_of(b, s->word, BEHIND_ANY);
	struct past_sleep held = *s;

	if (!row)
		return;
	row->waited_ns += s->woken_ns - s->since_ns;
	if (row->released_ns > held.since_ns)
		held.since_ns = row->released_ns;
	row->released_ns = held.woken_ns;
	if (held.since_ns >= held.woken_ns)
		return;
	row->ns += held.woken_ns - held.since_ns;
	add_common(b, &held, &own[0]);
	add_common(b, &held, &own[1]);
}

/* ---- at the end ---- */

/* Sums for one futex: how long threads slept there, and where the threads that released them slept
 * meanwhile. */
struct behind_sums {
	uint64_t waited_ns;		   /* by the threads, in all */
	uint64_t all_ns, same_ns, work_ns; /* since the release before; same: they slept there */
};

static bool is_for_work(const struct behind_row *row, const struct behind_word *words)
{
	return row->at != BEHIND_ANY && row->at != row->word && words[row->at].is_work;
}

static void sum_up(const struct behind *b, const struct behind_word *words,
		   struct behind_sums *sums)
{
	vec_for_each (&b->rows, const struct behind_row, row) {
		struct behind_sums *x = &sums[row->word];

		x->waited_ns += row->waited_ns;
		if (row->at == BEHIND_ANY)
			x->all_ns += row->ns;
		else if (row->at == row->word)
			x->same_ns += row->ns;
		else if (is_for_work(row, words))
			x->work_ns += row->ns;
	}
}

/* Returns the part of the time waited for the lock in which its holders waited for work. */
static double part_of_work(const struct behind_sums *x)
{
	double part;

	if (x->all_ns <= x->same_ns)
		return 0;
	part = (double)x->work_ns / (double)(x->all_ns - x->same_ns);
	return part < LEAST ? 0 : part > 1 ? 1 : part;
}

void behind_judge(struct behind *b, struct behind_word *words, size_t n)
{
	struct behind_sums *sums = xcalloc(n + 1, sizeof(*sums));

	sum_up(b, words, sums);
	free(b->given_ns);
	b->given_ns = xcalloc(n + 1, sizeof(*b->given_ns));
	b->n_words = n;
	for (size_t i = 0; i < n; i++)
		words[i].part = words[i].is_lock ? part_of_work(&sums[i]) : 0;
	vec_for_each (&b->rows, const struct behind_row, row)
		if (is_for_work(row, words))
			b->given_ns[words[row->at].twin] +=
				words[row->word].part * (double)sums[row->word].waited_ns *
				(double)row->ns / (double)sums[row->word].work_ns;
	free(sums);
}

double behind_given_ns(const struct behind *b, uint32_t word)
{
	return word < b->n_words ? b->given_ns[word] : 0;
}

void behind_release(struct behind *b)
{
	vec_release(&b->rows);
	map_release(&b->row_of);
	free(b->given_ns);
}
