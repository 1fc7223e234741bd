/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Observes each execution from inside. The first pass finds the lines, the second hands every
 * execution beyond its line to outlier_judge().
 */
#ifndef ISPOT_ANALYSIS_OUTLIER_WATCH_H
#define ISPOT_ANALYSIS_OUTLIER_WATCH_H

#include "analysis/calls/calls.h"
#include "analysis/lock/section.h"

struct outliers;

/* The visitor of both passes. */
struct call_visitor outlier_watch(struct outliers *o);
struct section_hook outlier_watch_sections(struct outliers *o);
void outlier_watch_release(struct outliers *o);

#endif
