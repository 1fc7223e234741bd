/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "analysis/cause/work.h"
#include "analysis/score/block.h"
#include "analysis/score/pools.h"
#include "analysis/score/sci.h"
#include "base/text.h"
#include "trace/meta/argument.h"
#include "trace/meta/meta.h"

#define R2_MIN	   0.95
#define RATIO_MIN  2
#define SPINS_MAX  0.25 /* of the samples in slow calls */
#define OTHERS_MAX 0.5	/* of the slow calls' time while others run concurrently */
#define MOST	   0.5
#define ALONE_MAX  0.05 /* other threads that ran during its calls */
/* times the fastest call: the effect of other programs on caches is smaller */
#define ALONE_TIMES 10
#define TIMES	    30	  /* the same while other threads run that make no difference */
#define PART_MIN    0.005 /* smaller shares would print as 0 % */

static bool spins(const struct block *b)
{
	const struct block_samples *s = &b->samples;

	return s->slow >= SAMPLES_MIN && s->slow_spins + s->slow_at_barrier > SPINS_MAX * s->slow;
}

/*
 * Returns the excess without the time in which other programs had the CPUs. The block does not
 * cause that time, which is most of the excess on a busy machine.
 */
static double own_world_ns(const struct block *b)
{
	return block_pools_ns(b) - block_foreign_ns(b);
}

static bool waits(const struct block *b)
{
	double off_ns = b->off_cpu_ns - block_foreign_ns(b);

	return !b->off_known || off_ns > own_world_ns(b) / 2 || spins(b);
}

/* Whether the share of the excess is most of what other programs left. */
static bool is_most(const struct block *b, double share)
{
	return own_world_ns(b) > 0 && share * block_pools_ns(b) >= MOST * own_world_ns(b);
}

/*
 * Whether samples show what the block does. A thread that spins runs more instructions, too, and
 * only samples can tell that it does not spin.
 */
static bool seen_working(const struct block *b)
{
	return b->samples.slow >= SAMPLES_MIN;
}

static bool others_at_work(const struct block *b)
{
	vec_for_each (&b->coactive, const struct coactive, c)
		if (c->part != COACTIVE_CPU && c->share > OTHERS_MAX)
			return true;
	return false;
}

static const struct counter_mean *instructions(const struct block *b, const struct meta *meta)
{
	return counter_role(b->counters.all, meta, "instructions");
}

static double instructions_r2(const struct block *b, const struct meta *meta)
{
	const struct counter_mean *m = instructions(b, meta);

	if (!m || !(m->mean_slow >= RATIO_MIN * m->mean_fast))
		return NAN;
	return b->counters.all->r2[m - b->counters.all->value];
}

/*
 * Whether nothing disturbed the calls: no other thread ran more during slow calls, and none was
 * seen to spin. For calls that were only added up, which are the fast ones, it is unknown what ran
 * concurrently.
 */
static bool undisturbed(const struct block *b)
{
	return !(b->sums && b->sums->brief) && b->coactive.measured && !others_at_work(b) &&
	       seen_working(b);
}

/*
 * Returns the growth with the call's number, of the fastest or the median calls, whichever accounts
 * for more, or NULL if durations do not grow.
 */
static const struct workload_growth *growth_of(const struct block *b)
{
	const struct workload_fit *fit = &b->fit;
	bool fastest = workload_grows(fit) && !others_at_work(b);

	if (workload_mostly_grows(fit) && undisturbed(b) &&
	    !(fastest && fit->fastest.share >= fit->median.share))
		return &fit->median;
	return fastest ? &fit->fastest : NULL;
}

/*
 * Whether durations follow an argument. The work of other threads may grow with time as well, and
 * so may the waits that it causes.
 */
static bool follows_argument(const struct block *b)
{
	return axis_follows(&b->fit.argument) && !(b->fit.argument.in_time && others_at_work(b));
}

static struct work by_growth(const struct block *b, const struct workload_growth *growth)
{
	return (struct work){ .by = WORK_CALL_INDEX,
			      .share = growth->share,
			      .median = growth == &b->fit.median };
}

/*
 * Returns the mean running time of a call beyond the fastest call, as a multiple of the fastest
 * call.
 */
static double times_fastest(const struct block *b)
{
	double all_ns = b->pools[POOL_RUNNING] + b->pools[POOL_CALLEE];

	return b->timed_calls && b->min_ns && b->min_ns != BLOCK_NONE
		       ? all_ns / (double)b->timed_calls / (double)b->min_ns
		       : 0;
}

/*
 * Returns the proof that running time is many times that of the fastest call without any
 * disturbance. It does not count if the kernel takes most of the time, because faults and the work
 * of others may take any time there.
 */
static struct work differs_undisturbed(const struct block *b, const struct block *whole)
{
	bool alone = whole->coactive.others < ALONE_MAX;

	/* the fastest calls had no other thread beside them, which all other calls may have had */
	if (whole->solo.is_fastest)
		return (struct work){ 0 };
	if (waits(whole) || !undisturbed(whole) ||
	    whole->samples.kernel_ns > whole->samples.own_ns / 2 ||
	    times_fastest(b) < (alone ? ALONE_TIMES : TIMES))
		return (struct work){ 0 };
	return (struct work){ WORK_UNDISTURBED, .share = 1, .alone = alone };
}

struct work work_proof(const struct block *b, const struct block *whole, const struct meta *meta)
{
	const struct workload_growth *growth = growth_of(b);
	const struct workload_fit *fit = &b->fit;

	if (waits(b))
		return (struct work){ 0 };
	if (follows_argument(b) && is_most(b, fit->argument.share))
		return (struct work){ WORK_ARGUMENT, .share = fit->argument.share };
	if (growth && is_most(b, growth->share))
		return by_growth(b, growth);
	if (fit->children_r2 >= R2_MIN)
		return (struct work){ WORK_CALLS_INSIDE, .share = fit->children_r2 };
	if (instructions_r2(b, meta) >= R2_MIN && seen_working(b) && !others_at_work(b))
		return (struct work){ WORK_INSTRUCTIONS, .share = instructions_r2(b, meta) };
	return differs_undisturbed(b, whole);
}

static struct work part_of(const struct block *b)
{
	const struct workload_growth *growth = growth_of(b);

	if (follows_argument(b))
		return (struct work){ WORK_ARGUMENT, .share = b->fit.argument.share };
	return growth ? by_growth(b, growth) : (struct work){ 0 };
}

/*
 * Returns at most the running share: calls that wait longer and longer, or longer for one argument,
 * do not do more work because of that.
 */
struct work work_part(const struct block *b)
{
	struct work part = b->off_known && !spins(b) ? part_of(b) : (struct work){ 0 };
	double running = b->pools[POOL_RUNNING] / block_pools_ns(b);

	if (part.share > running)
		part.share = running;
	return part.share > PART_MIN ? part : (struct work){ 0 };
}

static const char *argument_name(const struct block *b)
{
	const struct meta_function *f = b->function;

	for (uint32_t i = 0; f && i < f->n_arguments; i++)
		if (f->arguments[i].bit + 1 == b->fit.argument_number)
			return f->arguments[i].name;
	return NULL;
}

uint32_t work_argument(const struct block *b)
{
	return b->function ? meta_argument_of_bit(b->function, b->fit.argument_number - 1)
			   : b->fit.argument_number;
}

static void describe_argument(const struct block *b, struct text *out)
{
	const struct workload_fit *fit = &b->fit;
	const char *name = argument_name(b);

	if (work_argument(b) >= ARGUMENT_UNPLACED) {
		text_printf(out, "its fastest calls follow the argument %s", name ? name : "");
	} else {
		text_printf(out, "its fastest calls follow argument %u", work_argument(b));
		if (name && strncmp(name, "arg", 3) != 0)
			text_printf(out, " (%s)", name);
	}
	text_printf(out,
		    ", which makes them up to %.1f times as long and accounts for %.0f%% of the "
		    "excess (r2 %.2f)",
		    fit->argument.ratio, 100 * fit->argument.share, fit->argument.r2);
}

static void describe_growth(const struct block *b, struct text *out)
{
	const struct workload_growth *growth = growth_of(b);
	bool median = growth == &b->fit.median;

	if (!growth)
		return;
	text_printf(out,
		    "its %s calls grow with the number of the call, %.1f times "
		    "from the first to the last, which accounts for %.0f%% of the excess "
		    "(r2 %.2f)",
		    median ? "median" : "fastest", growth->ratio, 100 * growth->share, growth->r2);
	if (median)
		text_add(out, "; no other thread was at work more in slow calls");
}

void work_describe(const struct block *b, const struct meta *meta, const struct work *work,
		   struct text *out)
{
	const struct workload_fit *fit = &b->fit;

	switch (work->by) {
	case WORK_ARGUMENT:
		describe_argument(b, out);
		break;
	case WORK_CALL_INDEX:
		describe_growth(b, out);
		break;
	case WORK_CALLS_INSIDE:
		text_printf(out, "durations follow the number of traced calls inside (r2 %.2f)",
			    fit->children_r2);
		break;
	case WORK_INSTRUCTIONS:
		text_printf(out,
			    "time on a CPU follows the instructions (r2 %.2f), %.1f times as many "
			    "in slow calls",
			    instructions_r2(b, meta),
			    instructions(b, meta)->mean_slow / instructions(b, meta)->mean_fast);
		break;
	case WORK_UNDISTURBED:
		text_printf(out, "%.0f times the fastest call's time on a CPU, while ",
			    times_fastest(b));
		text_add(out, work->alone ? "no other thread of the program ran"
					  : "no other thread was at work more than in fast calls, "
					    "and none was seen to spin");
		break;
	case WORK_UNPROVEN:
		break;
	}
}
