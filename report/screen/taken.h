/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who had the CPUs that the program's threads waited for. */
#ifndef ISPOT_REPORT_SCREEN_TAKEN_H
#define ISPOT_REPORT_SCREEN_TAKEN_H

struct result;
struct text;

/* A line, if the time without a CPU is worth one; else nothing. */
void text_taken(const struct result *res, struct text *out);

#endif
