/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libpfm4, the tables of the events of all processors' PMUs; only pfm.c includes it.
 * LIBPFM_FORCE_PMU=skx makes libpfm4 take this machine for another one, and
 * LIBPFM_ENCODE_INACTIVE=1 makes it encode "icx::EVENT" on any machine.
 */
#ifndef ISPOT_PMU_PFM_H
#define ISPOT_PMU_PFM_H

#include <stdbool.h>
#include <stdint.h>

struct pfm_code {
	uint32_t type;
	uint64_t config, config1, config2;
	bool user, kernel;
	char name[96]; /* in full, with the PMU: "skx::INST_RETIRED:ANY_P" */
};

/*
 * Encodes an event. -ENOENT: this machine has no such event or unit mask; *why (static) has
 * libpfm4's words for it.
 */
int pfm_encode(const char *name, struct pfm_code *code, const char **why);

/* Returns the name of this machine's core PMU ("skx"), or NULL if libpfm4 does not know it. */
const char *pfm_core(void);

/* Returns the PMU of another machine that has an event of this name, or NULL if none has. */
const char *pfm_other_core(const char *name);

/* Lists the events of this machine's core PMU. */
void pfm_names(void (*visit)(void *ctx, const char *name), void *ctx);
/*
 * Writes the unit masks of one of its events, separated by ", ". Returns false if there is no such
 * event, or it has no masks.
 */
bool pfm_masks(const char *event, char *masks, unsigned n);

#endif
