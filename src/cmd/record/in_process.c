// SPDX-License-Identifier: GPL-3.0-or-later
/* Records with code that is put into the program. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/engine.h"
#include "cmd/record/recorder.h"
#include "probes/inject/record.h"
#include "probes/select/pattern.h"
#include "probes/session/session.h"

static bool is_wanted(const struct record_options *o, const struct session_options *so)
{
	(void)so;
	if (o->engine && strcmp(o->engine, "auto") != 0)
		return !strcmp(o->engine, "in-process");
	return engine_is_in_process();
}

#define PERIOD_MOST 100 /* beyond that, most of the cost is that of skipped calls */

/* Functions that the user names are recorded however often they are called. */
static void advise(const struct session_options *so, const struct session_result *r)
{
	const double cpu = (double)r->target_cpu_ns, cost = (double)r->probes_cost_ns;
	const double own = fmax(cpu - cost, cpu / 10); /* the cost of lost records is estimated */
	uint32_t period = so->period ? so->period : 1;
	char slowed[64] = "to a fraction of its speed", several[64] = "";

	if (patterns_only_exclude(so->patterns, so->n_patterns) || !(cost > so->overhead * own))
		return;
	if (cost < 5 * own && !r->lost_most_in_process)
		snprintf(slowed, sizeof(slowed), "by %.0f%%", 100 * cost / own);
	if (period < PERIOD_MOST) {
		for (double left = cost; left > so->overhead * own && period < PERIOD_MOST;
		     left /= 10)
			period = 10 * period < PERIOD_MOST ? 10 * period : PERIOD_MOST;
		snprintf(several, sizeof(several), "one call in several (-c %u), or ", period);
	}
	log_notice("recording slowed the program %s; record %sfewer functions (-F)", slowed,
		   several);
}

static int record(const struct record_options *o, struct session_options *so,
		  struct recorder_end *end, struct err *err)
{
	struct session_result result;
	int ret;

	if (!o->engine)
		log_notice("calls are timed in the process, as kernel probes need root");
	ret = inject_record(so, &result, err);
	if (ret)
		return ret;
	if (!result.calls)
		log_notice("no calls were seen: none of the patched functions ran meanwhile");
	advise(so, &result);
	recorder_fill_end(end, &result);
	return 0;
}

const struct recorder recorder_in_process = { RECORDER_IN_PROCESS, is_wanted, record };
