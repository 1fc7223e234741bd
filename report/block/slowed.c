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

/* Sampling (-c) and --engine in-process are alternatives to the kernel's probes only. */
void text_slow_less(const struct meta *meta, struct text *out)
{
	const char *producer = meta->session.producer;

	if (result_costs_elsewhere(meta))
		return;
	if (producer && !strcmp(producer, "bpf"))
		text_add(out, " Trace fewer functions (-F), use --engine in-process, or sample "
			      "calls (-c N).");
	else
		text_add(out, " Trace fewer functions (-F).");
}

void text_slowed_by(const struct meta *meta, double overhead, struct text *out)
{
	if (!(overhead >= RESULT_OVERHEAD_MUCH))
		return;
	text_add(out, "Recording slowed the program by ");
	text_slowed_share(overhead, out);
	text_add(out, ": all times are those of the slowed program.");
	text_slow_less(meta, out);
}

void text_slowed(const struct result *res, struct text *out)
{
	text_slowed_by(res->meta, result_slowed_much(res) ? res->overhead : NAN, out);
}
