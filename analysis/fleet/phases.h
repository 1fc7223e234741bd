/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Phases: parts of the day, in UTC, by which the rows of time buckets are merged (section VI-B of
 * the paper of corunner.h). What slows an application in one phase need not do so in another, and
 * the noise of an application that is fast by night and slow by day hides every effect. So a fleet
 * can be analysed phase by phase, or with each phase of an application as an application of its
 * own.
 */
#ifndef ISPOT_ANALYSIS_FLEET_PHASES_H
#define ISPOT_ANALYSIS_FLEET_PHASES_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct fleet_rows;
struct strtab;

#define FLEET_DAY_NS	 86400000000000ull
#define FLEET_PHASE_NAME 16 /* bytes: "06:00-12:00" */

/* How rows are loaded: those of bucket number b belong to stratum b % day / length. */
struct fleet_phases {
	uint64_t length_ns;
	uint64_t day, length; /* in buckets */
	uint32_t n;	      /* phases of a day; 0: all rows together */
};

/* length_ns: of a phase; 0: all rows together. Returns -EINVAL if a day is not a multiple of the
 * phase, or the phase is not a multiple of the bucket. */
int fleet_phases_init(struct fleet_phases *p, uint64_t bucket_ns, uint64_t length_ns,
		      struct err *err);
const char *fleet_phases_name(const struct fleet_phases *p, uint64_t phase,
			      char name[FLEET_PHASE_NAME]);

/* Copies the rows of one phase, as the rows of one stratum. */
void fleet_phases_pick(const struct fleet_rows *all, uint64_t phase, struct fleet_rows *out);
/* Merges the rows of all phases. Each phase of the applications in split becomes an application of
 * its own, "APP 06:00-12:00"; "*" in split stands for all applications, NULL for none. */
void fleet_phases_join(const struct fleet_rows *all, const struct fleet_phases *p,
		       const struct strtab *split, struct fleet_rows *out);

#endif
