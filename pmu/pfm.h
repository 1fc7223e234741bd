/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libpfm4, the tables of what the PMUs of processors can count; pfm.c alone includes it.
 * LIBPFM_FORCE_PMU=skx makes it take the machine for another, LIBPFM_ENCODE_INACTIVE=1 encodes
 * "icx::EVENT" on any.
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

/* 0; -ENOENT: no such event or unit mask here, *why (static) says it in libpfm4's words. */
int pfm_encode(const char *name, struct pfm_code *code, const char **why);

/* The core PMU that libpfm4 takes this machine for ("skx"); NULL: none that it knows. */
const char *pfm_core(void);
/* Returns the number of its counters, fixed ones included; 0: not known. */
unsigned pfm_core_counters(void);

/* Another machine's PMU that has an event of this name; NULL: none. */
const char *pfm_other_core(const char *name);

/* The events of this machine's core PMU. */
void pfm_names(void (*visit)(void *ctx, const char *name), void *ctx);
/* Unit masks of an event of it, ", " between them; false: no such event, or it has none. */
bool pfm_masks(const char *event, char *masks, unsigned n);

#endif
