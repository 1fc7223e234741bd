/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the sites of one function: one jump at its entry, one at each of its exits. */
#ifndef ISPOT_PROBES_PATCH_SITES_H
#define ISPOT_PROBES_PATCH_SITES_H

#include "base/vec.h"
#include "probes/patch/site.h"

struct body;
struct targets;

struct sites {
	VEC(struct patch_site)
};

/*
 * Adds the sites, the entry first, then all exits by address, marks their bytes as used and returns
 * NULL. If there is no room, marks nothing and returns the reason, a clause.
 */
const char *sites_choose(struct sites *out, const struct body *b, struct targets *t);

#endif
