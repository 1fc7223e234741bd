/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/addresses.h"

#include <stdlib.h>

#include "base/text.h"
#include "probes/recording/meta.h"
#include "probes/recording/recording.h"
#include "symbol/dso/data.h"
#include "symbol/dso/dso.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

void addresses_add(struct recorded_addresses *addresses, struct recording *r)
{
	const struct drain_address *new;
	struct place place;

	while ((new = drain_addresses_next(&r->drain.addresses)))
		if (spaces_find_data(&r->spaces, new->pid, new->value, &place))
			*vec_add(addresses) = (struct recorded_address){
				.value = new->value,
				.dso = place.dso,
				.address = place.address,
			};
}

static void write_address(struct recording *r, const struct recorded_address *a)
{
	struct meta_address m = { .address = a->value, .offset = a->address };
	struct text line = { 0 };
	const char *symbol = dso_variable_at(a->dso, a->address, &m.offset);

	m.symbol = symbol ? symbol : "";
	m.object = dso_path(a->dso);
	meta_print_address(&m, &line);
	recording_write_line(r, &line);
}

void addresses_write(const struct recorded_addresses *addresses, struct recording *r)
{
	char *words;

	vec_for_each (addresses, const struct recorded_address, a)
		write_address(r, a);
	if (!r->drain.addresses.full)
		return;
	words = xasprintf("more than %d addresses were arguments: those that came first have their "
			  "names, the others are shown as numbers",
			  DRAIN_ADDRESSES_MAX);
	recording_write_notice(r, "addresses", words);
	free(words);
}

void addresses_release(struct recorded_addresses *addresses)
{
	vec_release(addresses);
}
