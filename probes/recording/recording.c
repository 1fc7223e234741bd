/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probes/recording/recording.h"

struct wire_totals recording_totals(const struct recording *r)
{
	struct wire_totals now = r->totals_at_stop;

	if (!r->stopped)
		bpfprog_totals(r->programs, &now);
	return now;
}
