/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The formats of `ispot export`. Each is a row that its own file defines; a new one is a file and a
 * line in formats.c.
 */
#ifndef ISPOT_REPORT_EXPORT_FORMATS_H
#define ISPOT_REPORT_EXPORT_FORMATS_H

#include "report/export/export.h"

struct err;

extern const struct export_format export_chrome, export_csv, export_folded, export_folded_diff,
	export_perf, export_pprof, export_speedscope;

extern const struct export_format *const export_formats[];
extern const unsigned export_formats_n;

/* Returns the format of that name. NULL: there is none, and err says which there are. */
const struct export_format *export_find(const char *name, struct err *err);

#endif
