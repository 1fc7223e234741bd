/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/fleet/pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/fleet/internal.h"
#include "probes/cost/watchcost.h"

#define COUNTED_WINDOW_NS  1000000000ull
#define RECORDED_WINDOW_NS 10000000000ull /* longer, because placing probes takes a while */

static uint64_t cpu_of(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static uint64_t own_cpu_ns(const struct fleet_pace *p)
{
	return cpu_of(RUSAGE_SELF) + (p->children ? cpu_of(RUSAGE_CHILDREN) : 0);
}

/* ON/PERIOD, two times. */
static int parse_duty(struct fleet_pace *p, const struct fleet_args *a, bool counters,
		      struct err *err)
{
	const char *slash = strchr(a->duty, '/');
	char *on = slash ? xstrndup(a->duty, (size_t)(slash - a->duty)) : NULL;
	bool wrong = !slash || text_parse_time(on, 1000000000, &p->on_ns) ||
		     text_parse_time(slash + 1, 1000000000, &p->period_ns) || !p->on_ns ||
		     p->on_ns >= p->period_ns;

	free(on);
	if (!wrong && (a->pid || counters) && (a->duration_ns || a->dir || a->to))
		return 0;
	return args_refuse(
		err,
		"--duty: not a part of the time; give ON/PERIOD, two times such as 1s/10s, with a process "
		"(-p) and for how long (-d, --dir or --to)");
}

int fleet_pace_init(struct fleet_pace *p, const struct fleet_args *a, bool counters,
		    struct err *err)
{
	*p = (struct fleet_pace){ .bound = a->cost / 100, .children = a->pid };
	if (a->duty && a->cost > 0)
		return args_refuse(err, "--duty and --cost both say how much is watched; give one");
	if (a->cost < 0 || a->cost >= 100)
		return args_refuse(err, "--cost is a part of the CPUs' time in percent; give more "
					"than 0, less than 100");
	if (a->cost > 0 && ((!a->pid && !counters) || !(a->duration_ns || a->dir || a->to)))
		return args_refuse(
			err,
			"--cost: nothing to compare; give a process (-p) and for how long (-d, --dir or --to)");
	if (a->duty)
		return parse_duty(p, a, counters, err);
	if (counters || a->cost > 0 || a->dir || (a->to && a->pid))
		p->on_ns = counters ? COUNTED_WINDOW_NS : RECORDED_WINDOW_NS;
	if (a->cost > 0 && !counters)
		p->on_ns = COUNTED_WINDOW_NS;
	p->period_ns = p->on_ns;
	return 0;
}

void fleet_pace_begin(struct fleet_pace *p, uint32_t cpus, bool counters)
{
	struct watchcost each;

	watchcost_measure(&each, counters);
	p->record_ns = each.record_ns;
	p->sample_ns = each.sample_ns;
	p->cpus = cpus;
	p->begin_ns = p->counted_ns = clock_now_ns();
	p->own_begin_ns = own_cpu_ns(p);
}

static double available(const struct fleet_pace *p, uint64_t now_ns)
{
	return p->available_ns + (double)(now_ns - p->counted_ns) * p->cpus;
}

void fleet_pace_cpus(struct fleet_pace *p, uint32_t cpus)
{
	uint64_t now_ns = clock_now_ns();

	p->available_ns = available(p, now_ns);
	p->counted_ns = now_ns;
	p->cpus = cpus;
}

bool fleet_pace_is_steady(const struct fleet_pace *p)
{
	return !(p->bound > 0) && p->period_ns <= p->on_ns;
}

double fleet_pace_cost(const struct fleet_pace *p, double *own_ns)
{
	*own_ns = (double)(own_cpu_ns(p) - p->own_begin_ns);
	return *own_ns + (double)p->records * p->record_ns + (double)p->samples * p->sample_ns +
	       p->probes_ns;
}

/*
 * If there is a bound, the next window begins so late that the average cost is below the bound at
 * its end, if it costs as much as the latest window.
 */
uint64_t fleet_pace_next(struct fleet_pace *p, uint64_t from_ns, uint64_t now_ns)
{
	double own_ns, cost_ns = fleet_pace_cost(p, &own_ns);
	uint64_t next_ns = from_ns + p->period_ns, end_ns = p->counted_ns;
	double missing_ns;

	p->latest_ns = cost_ns - p->cost_before_ns;
	p->cost_before_ns = cost_ns;
	if (!(p->bound > 0))
		return next_ns;
	missing_ns = (cost_ns + p->latest_ns) / p->bound - p->available_ns;
	end_ns += missing_ns > 0 ? (uint64_t)(missing_ns / p->cpus) : 0;
	return end_ns > now_ns + p->on_ns ? end_ns - p->on_ns : now_ns;
}

const char *fleet_pace_say(const struct fleet_pace *p, char *buf)
{
	uint64_t now_ns = clock_now_ns();
	double own_ns, cost_ns = fleet_pace_cost(p, &own_ns), all_ns = available(p, now_ns);

	snprintf(buf, FLEET_PACE_TEXT,
		 "%.2f%% of their time (%.2f%% its own, %.2f%% taken from others), %.0f%% of "
		 "it were watched",
		 100 * cost_ns / all_ns, 100 * own_ns / all_ns, 100 * (cost_ns - own_ns) / all_ns,
		 100 * (double)p->watched_ns / (double)(now_ns - p->begin_ns));
	return buf;
}
