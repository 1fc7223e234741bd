// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/patch/sites.h"

#include "probes/patch/sites_arm64.h"
#include "probes/patch/sites_x86.h"
#include "probes/patch/targets.h"

static int compare_sites(const void *a, const void *b)
{
	const struct patch_site *x = a, *y = b;

	if (x->is_entry != y->is_entry)
		return x->is_entry ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

const char *sites_choose(struct sites *out, const struct body *b, struct targets *t)
{
	const char *refusal = t->machine == CODE_AARCH64 ? sites_choose_arm64(out, b, t)
							 : sites_choose_x86(out, b, t);

	if (!refusal)
		vec_sort(out, compare_sites);
	return refusal;
}
