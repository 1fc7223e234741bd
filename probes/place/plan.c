/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/place/plan.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "probes/place/function.h"
#include "probes/place/marker_place.h"
#include "probes/select/blocking.h"
#include "probes/select/marker.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/symbols.h"

static void plan_marker(struct planned *p, struct operand_rows *rows, unsigned kernel_version)
{
	if (operands_choose(p, rows, &p->wrong_arguments))
		p->reason = p->wrong_arguments.text;
	else
		marker_plan(p, kernel_version);
}

static void plan_one(struct planned *p, const struct no_key *no_key,
		     const struct target_traits *traits, unsigned kernel_version)
{
	if (p->what.function->ifunc) {
		p->reason = "an IFUNC: the loader chooses the implementation; name that one";
		return;
	}
	if (arguments_choose(&p->arguments, p->what.arguments, !p->what.by_name, p->what.dso,
			     p->what.function, no_key, &p->wrong_arguments)) {
		p->reason = p->wrong_arguments.text;
		return;
	}
	placement_of_function(p->what.dso, p->what.function, p->arguments.registers, kernel_version,
			      &p->place);
	p->reason = p->place.reason;
	if (!p->place.possible)
		return;
	exit_choose(traits, p->what.dso, p->what.function, &p->place, kernel_version, &p->exit);
	if (p->exit.mech != EXIT_RETURN)
		placement_without_return(&p->place);
	p->possible = !p->exit.refused;
	if (p->exit.refused)
		p->reason = p->exit.reason;
	else
		arguments_add_occasional(&p->arguments, p->what.dso, p->what.function,
					 p->place.intact, no_key);
}

void plan_add(struct plan *plan, const struct selection *s, size_t first,
	      const struct target_traits *traits, unsigned kernel_version)
{
	for (size_t i = first; i < s->chosen.n; i++) {
		struct planned *p = xcalloc(1, sizeof(*p));

		p->what = s->chosen.data[i];
		p->reason = "";
		p->set = PLANNED_NO_SET;
		p->cpu_share = p->calls_per_s = p->cost_share = NAN;
		if (p->what.marker)
			plan_marker(p, &plan->operands, kernel_version);
		else
			plan_one(p, &plan->no_key, traits, kernel_version);
		*vec_add(plan) = p;
	}
}

void plan_release(struct plan *plan)
{
	vec_for_each (plan, struct planned *, p)
		free(*p);
	vec_release(plan);
	vec_release(&plan->operands);
}

bool planned_is_traced(const struct planned *p)
{
	return p->possible && p->set != PLANNED_NO_SET && !p->out_ns;
}

/* Probes on jumps cost less than those on a ret, which is single-stepped. */
static bool only_jumps(const struct planned *p)
{
	return p->exit.mech == EXIT_RET_SITES && p->place.only_jumps;
}

bool planned_is_priced_by(const struct planned *p, const struct meta_calibration *c)
{
	return meta_calibration_fits(c, p->place.class, p->exit.mech, only_jumps(p));
}

void planned_describe(const struct planned *p, struct meta_function *f)
{
	const struct dso_function *what = p->what.function;
	struct dso_line line = p->what.marker ? dso_line_at(p->what.dso, what->address)
					      : dso_function_line(p->what.dso, what);

	f->name = dso_function_name(p->what.dso, what);
	f->symbol = what->symbol;
	f->address = what->address;
	f->size_bytes = what->size;
	f->probe_offset = p->place.entry_offset;
	f->class = p->place.class;
	f->exit = p->exit.mech;
	f->only_jumps = only_jumps(p);
	f->file = line.file;
	f->line = line.line;
	f->block = p->what.marker ? "marker" : "function";
	f->period = p->what.marker ? p->what.marker->period : 1;
	f->blocking = blocking_kind(what->symbol) != NULL;
	f->chosen = true;
	f->parameters = p->arguments.parameters;
	f->n_arguments = p->arguments.n;
	f->arguments = p->arguments.all;
	f->n_prototype = p->arguments.n_prototype;
	f->prototype = p->arguments.prototype;
}
