/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the sites of one function for x86-64, in any order. */
#ifndef ISPOT_PROBES_PATCH_SITES_X86_H
#define ISPOT_PROBES_PATCH_SITES_X86_H

struct body;
struct sites;
struct targets;

/* Otherwise as sites_choose(). */
const char *sites_choose_x86(struct sites *out, const struct body *b, struct targets *t);

#endif
