/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chooses the sites of one function for aarch64, in any order. */
#ifndef ISPOT_PROBES_PATCH_SITES_ARM64_H
#define ISPOT_PROBES_PATCH_SITES_ARM64_H

struct body;
struct sites;
struct targets;

/* Otherwise as sites_choose(). */
const char *sites_choose_arm64(struct sites *out, const struct body *b, struct targets *t);

#endif
