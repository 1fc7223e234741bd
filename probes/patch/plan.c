/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/patch/plan.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/patch/body.h"
#include "probes/patch/sites.h"
#include "probes/patch/targets.h"
#include "probes/place/exitmech.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/parser.h"
#include "symbol/dso/symbols.h"

struct planned_function {
	struct patch_function shown;
	struct sites sites;
};

struct patch_plan {
	struct dso *dso;
	const char *refusal;
	struct targets targets;
	struct {
		VEC(struct planned_function *) /* pointers, so that a patch_function that was
						  returned stays in place */
	} functions;
	struct map by_address; /* indices into functions */
};

/* ---- the object ---- */

static const char *refuse_object(struct dso *dso)
{
	if (dso_machine(dso) != DSO_X86_64 && dso_machine(dso) != DSO_AARCH64)
		return "is code of another machine";
	if (dso_is_go(dso))
		return "is Go, which moves its stacks";
	if (dso_is_restartable(dso))
		return "has sections that the kernel restarts (rseq), which no jump may leave";
	if (exit_object_is(text_base_name(dso_path(dso)), "libjvm"))
		return "is a Java machine, which writes its own code and walks its stacks";
	return NULL;
}

struct patch_plan *patch_plan_new(struct dso *dso)
{
	struct patch_plan *plan = xcalloc(1, sizeof(*plan));
	uint64_t began_ns;

	plan->dso = dso;
	plan->refusal = refuse_object(dso);
	if (!plan->refusal && !parser_may_work(dso, &began_ns)) {
		plan->refusal = "takes too long to look at";
	} else if (!plan->refusal) {
		plan->refusal = targets_read(&plan->targets, dso);
		parser_has_worked(dso, began_ns);
	}
	return plan;
}

void patch_plan_free(struct patch_plan *plan)
{
	if (!plan)
		return;
	vec_for_each (&plan->functions, struct planned_function *, p) {
		vec_release(&(*p)->sites);
		free(*p);
	}
	vec_release(&plan->functions);
	map_release(&plan->by_address);
	targets_release(&plan->targets);
	free(plan);
}

const char *patch_plan_refusal(const struct patch_plan *plan)
{
	return plan->refusal;
}

/* ---- one function ---- */

/* Any of the names at this address may mean that it is no ordinary function. */
static const char *refuse_by_name(struct dso *dso, uint64_t address)
{
	const struct dso_function *functions;
	const size_t n = dso_functions(dso, &functions);
	size_t low = vec_search(i, 0, n, functions[i].address < address);

	for (; low < n && functions[low].address == address; low++) {
		if (dso_machine(dso) == DSO_AARCH64 && !strncmp(functions[low].symbol, "_ZGV", 4))
			return "is a vector function, whose registers a system call would change";
		if (exit_odd_by_name(functions[low].symbol))
			return exit_odd_by_name(functions[low].symbol);
	}
	return NULL;
}

static const char *refuse_by_frame(const struct targets *t, uint64_t address)
{
	const struct frame *f = targets_frame(t, address);

	if (f && f->is_signal)
		return "returns from a signal handler";
	return f && f->is_unreadable ? "has a table of where exceptions land that ispot cannot read"
				     : NULL;
}

static const char *refuse_by_exits(const struct dso_function *f, const struct body *body)
{
	vec_for_each (&body->exits, const struct body_exit, e)
		if (e->kind == PATCH_JUMP && exit_waits_behind_jump(f->symbol))
			return "waits in a function that it jumps to, so that its end would be "
			       "seen too early";
	return NULL;
}

static const char *plan_sites(struct patch_plan *plan, const struct dso_function *f,
			      struct sites *sites, bool *is_brief)
{
	const char *refusal = plan->refusal;
	struct body body = { 0 };

	if (!refusal && f->ifunc)
		refusal = "is an IFUNC: the loader chooses the implementation";
	if (!refusal)
		refusal = refuse_by_name(plan->dso, f->address);
	if (!refusal)
		refusal = refuse_by_frame(&plan->targets, f->address);
	if (refusal)
		return refusal;
	refusal = body_read(&body, &plan->targets, f);
	if (!refusal)
		refusal = refuse_by_exits(f, &body);
	if (!refusal)
		refusal = sites_choose(sites, &body, &plan->targets);
	*is_brief = !refusal && body_is_brief(&body);
	body_release(&body);
	return refusal;
}

static void plan_function(struct patch_plan *plan, struct planned_function *p)
{
	uint64_t began_ns;

	if (!parser_may_work(plan->dso, &began_ns)) {
		p->shown.refusal = "is in a file whose functions take too long to look at";
		return;
	}
	p->shown.refusal = plan_sites(plan, p->shown.function, &p->sites, &p->shown.is_brief);
	p->shown.sites = p->sites.data;
	p->shown.n_sites = p->sites.n;
	parser_has_worked(plan->dso, began_ns);
}

const struct patch_function *patch_plan_function(struct patch_plan *plan,
						 const struct dso_function *f)
{
	uint32_t known = map_get(&plan->by_address, f->address);
	struct planned_function *p;

	if (known != MAP_NONE)
		return &plan->functions.data[known]->shown;
	p = xcalloc(1, sizeof(*p));
	p->shown.function = f;
	map_put(&plan->by_address, f->address, (uint32_t)plan->functions.n);
	*vec_add(&plan->functions) = p;
	plan_function(plan, p);
	return &p->shown;
}
