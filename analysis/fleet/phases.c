/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fleet/phases.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/fleet/rows.h"
#include "base/err.h"
#include "base/text.h"

#define MINUTE_NS 60000000000ull

int fleet_phases_init(struct fleet_phases *p, uint64_t bucket_ns, uint64_t length_ns,
		      struct err *err)
{
	char bucket[TEXT_NUMBER], length[TEXT_NUMBER];

	*p = (struct fleet_phases){ .length_ns = length_ns, .day = 1, .length = 1 };
	if (!length_ns)
		return 0;
	if (length_ns % MINUTE_NS || FLEET_DAY_NS % length_ns)
		return err_set(err, -EINVAL,
			       "--bucket %s: a day has no whole number of them; give 1h, 6h, 12h",
			       text_time(length, length_ns));
	if (!bucket_ns || length_ns % bucket_ns)
		return err_set(err, -EINVAL,
			       "--bucket %s: the rows are of %s each; give a multiple, or reduce "
			       "with a smaller --bucket into another database",
			       text_time(length, length_ns), text_time(bucket, bucket_ns));
	p->day = FLEET_DAY_NS / bucket_ns;
	p->length = length_ns / bucket_ns;
	p->n = (uint32_t)(FLEET_DAY_NS / length_ns);
	return 0;
}

const char *fleet_phases_name(const struct fleet_phases *p, uint64_t phase,
			      char name[FLEET_PHASE_NAME])
{
	unsigned from = (unsigned)(phase * p->length_ns / MINUTE_NS % 1440);
	unsigned to = (unsigned)((phase + 1) * p->length_ns / MINUTE_NS % 1441);

	snprintf(name, FLEET_PHASE_NAME, "%02u:%02u-%02u:%02u", from / 60 % 24, from % 60,
		 to / 60 % 25, to % 60);
	return name;
}

/* ---- rows under other names ---- */

struct joining {
	const struct fleet_rows *all;
	const struct fleet_phases *phases;
	const struct strtab *split;
	struct fleet_rows *out;
};

static uint32_t name_in(const struct joining *j, uint32_t app, uint64_t phase)
{
	const char *name = strtab_get(&j->all->apps, app);
	char hours[FLEET_PHASE_NAME], renamed[512];

	if (!j->split ||
	    (strtab_find(j->split, name) == MAP_NONE && strtab_find(j->split, "*") == MAP_NONE))
		return strtab_add(&j->out->apps, name);
	snprintf(renamed, sizeof(renamed), "%s %s", name,
		 fleet_phases_name(j->phases, phase, hours));
	return strtab_add(&j->out->apps, renamed);
}

static void add_row(const struct joining *j, const struct fleet_row *row)
{
	uint64_t phase = j->all->strata.data[row->stratum].bucket;
	uint32_t base = name_in(j, row->base, phase), co = name_in(j, row->corunner, phase);
	struct fleet_row *to =
		row->class == CORUNNER_TRIO
			? fleet_rows_trio(j->out, base, co, name_in(j, row->second, phase), 0)
			: fleet_rows_get(j->out, base, co, row->class, 0);

	tally_merge(&to->tally, &row->tally);
	fleet_contrast_merge(&to->contrast, &row->contrast);
}

static void begin(const struct fleet_rows *all, struct fleet_rows *out)
{
	strtab_add(&out->types, strtab_get(&all->types, 0));
	fleet_rows_stratum(out, 0, 0);
}

void fleet_phases_pick(const struct fleet_rows *all, uint64_t phase, struct fleet_rows *out)
{
	const struct joining j = { .all = all, .out = out };

	begin(all, out);
	vec_for_each (&all->rows, const struct fleet_row, row)
		if (all->strata.data[row->stratum].bucket == phase)
			add_row(&j, row);
	vec_for_each (&all->crowds, const struct fleet_crowd, c)
		if (all->strata.data[c->stratum].bucket == phase)
			fleet_rows_crowd(out, 0, c->kind, c->number, c->ns);
}

static int by_number(const void *a, const void *b)
{
	const struct fleet_crowd *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

void fleet_phases_join(const struct fleet_rows *all, const struct fleet_phases *p,
		       const struct strtab *split, struct fleet_rows *out)
{
	const struct joining j = { all, p, split, out };

	begin(all, out);
	vec_for_each (&all->rows, const struct fleet_row, row)
		add_row(&j, row);
	vec_for_each (&all->crowds, const struct fleet_crowd, c)
		fleet_rows_crowd(out, 0, c->kind, c->number, c->ns);
	vec_sort(&out->crowds, by_number); /* in the order in which a single phase has them */
}
