/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All formats of `ispot export`. A new one is a file, a row in rows.h and a line in formats.c. */
#ifndef ISPOT_REPORT_EXPORT_FORMATS_H
#define ISPOT_REPORT_EXPORT_FORMATS_H

#include "report/export/export.h"

struct err;

extern const struct export_format *const export_formats[];
extern const unsigned export_formats_n;

/* Returns the format with this name, or NULL if there is none; err then lists the formats. */
const struct export_format *export_find(const char *name, struct err *err);

#endif
