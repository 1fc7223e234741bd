/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/addresses.h"

#include "base/mem.h"
#include "base/text.h"
#include "probes/drain/addresses.h"
#include "probes/process/spaces.h"
#include "symbol/dso/data.h"
#include "symbol/dso/dso.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

void addresses_add(struct recorded_addresses *addresses, struct drain_addresses *given,
		   struct spaces *spaces)
{
	const struct drain_address *new;
	struct place place;

	while ((new = drain_addresses_next(given)))
		if (spaces_find_data(spaces, new->pid, new->value, &place))
			*vec_add(addresses) = (struct recorded_address){
				.value = new->value,
				.dso = place.dso,
				.address = place.address,
			};
}

static void write_address(const struct recorded_address *a, text_write_line *write, void *ctx)
{
	struct meta_address m = { .address = a->value, .offset = a->address };
	struct text line = { 0 };
	const char *symbol = dso_variable_at(a->dso, a->address, &m.offset);

	m.symbol = symbol ? symbol : "";
	m.object = dso_path(a->dso);
	meta_print_address(&m, &line);
	write(ctx, &line);
}

void addresses_write(const struct recorded_addresses *addresses, text_write_line *write, void *ctx)
{
	vec_for_each (addresses, const struct recorded_address, a)
		write_address(a, write, ctx);
}

char *addresses_notice(const struct drain_addresses *given)
{
	if (!given->full)
		return NULL;
	return xasprintf("more than %d addresses were arguments: those that came first have their "
			 "names, the others are shown as numbers",
			 DRAIN_ADDRESSES_MAX);
}

void addresses_release(struct recorded_addresses *addresses)
{
	vec_release(addresses);
}
