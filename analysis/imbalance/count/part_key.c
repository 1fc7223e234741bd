/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/imbalance/count/part_key.h"

static int order(uint32_t x, uint32_t y)
{
	return (x > y) - (x < y);
}

int part_key_by_group(const void *a, const void *b)
{
	const struct part_key *x = a, *y = b;

	if (x->section != y->section)
		return order(x->section, y->section);
	if (x->group != y->group)
		return order(x->group, y->group);
	if (x->thread != y->thread)
		return order(x->thread, y->thread);
	return order(x->instance, y->instance);
}

int part_key_by_instance(const void *a, const void *b)
{
	const struct part_key *x = a, *y = b;

	if (x->section != y->section)
		return order(x->section, y->section);
	if (x->instance != y->instance)
		return order(x->instance, y->instance);
	return order(x->thread, y->thread);
}

bool part_key_same_instance(const struct part_key *a, const struct part_key *b)
{
	return a->section == b->section && a->instance == b->instance;
}

bool part_key_same_group(const struct part_key *a, const struct part_key *b)
{
	return a->section == b->section && a->group == b->group;
}

bool part_key_same_thread(const struct part_key *a, const struct part_key *b)
{
	return part_key_same_group(a, b) && a->thread == b->thread;
}
