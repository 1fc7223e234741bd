/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of blocks that have outliers: one line each, so that the list fits on a screen, or with
 * the evidence below each block. For the files of this folder.
 */
#ifndef ISPOT_REPORT_OUTLIER_LIST_H
#define ISPOT_REPORT_OUTLIER_LIST_H

#include "report/outlier/outlier.h"

struct text;

/*
 * At least one block must have outliers of its own. notices holds lines that belong to the numbers.
 */
void outlier_list(const struct outlier_view *v, const struct text *notices, struct text *out);

#endif
