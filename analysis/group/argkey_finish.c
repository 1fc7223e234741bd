/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of argkey.c: which functions are shown by their keys, when all that these lose is known. */
#include <stdlib.h>

#include "analysis/group/argkey.h"
#include "base/mem.h"
#include "trace/meta/meta.h"

#define KEYS_FEW 4

/* What the keys of a function lose. */
struct key_losses {
	double most, sum;
	bool judged; /* the verdict on one of them is interference */
	bool shared; /* ... on one that several threads use */
};

/*
 * Each thread waits at a place of its own, as in a queue whose waiters have a condition variable
 * each: such a place is no more than another name of the thread.
 */
static bool are_threads_own(const struct argkey_function *f, const struct block *whole,
			    const struct key_losses *keys)
{
	return f->n == 1 && f->by[0]->class == ARGUMENT_ADDRESS && !keys->shared &&
	       block_counts(whole);
}

/*
 * Many keys of which none stands out say nothing that the function as a whole does not, and keys
 * that cannot be judged say less; unless it is the whole of which nothing can be said.
 */
static bool none_stands_out(const struct block *whole, const struct key_losses *keys, uint32_t n)
{
	if (block_counts(whole) && !keys->judged && keys->sum >= block_suspect_threads(whole) / 2)
		return true;
	return n > KEYS_FEW && keys->most < block_suspect_threads(whole) / 2 &&
	       (block_counts(whole) || !keys->judged);
}

static void mark_alike(const struct argkeys *a, const struct keyed *k, struct block *const *of,
		       struct blocks *groups, const uint32_t *n_groups)
{
	struct key_losses *keys = xcalloc(a->meta->functions.n + 1, sizeof(*keys));

	vec_for_each (groups, const struct block, g) {
		struct key_losses *f = &keys[k->groups.data[g->id].function];

		double suspect = block_suspect_threads(g);

		if (suspect > f->most)
			f->most = suspect;
		if (suspect > 0)
			f->sum += suspect;
		f->judged |= block_counts(g);
		f->shared |= g->threads > 1 && block_counts(g);
	}
	for (uint32_t id = 0; id < a->meta->functions.n; id++)
		if (of[id] && of[id]->split && !a->functions[id].asked)
			of[id]->alike = none_stands_out(of[id], &keys[id], n_groups[id]) ||
					are_threads_own(&a->functions[id], of[id], &keys[id]);
	vec_for_each (groups, struct block, g) {
		const struct block *whole = of[k->groups.data[g->id].function];

		g->alike = whole && whole->alike;
		g->asked = whole && a->functions[whole->id].asked;
	}
	free(keys);
}

void argkeys_finish(const struct argkeys *a, const struct keyed *k, struct blocks *functions,
		    struct blocks *groups)
{
	size_t kept = 0;
	struct block **of = xcalloc(a->meta->functions.n + 1, sizeof(struct block *));
	uint32_t *n_groups = xcalloc(a->meta->functions.n + 1, sizeof(*n_groups));

	vec_for_each (functions, struct block, b)
		of[b->id] = b;
	vec_for_each (&k->groups, const struct keyed_group, g)
		n_groups[g->function]++;
	for (size_t i = 0; i < groups->n; i++) {
		struct block *g = &groups->data[i];
		uint32_t function = k->groups.data[g->id].function;
		bool lone = n_groups[function] == 1;

		if (of[function] && lone) {
			of[function]->key = g->key;
			of[function]->asked = a->functions[function].asked;
		} else if (of[function])
			of[function]->split = true;
		if (lone)
			block_release(g);
		else
			groups->data[kept++] = *g;
	}
	groups->n = kept;
	mark_alike(a, k, of, groups, n_groups);
	free(of);
	free(n_groups);
}
