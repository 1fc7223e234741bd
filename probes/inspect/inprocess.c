/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/inspect/inprocess.h"

#include <stdlib.h>
#include <string.h>

#include "probes/patch/plan.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/symbols.h"

static struct patch_plan *plan_of(struct inprocess *p, struct dso *dso)
{
	struct inprocess_object *new;

	vec_for_each (p, struct inprocess_object, o)
		if (o->dso == dso)
			return o->plan;
	new = vec_add(p);
	new->dso = dso;
	new->plan = patch_plan_new(dso);
	return new->plan;
}

void inprocess_release(struct inprocess *p)
{
	vec_for_each (p, struct inprocess_object, o)
		patch_plan_free(o->plan);
	vec_release(p);
}

const char *inprocess_refusal(struct inprocess *p, struct dso *dso, const struct dso_function *f,
			      size_t *n_exits)
{
	const struct patch_function *planned = patch_plan_function(plan_of(p, dso), f);

	*n_exits = 0;
	for (size_t i = 0; i < planned->n_sites; i++)
		*n_exits += planned->sites[i].exit != PATCH_NO_EXIT;
	return planned->refusal;
}

const struct patch_function *inprocess_plan(struct inprocess *p, struct dso *dso,
					    const struct dso_function *f)
{
	return patch_plan_function(plan_of(p, dso), f);
}

static void count_reason(struct inprocess_tally *t, const char *text)
{
	vec_for_each (&t->reasons, struct inprocess_reason, r) {
		if (!strcmp(r->text, text)) {
			r->n++;
			return;
		}
	}
	*vec_add(&t->reasons) = (struct inprocess_reason){ text, 1 };
}

static void count(struct inprocess_tally *t, const struct patch_function *f)
{
	t->n++;
	if (f->refusal) {
		count_reason(t, f->refusal);
		return;
	}
	t->possible++;
	t->sites += f->n_sites;
	for (size_t i = 0; i < f->n_sites; i++) {
		t->islands += f->sites[i].island != 0;
		t->saves += f->sites[i].flags_live || f->sites[i].red_zone_live;
	}
}

static int compare_reasons(const void *a, const void *b)
{
	const struct inprocess_reason *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return strcmp(x->text, y->text);
}

void inprocess_tally(struct inprocess *p, struct dso *dso, struct inprocess_tally *out)
{
	struct patch_plan *plan = plan_of(p, dso);
	const struct dso_function *functions;
	size_t n = dso_functions(dso, &functions);

	*out = (struct inprocess_tally){ 0 };
	for (size_t i = 0; i < n; i++) {
		const struct dso_function *f = &functions[i];

		if (!f->ifunc && !(i && f->address == f[-1].address) && !strstr(f->symbol, ".cold"))
			count(out, patch_plan_function(plan, f));
	}
	vec_sort(&out->reasons, compare_reasons);
}

void inprocess_tally_release(struct inprocess_tally *t)
{
	vec_release(&t->reasons);
}
