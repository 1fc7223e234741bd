/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The static markers of a file (<sys/sdt.h>).
 */
#ifndef ISPOT_SYMBOL_DSO_MARKERS_H
#define ISPOT_SYMBOL_DSO_MARKERS_H

#include "symbol/dso/dso.h"

/* Lists the markers in the order of the file. Several places may have a marker of the same name. */
size_t dso_markers(struct dso *dso, const struct dso_marker **markers);

#endif
