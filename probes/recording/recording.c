/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/recording.h"

#include "probes/recording/options.h"

struct wire_totals recording_totals(const struct recording *r)
{
	struct wire_totals now = r->totals_at_stop;

	if (!r->stopped)
		bpfprog_totals(r->programs, &now);
	return now;
}

double recording_budget(const struct recording *r)
{
	return r->options->overhead + (r->has_whole_budget ? r->options->overhead_beside : 0);
}
