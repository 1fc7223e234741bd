// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/merge.h"

#include <stdlib.h>

#include "base/mem.h"

#define CHILDREN 4
/* Nodes that do not exist compare as later than all that do: no loop needs to look for the end. */
#define ABSENT ((struct merge_key){ UINT64_MAX, UINT64_MAX })

static inline size_t earliest_child(const struct merge *m, size_t first)
{
	const struct merge_key *keys = m->keys;
	size_t left, right;

	left = first + merge_before(&keys[first + 1], &keys[first]);
	right = first + 2 + merge_before(&keys[first + 3], &keys[first + 2]);
	return merge_before(&keys[right], &keys[left]) ? right : left;
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

	while (i && merge_before(&key, &m->keys[(i - 1) / CHILDREN])) {
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

		if (!merge_before(&m->keys[child], &key))
			break;
		m->keys[i] = m->keys[child];
		i = child;
	}
	m->keys[i] = key;
}

void merge_sink(struct merge *m, uint64_t time_ns)
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

uint64_t merge_limit_of_many(const struct merge *m)
{
	return merge_limit_by(m, &m->keys[earliest_child(m, 1)]);
}
