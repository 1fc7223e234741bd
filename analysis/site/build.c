/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was gathered of places where threads wait becomes blocks. */
#include <math.h>
#include <stdlib.h>

#include "analysis/cause/cause.h"
#include "analysis/cause/verdict.h"
#include "analysis/site/site.h"
#include "base/text.h"
#include "trace/meta/meta.h"

#define IDLE_MUCH 0.01 /* threads that wait for work: fewer are not worth a verdict */

static void copy_sums(struct block *b, const struct site *site)
{
	const struct hist *h = &site->sleeps;

	b->calls = h->count + site->open;
	b->timed_calls = h->count;
	b->open_calls = site->open;
	b->estimated_calls = BLOCK_NONE;
	b->total_ns = b->min_ns = b->p50_ns = b->p90_ns = b->p99_ns = b->max_ns = BLOCK_NONE;
	if (!h->count)
		return;
	b->total_ns = h->sum;
	b->min_ns = h->min;
	b->p50_ns = hist_quantile(h, 0.5);
	b->p90_ns = hist_quantile(h, 0.9);
	b->p99_ns = hist_quantile(h, 0.99);
	b->max_ns = h->max;
	b->shapes = 1;
}

static double excess_of(const struct site_cell *c, const struct site *site, double *open)
{
	double min = (double)site->sleeps.min;

	*open = (double)c->open_ns - (double)c->open * min;
	if (*open < 0 || !site->sleeps.count)
		*open = 0;
	return (double)c->ns - (double)c->sleeps * min + *open;
}

static void add_cell(struct sites *s, struct block *b, const struct site_cell *c,
		     const struct block_options *o)
{
	const struct threads *th = &s->calls->threads;
	double observed = c->ended ? (double)c->ended_observed_ns
				   : (double)thread_watched_ns(th, th->all.data[c->thread]);
	double open, excess = excess_of(c, &s->all.data[c->site], &open);

	if (!c->sleeps && !c->open)
		return;
	b->threads += c->ended ? (uint32_t)c->ended : 1;
	b->observed_ns += (uint64_t)observed;
	b->excess_ns += (uint64_t)(excess + 0.5);
	b->open_ns += (uint64_t)(open + 0.5);
	if (!c->ended && observed > 0 && observed >= 0.01 * (double)o->duration_ns &&
	    !(excess / observed <= b->sci_worst_thread))
		b->sci_worst_thread = excess / observed;
}

/* Waiting for work has no fastest that it could be compared with: all of it is idle, however few.
 */
static void take_as_idle(struct block *b, const struct site *site, const struct block_options *o)
{
	if (!o->duration_ns)
		return;
	b->idle_threads = (double)site->idle_ns / (double)o->duration_ns;
	if (b->verdict == VERDICT_TOO_FEW_CALLS && b->idle_threads >= IDLE_MUCH)
		b->verdict = VERDICT_IDLE;
}

static void score(struct block *b, const struct site *site, const struct block_options *o)
{
	double observed = (double)b->observed_ns, excess = (double)b->excess_ns;
	double slept = (double)(site->blocked_ns + site->idle_ns);

	b->self_excess_ns = b->excess_ns;
	b->self_min_ns = b->min_ns;
	b->sci = site->sleeps.count && observed > 0 ? excess / observed : NAN;
	b->sci_low = b->sci_high = b->self_sci = b->sci_by_shape = b->sci;
	b->lost_threads = o->duration_ns ? excess / (double)o->duration_ns : NAN;
	b->floor = 0;
	b->fit = workload_no_fit();
	b->off_known = true;
	b->off_cpu_ns = excess;
	if (slept > 0) {
		b->pools[POOL_BLOCKED] = excess * (double)site->blocked_ns / slept;
		b->pools[POOL_IDLE] = excess * (double)site->idle_ns / slept;
	}
	block_take_idle(b, o->duration_ns);
	b->verdict = block_verdict(b);
	if (site->idle)
		take_as_idle(b, site, o);
	causes_find(b, b->all_threads->meta);
}

static void reconsider(struct site *site, const struct threads *th)
{
	struct offcpu off = { .blocked_ns = site->blocked_ns, .idle_ns = site->idle_ns };

	offcpu_shift(&off, wait_reconsider(th, &site->waits));
	site->blocked_ns = off.blocked_ns;
	site->idle_ns = off.idle_ns;
}

/* ---- parts become whole sites ---- */

static uint64_t whole_key(uint32_t name, enum word_class class, bool idle)
{
	return (uint64_t)name << 32 | (uint32_t) class * 2 | idle;
}

static void add_part(struct site *whole, struct site *part)
{
	hist_merge(&whole->sleeps, &part->sleeps);
	wait_merge(&whole->waits, &part->waits);
	whole->blocked_ns += part->blocked_ns;
	whole->idle_ns += part->idle_ns;
	whole->open += part->open;
	hist_release(&part->sleeps);
	vec_release(&part->waits);
}

static void judge_part(struct site *part, const struct threads *th)
{
	reconsider(part, th);
	if (part->word != SLEEP_NOBODY)
		part->class = word_judge(&th->futexes.all.data[part->word]).class;
	part->idle = part->idle_ns > part->blocked_ns;
}

/* whole_of[part]; the wholes take the first places. */
static void join_parts(struct sites *s, uint32_t *whole_of)
{
	uint32_t n = 0;

	map_release(&s->site_of);
	for (uint32_t i = 0; i < s->all.n; i++) {
		struct site part = s->all.data[i];
		uint64_t key;

		judge_part(&part, &s->calls->threads);
		key = whole_key(part.name, part.class, part.idle);
		whole_of[i] = map_get(&s->site_of, key);
		if (whole_of[i] != MAP_NONE) {
			add_part(&s->all.data[whole_of[i]], &part);
			continue;
		}
		map_put(&s->site_of, key, n);
		part.word = SLEEP_NOBODY;
		s->all.data[n] = part;
		whole_of[i] = n++;
	}
	s->all.n = n;
}

/* Rows of (site, thread) and of (site, stack) whose sites are one now are one. */
static void join_cells(struct sites *s, const uint32_t *whole_of)
{
	size_t n = 0;

	map_release(&s->cell_of);
	vec_for_each (&s->cells, struct site_cell, from) {
		uint64_t key = (uint64_t)whole_of[from->site] << 32 | from->thread;
		uint32_t i = map_get(&s->cell_of, key);

		if (i == MAP_NONE) {
			map_put(&s->cell_of, key, (uint32_t)n);
			s->cells.data[n] = *from;
			s->cells.data[n++].site = whole_of[from->site];
			continue;
		}
		s->cells.data[i].sleeps += from->sleeps;
		s->cells.data[i].ns += from->ns;
		s->cells.data[i].open += from->open;
		s->cells.data[i].open_ns += from->open_ns;
	}
	s->cells.n = n;
}

static void join_visits(struct sites *s, const uint32_t *whole_of)
{
	size_t n = 0;

	map_release(&s->visits_of);
	vec_for_each (&s->visits, struct site_visit, from) {
		uint64_t key = (uint64_t)whole_of[from->site] << 32 | from->stack;
		uint32_t i = map_get(&s->visits_of, key);

		if (i == MAP_NONE) {
			map_put(&s->visits_of, key, (uint32_t)n);
			s->visits.data[n] = *from;
			s->visits.data[n++].site = whole_of[from->site];
			continue;
		}
		s->visits.data[i].sleeps += from->sleeps;
	}
	s->visits.n = n;
}

static bool is_there(const struct sites *s, uint32_t name, enum word_class class, bool idle)
{
	return map_get(&s->site_of, whole_key(name, class, idle)) != MAP_NONE;
}

static bool has_other_class(const struct sites *s, const struct site *site)
{
	for (unsigned class = 0; class < WORD_CLASSES; class ++)
		if (class != site->class &&
		    (is_there(s, site->name, class, false) || is_there(s, site->name, class, true)))
			return true;
	return false;
}

/* One stack may be of waits at locks and of others, idle and not: these differ by name, too. */
static const char *full_name(struct sites *s, const struct site *site)
{
	static const char *const at[WORD_CLASSES] = {
		[WORD_LOCK] = "locks",
		[WORD_BARRIER] = "barriers",
	};
	const char *name = strtab_get(&s->names, site->name);
	struct text full = { 0 };

	text_add(&full, name);
	if (at[site->class] && has_other_class(s, site))
		text_printf(&full, ", at %s", at[site->class]);
	if (site->idle && is_there(s, site->name, site->class, false))
		text_add(&full, ", idle");
	name = strtab_get(&s->names, strtab_add(&s->names, full.s));
	text_release(&full);
	return name;
}

void sites_build(struct sites *s, const struct block_options *o, struct blocks *blocks,
		 double *lost_ns)
{
	uint32_t *whole_of = xcalloc(s->all.n + 1, sizeof(*whole_of));
	size_t first = blocks->n;
	double open;

	join_parts(s, whole_of);
	join_cells(s, whole_of);
	join_visits(s, whole_of);
	free(whole_of);
	for (size_t i = 0; i < s->all.n; i++) {
		struct block *b = vec_add(blocks);

		b->kind = BLOCK_SITE;
		b->id = (uint32_t)i;
		b->name = full_name(s, &s->all.data[i]);
		b->sci_worst_thread = NAN;
		copy_sums(b, &s->all.data[i]);
		b->waits = &s->all.data[i].waits;
		b->all_threads = &s->calls->threads;
	}
	vec_for_each (&s->cells, const struct site_cell, c)
		add_cell(s, &blocks->data[first + c->site], c, o);
	for (size_t i = 0; i < s->all.n; i++)
		score(&blocks->data[first + i], &s->all.data[i], o);
	for (size_t i = first; i < blocks->n; i++)
		blocks->data[i].in_lost = blocks->data[i].verdict == VERDICT_INTERFERENCE;
	vec_for_each (&s->cells, const struct site_cell, c)
		if (blocks->data[first + c->site].in_lost)
			lost_ns[c->thread] += blocks->data[first + c->site].lost_share *
					      excess_of(c, &s->all.data[c->site], &open);
}
