/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How threads that were made together end. */
#ifndef ISPOT_ANALYSIS_THREADS_ENDS_H
#define ISPOT_ANALYSIS_THREADS_ENDS_H

#include <stdbool.h>

struct threads;

/*
 * Whether the program's threads but its first were made at about the same time, for work that they
 * share, and another thread slept until one of them ended, and they ended so far apart that a good
 * part of their time is waiting for the last one.
 */
bool threads_end_apart(const struct threads *th);

#endif
