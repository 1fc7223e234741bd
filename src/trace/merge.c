// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/merge.h"

#include <stdlib.h>

#include "base/mem.h"

#define CHILDREN 4
/* Nodes that do not exist compare as later than all that do: no loop needs to look for the end. */
#define ABSENT ((struct merge_key){ UINT64_MAX, UINT64_MAX })

/* One comparison of 128 bits instead of two with a branch that nobody can predict. */
static inline bool before(const struct merge_key *a, const struct merge_key *b)
{
	unsigned __int128 x = (unsigned __int128)a->time_ns << 64 | a->index;
	unsigned __int128 y = (unsigned __int128)b->time_ns << 64 | b->index;

	return x < y;
}

static inline size_t earliest_child(const struct merge *m, size_t first)
{
	const struct merge_key *keys = m->keys;
	size_t left, right;

	if (m->n == first + 1) /* the only one: two streams are the most common case */
		return first;
	left = first + before(&keys[first + 1], &keys[first]);
	right = first + 2 + before(&keys[first + 3], &keys[first + 2]);
	return before(&keys[right], &keys[left]) ? right : left;
}

void merge_init(struct merge *m, size_t room)
{
	*m = (struct merge){ .room = room };
	m->keys = xmalloc((room + 1 + CHILDREN) * sizeof(*m->keys));
	merge_clear(m);
}

void merge_release(struct merge *m)
{
	free(m->keys);
	*m = (struct merge){ 0 };
}

void merge_clear(struct merge *m)
{
	m->n = 0;
	for (size_t i = 0; i < m->room + 1 + CHILDREN; i++)
		m->keys[i] = ABSENT;
}

void merge_add(struct merge *m, uint64_t time_ns, uint32_t index)
{
	struct merge_key key = { time_ns, index };
	size_t i = m->n++;

	while (i && before(&key, &m->keys[(i - 1) / CHILDREN])) {
		m->keys[i] = m->keys[(i - 1) / CHILDREN];
		i = (i - 1) / CHILDREN;
	}
	m->keys[i] = key;
}

static void sink(struct merge *m, struct merge_key key)
{
	size_t i = 0;

	while (i * CHILDREN + 1 < m->n) {
		size_t child = earliest_child(m, i * CHILDREN + 1);

		if (!before(&m->keys[child], &key))
			break;
		m->keys[i] = m->keys[child];
		i = child;
	}
	m->keys[i] = key;
}

void merge_replace(struct merge *m, uint64_t time_ns)
{
	sink(m, (struct merge_key){ time_ns, m->keys[0].index });
}

void merge_pop(struct merge *m)
{
	struct merge_key last = m->keys[--m->n];

	m->keys[m->n] = ABSENT;
	if (m->n)
		sink(m, last);
}

uint64_t merge_limit(const struct merge *m)
{
	const struct merge_key *second;

	if (m->n < 2)
		return UINT64_MAX;
	second = &m->keys[earliest_child(m, 1)];
	/* On a tie the lower index goes first; second is not before us, so its time 0 is a tie. */
	return m->keys[0].index < second->index ? second->time_ns : second->time_ns - 1;
}
