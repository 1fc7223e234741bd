// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/screen/spin.h"

#include <stdio.h>

#include "analysis/evidence/untold.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "base/text.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/untold.h"
#include "report/table/table.h"

#define SPINS_LEAST 0.1 /* of the CPU time: less gets no sentence */
#define SPINS_MOST  0.5 /* of the spinning: a function with this much is named alone */

bool report_spins(const struct untold_functions *untold)
{
	return untold->n && untold->spins >= SPINS_LEAST;
}

bool report_spins_lead(const struct view *v, const struct untold_functions *untold)
{
	const struct result *res = v->result;
	const struct block *worst = report_worst(v);

	return report_spins(untold) &&
	       (!worst ||
		untold->spins * res->untold.ns > worst->lost_threads * (double)res->probed_ns);
}

static const struct untold_function *most_spinning(const struct untold_functions *untold)
{
	const struct untold_function *most = NULL;

	vec_for_each (untold, const struct untold_function, f)
		if (!most || f->spins > most->spins)
			most = f;
	return most;
}

void text_spins(const struct untold_functions *untold, struct text *out)
{
	const struct untold_function *most = most_spinning(untold);
	char share[TEXT_NUMBER];

	if (!report_spins(untold))
		return;
	text_new_sentence(out);
	text_printf(out, "Threads wait for others without sleeping for %s of the CPU time, %sin ",
		    text_share(share, untold->spins),
		    most->spins < SPINS_MOST * untold->spins ? "most often " : "");
	text_untold_name(most, out);
	text_add(out, ".");
}

bool text_spins_advice(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	struct untold_functions untold = { 0 };
	bool lead;

	result_untold(res, &untold);
	if (report_spins(&untold) && result_fills_cpus(res)) {
		text_add(out, "let threads sleep while they wait in ");
		text_untold_name(most_spinning(&untold), out);
		text_add(out, ", or run fewer of them: they keep CPUs from the others");
	}
	lead = report_spins_lead(v, &untold);
	vec_release(&untold);
	return lead;
}
