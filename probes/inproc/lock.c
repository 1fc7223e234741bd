// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inproc/lock.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/lines.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

uint64_t inproc_lock_value(const struct inproc_drain *d, const struct inproc_region *g,
			   uint32_t number)
{
	uint64_t region = (uint64_t)(g - d->regions.data) + 1;

	return region << 32 | (number <= g->n_locks ? number : 0);
}

static void write_function(struct inproc_drain *d, const struct inproc_region *g)
{
	static const struct meta_argument lock = { .bit = ARG_FIRST,
						   .name = "monitor",
						   .type = "",
						   .class = ARGUMENT_ADDRESS,
						   .key = true };
	const struct meta_function f = { .id = g->lock_function,
					 .object = g->object,
					 .name = INPROC_TAKES_LOCK,
					 .symbol = INPROC_TAKES_LOCK,
					 .class = CLASS_UNKNOWN,
					 .exit = EXIT_RETURN,
					 .file = "",
					 .block = "function",
					 .blocking = true,
					 .contended_only = true,
					 .n_arguments = 1,
					 .arguments = &lock };
	struct text line = { 0 };

	meta_print_function(&f, &line);
	inproc_write_line(d->writer, &line);
}

uint32_t inproc_lock_function(struct inproc_drain *d, struct inproc_region *g)
{
	char *key;

	if (g->lock_function != MAP_NONE)
		return g->lock_function;
	key = xasprintf(INPROC_TAKES_LOCK " of %u", g->object);
	g->lock_function = strtab_add(&d->functions, key);
	free(key);
	write_function(d, g);
	return g->lock_function;
}

void inproc_lock_add(struct inproc_drain *d, struct inproc_region *g, uint32_t number,
		     const char *name)
{
	struct meta_address a = { .symbol = name, .object = g->header.vm };
	struct text line = { 0 };

	/* the program numbers its locks one after the other */
	if (number != g->n_locks + 1 || number > INPROC_LOCKS_MAX)
		return;
	g->n_locks++;
	a.address = inproc_lock_value(d, g, number);
	meta_print_address(&a, &line);
	inproc_write_line(d->writer, &line);
}
