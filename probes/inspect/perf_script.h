/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The output of `ispot check --perf-script`: a shell script that records with perf alone. */
#ifndef ISPOT_PROBES_INSPECT_PERF_SCRIPT_H
#define ISPOT_PROBES_INSPECT_PERF_SCRIPT_H

struct inspection;
struct text;

/* Appends the script to out. words is the command; NULL: attach to pid. */
void perf_script_print(const struct inspection *in, char *const *words, long pid, struct text *out);

#endif
