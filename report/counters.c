/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/counters.h"

#include <math.h>

#include "analysis/block.h"
#include "base/json.h"
#include "trace/meta.h"

static const struct counter_mean *mean_of(const struct block *b, const struct meta_counter *m)
{
	static const struct counter_mean none = { .mean = NAN, .mean_fast = NAN, .mean_slow = NAN };

	return b->counters.all && !*m->why ? &b->counters.all->value[m->id] : &none;
}

static struct json *mean_json(const struct counter_mean *mean)
{
	struct json *j = json_new_object();

	json_set_f64(j, "mean", mean->mean);
	json_set_f64(j, "mean_fast", mean->mean_fast);
	json_set_f64(j, "mean_slow", mean->mean_slow);
	json_set_u64(j, "calls", mean->calls);
	return j;
}

struct json *counters_json(const struct meta *meta, const struct block *b)
{
	struct json *j = json_new_object();

	if (b->kind != BLOCK_FUNCTION && b->kind != BLOCK_MARKER)
		return j;
	vec_for_each (&meta->counters, const struct meta_counter, m)
		if (*m->name)
			json_set_take(j, m->name, mean_json(mean_of(b, m)));
	return j;
}
