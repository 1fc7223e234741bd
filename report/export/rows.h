/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The formats of `ispot export`; each is a row defined in a file of its own. formats.c lists
 * them. */
#ifndef ISPOT_REPORT_EXPORT_ROWS_H
#define ISPOT_REPORT_EXPORT_ROWS_H

#include "report/export/export.h"

extern const struct export_format export_chrome, export_csv, export_dot, export_folded,
	export_folded_diff, export_perf, export_pprof, export_speedscope;

#endif
