/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/slowed.h"

#include <math.h>
#include <string.h>

#include "analysis/result/notice.h"
#include "analysis/result/result.h"
#include "base/text.h"
#include "trace/meta/meta.h"

void text_slowed_share(double overhead, struct text *out)
{
	char share[TEXT_NUMBER];

	text_printf(out, "%s%s", overhead >= META_OVERHEAD_MOST ? "over " : "",
		    text_share(share, overhead));
}

/* Sampling (-c) and --engine in-process are alternatives to the kernel's probes only. A recording
 * by both engines has timed in process what it could. */
void text_slow_less(const struct meta *meta, struct text *out)
{
	const char *producer = meta->session.producer;

	if (result_costs_elsewhere(meta))
		return;
	if (meta_has_both_engines(meta) || (producer && !strcmp(producer, "in-process")))
		text_add(out, " Trace fewer functions (-F), or sample calls (-c N).");
	else if (producer && !strcmp(producer, "bpf"))
		text_add(out, " Trace fewer functions (-F), use --engine in-process, or sample "
			      "calls (-c N).");
	else
		text_add(out, " Trace fewer functions (-F).");
}

static void add_caution(const struct meta *meta, double overhead, struct text *out)
{
	text_add(out, "Recording slowed the program by ");
	text_slowed_share(overhead, out);
	text_add(out, ": all times are those of the slowed program.");
	text_slow_less(meta, out);
}

void text_slowed(const struct result *res, struct text *out)
{
	if (result_slowed_much(res))
		add_caution(res->meta, res->overhead, out);
}

void text_slowed_by_estimate(const struct meta *meta, double span_ns, struct text *out)
{
	double cpu_ns, cost_ns, overhead;

	if (!meta_recorders_estimate(meta, &cpu_ns, &cost_ns))
		return;
	overhead = meta_overhead(cpu_ns, cost_ns);
	if (result_is_much(overhead, cost_ns / span_ns))
		add_caution(meta, overhead, out);
}
