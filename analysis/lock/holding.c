// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/lock/holding.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "analysis/threads/call.h"
#include "trace/meta/meta.h"

#define MOST	      0.5 /* of the waits: a smaller part does not show what the holder does */
#define SAMPLES_LEAST 8	  /* fewer samples may be chance */

void holding_add(struct holding *h, const struct call *c)
{
	unsigned i = 0;

	while (i < h->n && h->parts[i].function != c->id)
		i++;
	if (i == HOLDING_PARTS)
		return;
	if (i == h->n)
		h->parts[h->n++] = (struct holding_part){ .function = c->id };
	h->parts[i].ns += c->own_ns;
	h->parts[i].runnable_ns += c->own_off.preempted_ns;
	h->parts[i].asleep_ns += c->own_off.blocked_ns + c->own_off.idle_ns;
}

static bool is_same_function(const struct meta_frame *a, const struct meta_frame *b)
{
	return !strcmp(a->symbol, b->symbol) && !strcmp(a->object, b->object);
}

/* Adds samples to their function. If there is no room, the new function replaces the one with the
 * least weight and inherits that (space saving). */
static void add_samples(struct holding_sampled *s, const struct holding_samples *more)
{
	struct holding_samples *least = &s->at[0];

	for (unsigned i = 0; i < s->n; i++) {
		if (is_same_function(s->at[i].at, more->at)) {
			s->at[i].ns += more->ns;
			return;
		}
		if (s->at[i].ns < least->ns)
			least = &s->at[i];
	}
	if (s->n < HOLDING_SAMPLED) {
		s->at[s->n++] = *more;
		return;
	}
	least->at = more->at;
	least->ns += more->ns;
}

void holding_add_sample(struct holding *h, const struct meta_frame *at, uint64_t weight_ns)
{
	h->sampled.samples++;
	h->sampled.ns += (double)weight_ns;
	if (at)
		add_samples(&h->sampled, &(struct holding_samples){ at, (double)weight_ns });
}

static void join_sampled(struct holding_sampled *into, const struct holding_sampled *from,
			 double part)
{
	into->samples += from->samples;
	into->ns += part * from->ns;
	for (unsigned i = 0; i < from->n; i++)
		add_samples(into,
			    &(struct holding_samples){ from->at[i].at, part * from->at[i].ns });
}

static void add_part(struct holding_sums *sums, const struct holding_sum *part)
{
	unsigned i = 0;

	while (i < sums->n && sums->parts[i].function != part->function)
		i++;
	if (i == HOLDING_PARTS)
		return;
	if (i == sums->n)
		sums->parts[sums->n++] = (struct holding_sum){ .function = part->function };
	sums->parts[i].ns += part->ns;
	sums->parts[i].runnable_ns += part->runnable_ns;
	sums->parts[i].asleep_ns += part->asleep_ns;
}

void holding_sum(struct holding_sums *sums, const struct holding *h, const struct offcpu *off,
		 uint64_t hold_ns, uint64_t wait_ns)
{
	double part = hold_ns ? (double)wait_ns / (double)hold_ns : 0;
	uint64_t off_ns = offcpu_ns(off);

	if (!hold_ns || off_ns > hold_ns)
		return;
	sums->wait_ns += (double)wait_ns;
	sums->runnable_ns += part * (double)off->preempted_ns;
	sums->asleep_ns += part * (double)(off->blocked_ns + off->idle_ns);
	sums->running_ns += part * (double)(hold_ns - off_ns);
	for (unsigned i = 0; i < h->n; i++)
		add_part(sums,
			 &(struct holding_sum){ h->parts[i].function, part * (double)h->parts[i].ns,
						part * (double)h->parts[i].runnable_ns,
						part * (double)h->parts[i].asleep_ns });
	join_sampled(&sums->sampled, &h->sampled, part);
}

void holding_join(struct holding_sums *into, const struct holding_sums *from)
{
	into->wait_ns += from->wait_ns;
	into->running_ns += from->running_ns;
	into->runnable_ns += from->runnable_ns;
	into->asleep_ns += from->asleep_ns;
	for (unsigned i = 0; i < from->n; i++)
		add_part(into, &from->parts[i]);
	join_sampled(&into->sampled, &from->sampled, 1);
}

/* Returns how most of the time in a function passes, or NULL if it runs. */
static const char *mostly(const struct holding_sum *part)
{
	return part->runnable_ns >= MOST * part->ns ? "waiting for a CPU"
	       : part->asleep_ns >= MOST * part->ns ? "asleep"
						    : NULL;
}

/* Names the function that most samples of a running holder are in, if they are enough. */
static void find_sampled(const struct holding_sampled *s, struct holding_most *most)
{
	if (s->samples < SAMPLES_LEAST || !(s->ns > 0))
		return;
	for (unsigned i = 0; i < s->n; i++)
		if (most->share * s->at[i].ns >= MOST * s->ns) {
			most->sampled = s->at[i].at;
			most->share *= s->at[i].ns / s->ns;
			return;
		}
}

struct holding_most holding_most(const struct holding_sums *sums)
{
	struct holding_most most = { .function = UINT32_MAX };
	double all = sums ? sums->wait_ns : 0;

	if (!(all > 0))
		return most;
	if (sums->running_ns >= MOST * all)
		most = (struct holding_most){ .function = UINT32_MAX,
					      .doing = "runs",
					      .share = sums->running_ns / all };
	else if (sums->runnable_ns >= MOST * all)
		most = (struct holding_most){ .function = UINT32_MAX,
					      .doing = "waits for a CPU",
					      .share = sums->runnable_ns / all };
	else if (sums->asleep_ns >= MOST * all)
		most = (struct holding_most){ .function = UINT32_MAX,
					      .doing = "sleeps",
					      .share = sums->asleep_ns / all };
	for (unsigned i = 0; i < sums->n; i++)
		if (sums->parts[i].ns >= MOST * all) { /* of two both have half of it */
			most.function = sums->parts[i].function;
			most.share = sums->parts[i].ns / all;
			most.mostly = mostly(&sums->parts[i]);
			return most;
		}
	if (sums->running_ns >= MOST * all)
		find_sampled(&sums->sampled, &most);
	return most;
}

const char *holding_function(const struct meta *meta, const struct holding_most *most)
{
	if (most->function < meta->functions.n)
		return meta->functions.data[most->function].name;
	return most->sampled ? most->sampled->symbol : NULL;
}
