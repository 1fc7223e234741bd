/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Phases: parts of the day, in UTC, that rows of time buckets are put together by (section VI-B of
 * the paper of corunner.h). What slows an application in one of them need not do so in another, and
 * an application that is fast by night and slow by day has a noise in which nothing is seen. So a
 * fleet can be analysed phase by phase, or with each phase of an application as an application of
 * its own.
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

/* How rows are loaded: of bucket number b into the stratum of b % day / length. */
struct fleet_phases {
	uint64_t length_ns;
	uint64_t day, length; /* in buckets */
	uint32_t n;	      /* 0: all rows together */
};

/* length_ns 0: all together. -EINVAL: a day has no whole number of them, or they of buckets. */
int fleet_phases_init(struct fleet_phases *p, uint64_t bucket_ns, uint64_t length_ns,
		      struct err *err);
const char *fleet_phases_name(const struct fleet_phases *p, uint64_t phase,
			      char name[FLEET_PHASE_NAME]);

/* The rows of one phase, as those of one stratum. */
void fleet_phases_pick(const struct fleet_rows *all, uint64_t phase, struct fleet_rows *out);
/* The rows of all, each phase of these applications as one of its own, "APP 06:00-12:00". split
 * NULL: of none; "*" among them: of all. */
void fleet_phases_join(const struct fleet_rows *all, const struct fleet_phases *p,
		       const struct strtab *split, struct fleet_rows *out);

#endif
