/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The costs of probing on this machine, kept from one recording to the next in a file that
 * ISPOT_CALIBRATION names. Measuring takes most of a second, which is most of the time of a short
 * recording. The file is valid for one kernel and one number of CPUs; otherwise it is ignored.
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
		rows[2 * SELFCOST_ROWS_MAX]; /* for one thread, and for one on each CPU */
	size_t n;
	struct aftermath aftermath;
	struct switchcost alone, watched, carried; /* ns */
	double sample_ns;			   /* NAN: not measured */
	bool has_markers;			   /* rows includes the costs of markers */
};

/* Returns the file that the environment names, or NULL if it names none. */
const char *known_costs_path(void);

/*
 * Reads the file. Returns 0; -ENOENT: there is no file, or it is for another machine; -EPERM:
 * another user owns it or may write to it; -EINVAL: known_costs_write() did not write it.
 */
int known_costs_read(const char *path, struct known_costs *k);

/* Replaces the file atomically. Returns 0 or -errno. */
int known_costs_write(const char *path, const struct known_costs *k);

#endif
