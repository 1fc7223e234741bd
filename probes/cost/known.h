/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The costs of probing on this machine, kept in a file from one recording to the next:
 * ISPOT_CALIBRATION names it. Measuring takes most of a second, which is most of what a short
 * recording takes. The file is of one kernel and one number of CPUs; on others it is ignored.
 */
#ifndef ISPOT_PROBES_COST_KNOWN_H
#define ISPOT_PROBES_COST_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "probes/cost/aftermath.h"
#include "probes/cost/selfcost.h"
#include "probes/cost/switchcost.h"
#include "trace/meta/meta.h"

struct known_costs {
	struct meta_calibration
		rows[2 * SELFCOST_ROWS_MAX]; /* of one thread and of one on each CPU */
	size_t n;
	struct aftermath aftermath;
	struct switchcost alone, watched, carried; /* ns */
	double sample_ns;			   /* NAN: not measured */
	bool has_markers;			   /* rows has those of markers */
};

/* The file that the environment names; NULL: none. */
const char *known_costs_path(void);

/*
 * 0; -ENOENT: there is no file, or it is of another machine; -EPERM: somebody else owns it or may
 * write to it; -EINVAL: it is none that known_costs_write() wrote.
 */
int known_costs_read(const char *path, struct known_costs *k);

/* Replaces the file at once. 0 or -errno. */
int known_costs_write(const char *path, const struct known_costs *k);

#endif
