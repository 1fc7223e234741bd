/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording from start to end: which functions, which processes, which file. It opens everything
 * in an order that does no harm (privileges, probes, rings, then the target), runs until one of the
 * ends, removes every probe whatever has happened, and closes the file with what is known.
 */
#ifndef ISPOT_PROBES_SESSION_SESSION_H
#define ISPOT_PROBES_SESSION_SESSION_H

#include "probes/recording/options.h"

struct err;
struct session;

/*
 * Runs to the end. Even on an error the file is closed with what was recorded, and *result is
 * filled.
 */
int session_run(struct session *s, struct session_result *result, struct err *err);
/* Sets the choice of a scout after its run. */
void session_choice(struct session *s, struct session_choice *choice);
void session_choice_release(struct session_choice *choice);

#endif
