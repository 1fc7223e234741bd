// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/beside.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/inject/budget.h"
#include "probes/inject/choice.h"
#include "probes/inject/processes.h"
#include "probes/inject/refusal.h"
#include "probes/inject/ringbytes.h"
#include "probes/inject/stubcost.h"
#include "probes/inject/targets.h"
#include "probes/inject/tracee.h"
#include "probes/inproc/drain.h"
#include "probes/inproc/lines.h"
#include "probes/patch/plan.h"
#include "probes/place/plan.h"
#include "probes/recording/options.h"
#include "probes/select/arguments.h"
#include "probes/select/blocking.h"
#include "probes/select/pattern.h"
#include "probes/select/select.h"
#include "probes/session/engine.h"
#include "symbol/dso/dso.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"

#define LIKELY_CALL_NS	60.0 /* assumed if no empty call could be measured */
#define IN_PROCESS_MOST 0.5  /* part of the budget that one function may take */
/* Calls a second: fewer are too costly for kernel probes only while the program hardly runs. */
#define SELDOM_CALLS 1000

/* The command waits while its functions are planned. */
#define CHOSEN_MOST    4000 /* functions */
#define CHOOSING_NS    500000000ull
#define CODE_BYTES_MAX (16u << 20) /* the planner reads all of an object's code */

struct inject_beside {
	struct session_beside hooks;
	struct inject_targets targets; /* the program's objects, but none of the functions */
	uint32_t period;
	double overhead;
	struct {
		VEC(struct beside_plan)
	} plans;
	struct patched_functions functions; /* [the file's id]; no sites: kernel probes */
	struct inproc_drain drain;
	struct processes processes;
	struct stubcost cost;
	struct budget budget;
	bool *given_up;
	struct ring_bytes ring;
	const struct session_unpatched *unpatched; /* while the command is launched */
	bool is_asked;				   /* the user asked for this engine */
	bool is_begun; /* a process is to be patched, so no function is added any more */
};

struct beside_plan {
	struct dso *dso;
	struct patch_plan *plan;
};

/* ---- which functions ---- */

static struct patch_plan *plan_of(struct inject_beside *b, struct dso *dso)
{
	struct beside_plan *new;

	vec_for_each (&b->plans, struct beside_plan, p)
		if (p->dso == dso)
			return p->plan;
	new = vec_add(&b->plans);
	*new = (struct beside_plan){ dso, patch_plan_new(dso) };
	return new->plan;
}

bool inject_beside_records_arguments(const struct planned *p, const struct patch_function *f)
{
	struct arguments a = p->arguments;

	return patched_keep_arguments(&a, f->sites, f->n_sites) || !*p->what.arguments;
}

/* Returns the arguments that are recorded in process, or NULL if there are none. */
static struct arguments *arguments_of(const struct planned *p, const struct patch_function *f)
{
	struct arguments a = p->arguments, *kept;

	arguments_add_caller(&a, p->what.function);
	if (!a.n && !a.caller)
		return NULL;
	kept = xcalloc(1, sizeof(*kept));
	*kept = a;
	patched_keep_arguments(kept, f->sites, f->n_sites);
	return kept;
}

/* Adds functions without sites for lower ids that are missing: they have kernel probes. */
static void add_function(struct inject_beside *b, uint32_t id, const struct planned *p,
			 const struct patch_function *f)
{
	struct patched_function *added;

	while (b->functions.n <= id)
		*vec_add(&b->functions) = (struct patched_function){ .dso = p->what.dso,
								     .function = p->what.function };
	added = &b->functions.data[id];
	added->dso = p->what.dso;
	added->function = p->what.function;
	added->arguments = arguments_of(p, f);
	for (size_t i = 0; i < f->n_sites; i++)
		*vec_add(&added->sites) = f->sites[i];
}

static bool add_if_patchable(struct inject_beside *b, uint32_t id, const struct planned *p)
{
	const struct patch_function *f;
	const char *why;

	if (b->is_begun || p->what.marker || id >= INPROC_IDS_MAX)
		return false;
	f = patch_plan_function(plan_of(b, p->what.dso), p->what.function);
	why = f->refusal;
	if (!why && !inject_beside_records_arguments(p, f))
		why = INJECT_ARGUMENTS_GONE;
	if (why)
		log_detail("%s gets kernel probes: it %s", p->what.function->symbol, why);
	else
		add_function(b, id, p, f);
	return !why;
}

/* The kernel single-steps a probed ret, but not a jump. */
static bool is_stepped(const struct planned *p)
{
	return p->place.class == CLASS_SINGLE_STEP ||
	       (p->exit.mech == EXIT_RET_SITES && !p->place.only_jumps);
}

bool inject_beside_is_for_kernel(const struct planned *p)
{
	const char *symbol = p->what.function->symbol;

	return blocking_kind(symbol) && !blocking_is_lock(symbol) && p->possible &&
	       p->exit.mech != EXIT_NONE && !is_stepped(p);
}

static uint64_t code_bytes(const struct dso *dso)
{
	uint64_t sum = 0, start, end;

	for (size_t i = 0; dso_code_stretch(dso, i, &start, &end); i++)
		sum += end - start;
	return sum;
}

static bool is_of_lock(const struct dso_function *f)
{
	return blocking_is_lock(f->symbol) || blocking_is_unlock(f->symbol);
}

static bool is_worth_timing(struct inject_beside *b, const struct selected *c)
{
	const struct patch_function *f;

	if (code_bytes(c->dso) > CODE_BYTES_MAX)
		return false;
	f = patch_plan_function(plan_of(b, c->dso), c->function);
	return !f->refusal && (!f->is_brief || blocking_is_unlock(c->function->symbol));
}

/* Stops when the time for planning is over. The remaining functions can still be chosen by samples.
 */
static void choose(void *ctx, struct selection *s, struct dso *const *objects, size_t n,
		   size_t n_programs)
{
	struct inject_beside *b = ctx;
	const uint64_t until_ns = clock_now_ns() + CHOOSING_NS;
	const struct choice_of of = { .objects = objects,
				      .n = n,
				      .n_programs = n_programs,
				      .most = CHOSEN_MOST,
				      .has_locks_alone = true };
	struct selection all = { .excluding = s->excluding };
	struct patterns *named = NULL;
	struct err err;

	if (choice_make(&all, &of, &named, &err))
		all.chosen.n = 0;
	for (unsigned turn = 0; turn < 2; turn++) /* locks first */
		vec_for_each (&all.chosen, const struct selected, c)
			if (is_of_lock(c->function) == !turn && clock_now_ns() < until_ns &&
			    is_worth_timing(b, c))
				selection_add_function(s, c->dso, c->function);
	selection_release(&all);
	patterns_free(named);
}

static bool add_chosen(void *ctx, uint32_t id, const struct planned *p)
{
	return !inject_beside_is_for_kernel(p) && add_if_patchable(ctx, id, p);
}

static bool add_costly(void *ctx, uint32_t id, const struct planned *p, double kernel_call_ns)
{
	struct inject_beside *b = ctx;
	const double call_ns =
		b->cost.call.full_p50_ns > 0 ? b->cost.call.full_p50_ns : LIKELY_CALL_NS;
	const double share = p->cost_share * call_ns / kernel_call_ns;

	/* processes are patched once, and not for what they do while they wait to begin */
	return p->calls_per_s >= SELDOM_CALLS && share <= IN_PROCESS_MOST * b->overhead &&
	       add_if_patchable(b, id, p);
}

/* A function that is not timed in any process gets kernel probes again, so no later process is
 * patched for it. */
static const char *drop_untimed(void *ctx, uint32_t id)
{
	struct inject_beside *b = ctx;
	struct patched_function *f = &b->functions.data[id];

	if (f->is_in)
		return NULL;
	f->is_out = true;
	return f->left ? f->left : "its process was not patched";
}

static const struct arguments *arguments(void *ctx, uint32_t id)
{
	const struct inject_beside *b = ctx;

	return b->functions.data[id].arguments;
}

/* ---- the recording ---- */

static void begin(void *ctx, struct trace_writer *w, uint32_t cpu,
		  struct drain_addresses *addresses, struct drain_stacks *sites)
{
	struct inject_beside *b = ctx;
	struct text line = { 0 };

	inproc_drain_init(&b->drain, NULL, b->ring.n, w);
	b->drain.cpu = cpu;
	b->drain.ring_memory_most = b->ring.most;
	b->drain.addresses = addresses;
	b->drain.sites = sites;
	b->drain.kernel_has_ends = true;
	if (stubcost_measure(&b->cost)) {
		inproc_write_notice(w, "in-process-limits", STUBCOST_UNKNOWN_WORDS);
		return;
	}
	meta_print_calibration(&b->cost.call, &line);
	inproc_write_line(w, &line);
}

static int watch(void *ctx, pid_t pid, struct inproc_region *g)
{
	const struct inject_beside *b = ctx;

	(void)pid;
	g->pair_ns = (uint32_t)(b->cost.call.full_p50_ns + 0.5);
	g->passed_ns = b->cost.passed_ns;
	g->values_ns = b->cost.values_ns;
	g->page_ns = b->cost.page_ns;
	return 0;
}

static void unpatched(void *ctx, const struct err *why)
{
	const struct inject_beside *b = ctx;

	if (b->unpatched)
		b->unpatched->call(b->unpatched->ctx, why);
}

static void begin_processes(struct inject_beside *b)
{
	if (b->is_begun)
		return;
	b->is_begun = true;
	if (b->is_asked)
		ring_bytes_report(&b->ring, b->drain.writer);
	b->processes = (struct processes){ .drain = &b->drain,
					   .functions = &b->functions,
					   .how = { b->ring.n, b->ring.most, b->period,
						    b->overhead > 0 && !b->ring.has_shrunk,
						    budget_of_thread(b->overhead, &b->cost) },
					   .watch = watch,
					   .unpatched = unpatched,
					   .ctx = b };
	patched_functions_count(&b->functions, &b->drain);
	budget_init(&b->budget, b->overhead,
		    b->cost.call.full_p50_ns + (b->period - 1) * b->cost.passed_ns, b->functions.n);
	b->given_up = xcalloc(b->functions.n + 1, sizeof(*b->given_up));
}

static int launch(void *ctx, struct launch *l, char *const *argv,
		  const struct session_unpatched *unpatched_by, struct err *err)
{
	struct inject_beside *b = ctx;
	const struct patched_program program = { b->targets.inode, b->targets.device };
	int ret;

	begin_processes(b);
	b->unpatched = unpatched_by;
	ret = processes_launch(&b->processes, l, argv, &program, err);
	b->unpatched = NULL;
	budget_begin(&b->budget, &b->drain, clock_now_ns());
	return ret;
}

/* The process may have changed since it was checked. */
static int attach(void *ctx, pid_t pid, bool is_patient, struct err *err)
{
	struct inject_beside *b = ctx;
	const bool is_first = !b->is_begun;
	int ret;

	if (processes_has(&b->processes, pid))
		return -EALREADY;
	ret = refusal_of_process(pid, err);
	if (!ret)
		ret = inject_targets_refuse_mapped(&b->targets, pid, err);
	begin_processes(b);
	if (!ret)
		ret = processes_attach(&b->processes, pid, is_patient, err);
	if (is_first)
		budget_begin(&b->budget, &b->drain, clock_now_ns());
	else if (!ret)
		budget_add_process(&b->budget, pid);
	return ret;
}

static uint64_t drain(void *ctx)
{
	struct inject_beside *b = ctx;
	const uint64_t now_ns = clock_now_ns();
	const bool any_late = tracees_detach_late();

	if (!b->drain.regions.n)
		return any_late ? PROCESSES_TURN_NS : UINT64_MAX;
	inproc_drain_run(&b->drain);
	processes_enforce_budget(&b->processes, &b->budget, b->given_up, now_ns);
	processes_check(&b->processes, now_ns);
	return b->drain.turn_ns < PROCESSES_TURN_NS ? b->drain.turn_ns : PROCESSES_TURN_NS;
}

static void detach_late(void *ctx)
{
	(void)ctx;
	tracees_detach_late();
}

static void stop(void *ctx)
{
	struct inject_beside *b = ctx;

	if (!b->is_begun) /* all processes had ended */
		return;
	processes_restore(&b->processes);
	inproc_drain_stop(&b->drain);
	processes_drain_rest(&b->processes);
	if (!b->is_asked && b->drain.lost_records)
		ring_bytes_report(&b->ring, b->drain.writer);
	processes_write_passed(&b->processes, &b->budget, b->given_up);
	inproc_drain_finish(&b->drain, clock_now_ns());
}

static void sums(void *ctx, struct session_beside_sums *sums)
{
	const struct inject_beside *b = ctx;
	const uint64_t cost_ns = inproc_drain_cost_ns(&b->drain);

	sums->calls = sums->trapped_calls = b->drain.calls;
	sums->records = b->drain.records;
	sums->lost_records = b->drain.lost_records;
	sums->cost_ns = cost_ns == UINT64_MAX ? 0 : cost_ns;
	sums->lost_most = inproc_drain_lost_most(&b->drain);
	vec_for_each (&b->drain.regions, const struct inproc_region, g)
		sums->trapped_calls += g->passed;
	vec_for_each (&b->functions, const struct patched_function, f)
		sums->functions += f->is_in;
}

/* ---- creating and freeing ---- */

int inject_beside_new(struct inject_beside **out, const struct session_options *o, struct err *err)
{
	struct inject_beside *b = xcalloc(1, sizeof(*b));
	size_t n_programs;
	int ret = refusal_of_machine(err);

	b->hooks = (struct session_beside){ .ctx = b,
					    .choose = choose,
					    .add_chosen = add_chosen,
					    .add_costly = add_costly,
					    .begin = begin,
					    .launch = launch,
					    .attach = attach,
					    .drop_untimed = drop_untimed,
					    .arguments = arguments,
					    .drain = drain,
					    .detach_late = detach_late,
					    .stop = stop,
					    .sums = sums };
	b->period = o->period ? o->period : 1;
	b->overhead = o->overhead;
	b->is_asked = o->beside_is_asked;
	if (!ret)
		ret = inject_targets_find_objects(&b->targets, o, &n_programs, err);
	if (!ret)
		ret = ring_bytes_choose(&b->ring, o, &b->targets, b->overhead > 0, err);
	if (ret) {
		inject_beside_free(b);
		return ret;
	}
	*out = b;
	return 0;
}

const struct session_beside *inject_beside_get(const struct inject_beside *b)
{
	return &b->hooks;
}

void inject_beside_free(struct inject_beside *b)
{
	if (!b)
		return;
	budget_release(&b->budget);
	free(b->given_up);
	inproc_drain_release(&b->drain);
	processes_release(&b->processes);
	patched_functions_release(&b->functions);
	vec_for_each (&b->plans, struct beside_plan, p)
		patch_plan_free(p->plan);
	vec_release(&b->plans);
	inject_targets_release(&b->targets);
	free(b);
}
