/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/calls/paircost.h"
#include "analysis/calls/shape.h"
#include "analysis/score/block.h"
#include "analysis/score/floor.h"
#include "analysis/score/keyed.h"
#include "analysis/score/pools.h"
#include "analysis/score/sci.h"
#include "analysis/stat/bootstrap.h"
#include "trace/meta/meta.h"

const char *block_kind_name(enum block_kind kind)
{
	static const char *const names[] = { "function", "sequence", "site",
					     "lock",	 "marker",   "thread" };

	return names[kind];
}

/* One thread's excess in a block. */
struct part {
	double excess_ns, own_excess_ns, open_ns;
};

/* Durations of the fastest calls; NAN: unknown. */
struct fastest {
	double d, own;
};

/* Returns the estimated number of all calls, of which the recorded ones are a sample. */
static double estimated(const struct sci_cell *c, uint64_t calls, uint64_t unrecorded,
			const struct block_options *o)
{
	if (c->unrecorded || c->is_told)
		return (double)(calls + unrecorded);
	return (double)calls * (o->period > 1 ? (double)o->period : 1);
}

static double estimated_calls(const struct sci_cell *c, const struct block_options *o)
{
	return estimated(c, c->calls, c->unrecorded, o);
}

static double estimated_outer(const struct sci_cell *c, const struct block_options *o)
{
	return estimated(c, c->outer_calls, c->unrecorded_outer, o);
}

/* Returns the excess of the timed calls, scaled up to the calls that sampling left out. */
static double timed_excess(uint64_t n, uint64_t sum_ns, double min, double weight)
{
	double excess = (double)sum_ns - (double)n * min;

	return n && excess > 0 ? excess * weight : 0;
}

static double open_excess(uint64_t n, uint64_t sum_ns, double min)
{
	double excess = (double)sum_ns - (double)n * min;

	return n && excess > 0 ? excess : 0;
}

static struct part part_of(const struct sci_cell *c, const struct fastest *min,
			   const struct block_options *o)
{
	double outer = c->outer_calls ? estimated_outer(c, o) / (double)c->outer_calls : 1;
	double all = c->calls ? estimated_calls(c, o) / (double)c->calls : 1;
	struct part p = { 0 };

	if (!isnan(min->d)) {
		p.open_ns = open_excess(c->open, c->open_ns, min->d);
		p.excess_ns = timed_excess(c->timed, c->timed_ns, min->d, outer) + p.open_ns;
	}
	if (!isnan(min->own))
		p.own_excess_ns = timed_excess(c->own_timed, c->own_ns, min->own, all) +
				  open_excess(c->own_open, c->own_open_ns, min->own);
	/* inner calls of the same function that sampling left out are counted as own time several
	 * times */
	if (all > 1 && p.own_excess_ns > p.excess_ns && !isnan(min->d))
		p.own_excess_ns = p.excess_ns;
	return p;
}

static double least(uint64_t seen, uint64_t baseline)
{
	uint64_t min = baseline < seen ? baseline : seen;

	return min == UINT64_MAX ? NAN : (double)min;
}

/* Whether only calls that waited for a lock are recorded. The others take no time. */
static bool is_waiting(const struct block *b, const struct sci *sci)
{
	return b->function->contended_only && !sci->of_holds;
}

static struct fastest fastest_of(const struct block *b, const struct block_options *o)
{
	uint64_t d = BLOCK_NONE, own = BLOCK_NONE;

	if (o->baseline) {
		d = o->baseline(o->baseline_ctx, b, false);
		own = o->baseline(o->baseline_ctx, b, true);
	}
	return (struct fastest){ .d = least(b->sums->min_ns, d),
				 .own = least(b->sums->own_min_ns, own) };
}

/* Replaces the fastest call if a call in a --solo window was faster. Such a call never left the
 * CPU. */
static void replace_by_solo(struct block *b, struct fastest *min)
{
	const struct solo_sums *solo = &b->sums->solo;

	b->solo.min_without_ns = isnan(min->d) ? BLOCK_NONE : (uint64_t)min->d;
	if (solo->calls && !((double)solo->min_ns >= min->d)) {
		min->d = (double)solo->min_ns;
		b->off_fastest = (struct offcpu){ 0 };
		b->solo.is_fastest = true;
	}
	if (solo->own_calls && !((double)solo->own_min_ns >= min->own)) {
		min->own = (double)solo->own_min_ns;
		b->own_off_fastest = (struct offcpu){ 0 };
		b->solo.is_fastest = true;
	}
}

static void copy_solo(struct block *b)
{
	const struct solo_sums *solo = &b->sums->solo;
	double n = (double)solo->own_calls, mean = n > 0 ? solo->own_ns / n : NAN;
	double variance = n > 1 ? (solo->own_squares - n * mean * mean) / (n - 1) : NAN;

	b->solo = (struct block_solo){ .calls = solo->calls,
				       .min_without_ns = BLOCK_NONE,
				       .sci_without = NAN,
				       .own_ns = mean,
				       .own_error_ns = sqrt(fmax(0, variance) / n) };
}

static uint64_t without(uint64_t ns, const struct offcpu *off)
{
	return ns == BLOCK_NONE || ns < off->blocked_ns ? ns : ns - off->blocked_ns;
}

/*
 * Takes the wait out of the fastest call of a function that waits for a lock or at a barrier. If
 * all calls waited, and equally long, none of them would lose anything otherwise.
 */
static void free_fastest(struct block *b, struct fastest *min)
{
	if (!isnan(min->d))
		min->d = (double)without((uint64_t)min->d, &b->off_fastest);
	if (!isnan(min->own))
		min->own = (double)without((uint64_t)min->own, &b->own_off_fastest);
	b->off_fastest.blocked_ns = b->own_off_fastest.blocked_ns = 0;
}

/* Takes the fastest call from this recording or from the baseline, with its time off the CPU from
 * the same recording. */
static void set_fastest(struct block *b, const struct sci *sci, const struct block_options *o,
			struct fastest *min)
{
	*min = is_waiting(b, sci) ? (struct fastest){ 0 } : fastest_of(b, o);
	if (is_waiting(b, sci))
		return;
	b->off_fastest = b->sums->off_fastest;
	b->own_off_fastest = b->sums->own_off_fastest;
	if (min->d < (double)b->sums->min_ns)
		o->baseline_off(o->baseline_ctx, b, false, &b->off_fastest);
	if (min->own < (double)b->sums->own_min_ns)
		o->baseline_off(o->baseline_ctx, b, true, &b->own_off_fastest);
	replace_by_solo(b, min);
	if (b->fastest_known)
		free_fastest(b, min);
}

/* Counts open calls that were shorter than the fastest call known when they ended, but are not
 * shorter than the fastest call that is known now. */
static void settle_short(struct sci *sci, const struct block *b, const struct fastest *min)
{
	vec_for_each (&b->sums->open_short, const struct sci_short, s) {
		struct sci_cell *cell = &sci->cells.data[s->slot];
		double fastest = s->own ? min->own : min->d;

		if (!(fastest <= (double)s->ns))
			continue;
		*(s->own ? &cell->own_open : &cell->open) += 1;
		*(s->own ? &cell->own_open_ns : &cell->open_ns) += s->ns;
	}
}

/* Returns whether what the block waits for is mostly the lock of an interpreter, which may be made
 * of a condition. */
static bool is_at_interpreter(const struct block *b)
{
	struct wait_part part = wait_part(b->all_threads, b->waits, "lock");

	return part.largest && wait_is_at_interpreter(b->all_threads, part.largest);
}

/* Returns whether the block mostly sleeps in a function that is known to do so between tries for a
 * lock. */
static bool is_known_to_try(const struct block *b)
{
	struct wait_part part = wait_part(b->all_threads, b->waits, "lock");

	return part.largest && part.lost_share > 0.5 &&
	       wait_is_tried_surely(b->all_threads, part.largest);
}

/* Returns whether the function is a standard one whose calls only wait until threads release a
 * lock, or reach a barrier. */
static bool waits_for_threads(const struct block *b)
{
	enum standard_wait wait = block_standard_wait(b);

	if (is_known_to_try(b))
		return true;
	return (wait == STANDARD_LOCK || wait == STANDARD_BARRIER ||
		(wait == STANDARD_CONDITION && is_at_interpreter(b))) &&
	       wait_part(b->all_threads, b->waits, "lock").lost_share +
			       wait_part(b->all_threads, b->waits, "barrier").lost_share >
		       0.5;
}

static void name_block(struct block *b, const struct sci *sci)
{
	const struct meta_function *f = b->function;
	const struct meta *meta = sci->meta;

	b->name = f->name && *f->name ? f->name : f->symbol;
	b->kind = f->block && f->block[0] == 'm' ? BLOCK_MARKER : BLOCK_FUNCTION;
	if (b->grouped) {
		if (sci->keyed->rule.kind != BLOCK_FUNCTION) /* a group of a marker's calls stays
							      * a marker */
			b->kind = sci->keyed->rule.kind;
		b->key = sci->keyed->groups.data[b->id].name;
	}
	if (f->object < meta->objects.n && meta->objects.data[f->object].path)
		b->object = &meta->objects.data[f->object];
}

uint64_t block_fast_max_ns(const struct block *b)
{
	return b->p50_ns == BLOCK_NONE ? 0 : hist_bucket_high(hist_bucket(b->p50_ns));
}

uint64_t block_slow_min_ns(const struct block *b)
{
	uint64_t fast_max_ns = block_fast_max_ns(b);

	return b->p90_ns > fast_max_ns ? b->p90_ns : fast_max_ns + 1;
}

static void copy_sums(struct block *b)
{
	const struct sci_function *f = b->sums;
	const struct hist *h = &f->durations;

	b->calls = f->calls;
	b->open_calls = f->ends[CALL_OPEN];
	b->untimed_calls = b->calls - f->ends[CALL_TIMED] - b->open_calls;
	b->timed_calls = f->ends[CALL_TIMED] - f->solo.left_out;
	b->lost_records = f->lost_records;
	b->estimated_calls = BLOCK_NONE;
	b->total_ns = b->min_ns = b->p50_ns = b->p90_ns = b->p99_ns = b->max_ns = BLOCK_NONE;
	b->self_min_ns = f->own_min_ns;
	if (!h->count)
		return;
	b->total_ns = h->sum;
	b->p50_ns = hist_quantile(h, 0.5);
	b->p90_ns = hist_quantile(h, 0.9);
	b->p99_ns = hist_quantile(h, 0.99);
	b->max_ns = h->max;
}

/* summed_up: the number of ended threads that p stands for, too short for a score of their own; 0:
 * p is of one thread. */
static void add_part(struct block *b, const struct part *p, double observed, double duration,
		     uint64_t summed_up)
{
	b->threads += summed_up ? (uint32_t)summed_up : 1;
	b->observed_ns += (uint64_t)observed;
	b->sci += p->excess_ns;
	b->self_sci += p->own_excess_ns;
	b->open_ns += (uint64_t)(p->open_ns + 0.5);
	if (!summed_up && observed > 0 && observed >= 0.01 * duration &&
	    !(p->excess_ns / observed <= b->sci_worst_thread))
		b->sci_worst_thread = p->excess_ns / observed;
}

/* Adds how long nothing held a thread up, and how much of that it asked for a CPU. Of ended threads
 * that were summed up neither is known. */
static void add_asked(struct block *b, const struct threads *th, const struct thread *t,
		      const struct block_options *o)
{
	if (t == th->rest || o->observed_ns)
		return;
	b->free_ns += thread_free_ns(th, t);
	b->asked_ns += thread_asked_ns(th, t);
}

static double observed_ns(const struct sci *sci, const struct slot *s, const struct sci_cell *cell,
			  const struct block_options *o)
{
	const struct threads *th = &sci->calls->threads;

	if (th->all.data[s->thread] == th->rest)
		return (double)cell->ended_observed_ns;
	if (o->observed_ns)
		return (double)o->observed_ns(o->observed_ctx, th->all.data[s->thread]);
	return (double)thread_observed_ns(th, th->all.data[s->thread], sci_function_id(sci, s->id));
}

/* Calls of some thread were left out: then the number is that of all threads, also of those each of
 * whose calls was recorded. */
static void find_sampled(struct blocks *blocks, struct sci *sci, const uint32_t *block_of,
			 const struct block_options *o)
{
	for (uint32_t slot = 1; slot < sci->cells.n; slot++) {
		const struct sci_cell *cell = &sci->cells.data[slot];

		if (cell->unrecorded || (cell->calls && o->period > 1))
			blocks->data[block_of[sci_slot(sci, slot)->id]].estimated_calls = 0;
	}
}

static void add_threads(struct blocks *blocks, struct sci *sci, const uint32_t *block_of,
			const struct fastest *min, const struct block_options *o)
{
	find_sampled(blocks, sci, block_of, o);
	for (uint32_t slot = 1; slot < sci->cells.n; slot++) {
		const struct sci_cell *cell = &sci->cells.data[slot];
		const struct slot *s;
		struct block *b;
		struct part part;
		uint32_t i;

		if (!cell->calls && !cell->unrecorded)
			continue; /* in a part of the recording, of a function without calls there
				   */
		s = sci_slot(sci, slot);
		i = block_of[s->id];
		b = &blocks->data[i];
		b->outer_calls += cell->outer_calls;
		part = part_of(cell, &min[i], o);
		add_part(b, &part, observed_ns(sci, s, cell, o), (double)o->duration_ns,
			 cell->ended);
		add_asked(b, &sci->calls->threads, sci->calls->threads.all.data[s->thread], o);
		if (b->estimated_calls != BLOCK_NONE) {
			b->estimated_calls += (uint64_t)(estimated_calls(cell, o) + 0.5);
			b->estimated_outer += estimated_outer(cell, o);
		}
	}
}

static void bound(struct block *b, double excess_ns, double observed)
{
	double all = b->estimated_outer;
	struct bootstrap error = bootstrap_mean(&b->sums->durations, all);
	double mean = b->timed_calls ? excess_ns / (double)b->timed_calls : 0;

	b->sci_low = b->sci - error.low * all / observed - (isnan(b->floor) ? 0 : b->floor);
	if (b->sci_low < 0)
		b->sci_low = 0;
	b->sci_high =
		b->sci + error.high * all / observed + (double)b->untimed_calls * mean / observed;
}

static void add_shapes(struct block *b, double excess_ns, double observed)
{
	const struct shapes *s = b->sums->shapes;
	double timed = (double)b->sums->durations.sum -
		       (double)b->sums->durations.count * (double)b->min_ns;

	b->shapes = b->sums->durations.count ? 1 : 0;
	b->sci_by_shape = b->sci;
	if (!s)
		return;
	b->shapes = s->n;
	b->shapes_overflow = s->rows[0].calls;
	/* the paths' share of the timed excess is also that of the estimated excess */
	if (timed > 0)
		b->sci_by_shape = excess_ns * (shapes_excess_ns(s) / timed) / observed;
}

static void no_score(struct block *b)
{
	b->sci = b->self_sci = b->sci_by_shape = b->sci_worst_thread = b->lost_threads = NAN;
	b->excess_ns = b->self_excess_ns = b->open_ns = BLOCK_NONE;
}

static double at_most_1(double score)
{
	return score > 1 ? 1 : score; /* NAN stays NAN */
}

/* A thread cannot spend more time in a block than it was observed. An estimate from few calls, one
 * of them long, may still do so; then only the interval is known. */
static void bound_estimate(struct block *b)
{
	if (b->estimated_calls == BLOCK_NONE)
		return;
	b->sci_low = at_most_1(b->sci_low);
	b->sci_high = at_most_1(b->sci_high);
	if (b->sci > SCI_OVER) {
		no_score(b);
		return;
	}
	b->sci = at_most_1(b->sci);
	b->self_sci = at_most_1(b->self_sci);
	b->sci_worst_thread = at_most_1(b->sci_worst_thread);
	b->sci_by_shape = at_most_1(b->sci_by_shape);
}

/* Scores the block without the calls of --solo's windows. */
static void score_without_solo(struct block *b, double excess, double observed)
{
	double n = block_weight_outer(b) * (double)b->sums->durations.count;
	double more = (double)b->solo.min_without_ns - (double)b->min_ns;

	if (b->solo.min_without_ns != BLOCK_NONE)
		b->solo.sci_without = fmax(0, excess - n * more) / observed;
}

/* Turns the sums of excess into scores. */
static void score(struct block *b, const struct fastest *min, const struct block_options *o)
{
	double excess = b->sci, own = b->self_sci, observed = (double)b->observed_ns;

	b->lost_threads = o->duration_ns ? own / (double)o->duration_ns : NAN;
	b->excess_ns = (uint64_t)(excess + 0.5);
	b->self_excess_ns = (uint64_t)(own + 0.5);
	if (isnan(min->d) || !(observed > 0)) {
		no_score(b);
		b->sci_low = b->sci_high = b->floor = NAN;
		return;
	}
	b->min_ns = (uint64_t)min->d;
	b->self_min_ns = isnan(min->own) ? BLOCK_NONE : (uint64_t)min->own;
	b->sci = excess / observed;
	b->self_sci = own / observed;
	score_without_solo(b, excess, observed);
	b->period = o->period;
	b->floor = floor_ns(b) / observed;
	bound(b, excess, observed);
	add_shapes(b, excess, observed);
	bound_estimate(b);
}

static void begin_block(struct block *b, const struct sci *sci, uint32_t id)
{
	uint32_t function = sci_function_id(sci, id);

	b->grouped = sci->keyed;
	b->id = id;
	b->function = &sci->meta->functions.data[function];
	b->sums = sci_function(sci, id);
	b->cost = &calls_costs(sci->calls)[function];
	b->waits = &b->sums->waits;
	b->all_threads = &sci->calls->threads;
	block_reconsider(sci_function(sci, id), b->all_threads);
	b->off_known = sci->calls->threads.have_switch;
	b->sci_worst_thread = NAN;
	name_block(b, sci);
	b->fastest_known = !sci->of_holds && waits_for_threads(b);
	copy_sums(b);
	copy_solo(b);
}

void blocks_build(struct blocks *blocks, struct sci *sci, const struct block_options *o)
{
	const size_t first = blocks->n;
	uint32_t *block_of = xmalloc((sci->functions.n + 1) * sizeof(*block_of));
	struct fastest *min = xmalloc((first + sci->functions.n + 1) * sizeof(*min));

	for (uint32_t id = 0; id < sci->functions.n; id++) {
		struct block *b;

		block_of[id] = MAP_NONE;
		if (!sci_function(sci, id))
			continue;
		block_of[id] = (uint32_t)blocks->n;
		b = vec_add(blocks);
		begin_block(b, sci, id);
		b->counters = (b->grouped ? counters_of_group : counters_of)(o->counters, id,
									     b->p50_ns, b->p90_ns);
		set_fastest(b, sci, o, &min[blocks->n - 1]);
		settle_short(sci, b, &min[blocks->n - 1]);
	}
	add_threads(blocks, sci, block_of, min, o);
	for (size_t i = first; i < blocks->n; i++) {
		struct block *b = &blocks->data[i];

		score(b, &min[i], o);
		block_fill_pools(b);
		b->never_fast = block_never_fast(b);
		block_set_idle(b, o->duration_ns);
		workload_fit(&b->sums->workload, b->cost->known ? b->cost->inner_min_ns : 0,
			     &b->fit);
	}
	free(min);
	free(block_of);
}

static uint64_t in_cycles(uint64_t ns, double cycles_per_ns)
{
	return ns == BLOCK_NONE || isnan(cycles_per_ns)
		       ? BLOCK_NONE
		       : (uint64_t)(cycles_per_ns * (double)ns + 0.5);
}

void blocks_count_cycles(struct blocks *blocks, double cycles_per_ns)
{
	vec_for_each (blocks, struct block, b) {
		const struct cycle_summary *stamped = &b->counters.cycles;

		b->min_cycles = in_cycles(b->min_ns, cycles_per_ns);
		b->p50_cycles = in_cycles(b->p50_ns, cycles_per_ns);
		b->p99_cycles = in_cycles(b->p99_ns, cycles_per_ns);
		if (!stamped->calls)
			continue;
		b->min_cycles = stamped->min;
		b->p50_cycles = stamped->p50;
		b->p99_cycles = stamped->p99;
	}
}

void block_release(struct block *b)
{
	causes_release(&b->causes);
	block_counters_release(&b->counters);
	vec_release(&b->coactive);
}

void blocks_release(struct blocks *blocks)
{
	vec_for_each (blocks, struct block, b)
		block_release(b);
	vec_release(blocks);
}

double *blocks_thread_excess(const struct blocks *blocks, struct sci *sci,
			     const struct block_options *o)
{
	const struct threads *th = &sci->calls->threads;
	double *excess = xcalloc(th->all.n + 1, sizeof(*excess));
	const struct block **of = xcalloc(sci->functions.n + 1, sizeof(*of));

	vec_for_each (blocks, const struct block, b)
		if (b->in_lost)
			of[b->id] = b;
	for (uint32_t slot = 1; slot < sci->cells.n; slot++) {
		const struct slot *s = sci_slot(sci, slot);
		const struct block *b = of[s->id];
		struct fastest min;

		if (!b)
			continue;
		min = (struct fastest){
			.d = NAN, .own = b->self_min_ns == BLOCK_NONE ? NAN : (double)b->self_min_ns
		};
		excess[s->thread] +=
			b->lost_share * part_of(&sci->cells.data[slot], &min, o).own_excess_ns;
	}
	free(of);
	return excess;
}
