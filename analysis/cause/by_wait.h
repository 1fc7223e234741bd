/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of a block's blocked and idle time that are waits of one kind, from its sleeps
 * (threads/wait.h), and the part of its running time that is sleeping and waking (switching.h).
 */
#ifndef ISPOT_ANALYSIS_CAUSE_BY_WAIT_H
#define ISPOT_ANALYSIS_CAUSE_BY_WAIT_H

#include "analysis/cause/cause.h"

/*
 * Returns ns of the pool, with a confidence and one sentence of evidence, or 0 if there is no such
 * wait.
 */
double cause_wait(const struct block *b, const struct meta *meta, const char *kind,
		  enum cause_pool pool, double *confidence, struct text *evidence);

#endif
