// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void merge_init(struct merge *m, size_t room)
{
	m->leaves = room ? room : 1;
	m->nodes = xmalloc(2 * m->leaves * sizeof(*m->nodes));
	merge_clear(m);
}

void merge_release(struct merge *m)
{
	free(m->nodes);
	*m = (struct merge){ 0 };
}

void merge_clear(struct merge *m)
{
	memset(m->nodes, 0xff, 2 * m->leaves * sizeof(*m->nodes));
}
