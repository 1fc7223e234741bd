/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The static markers of a file (<sys/sdt.h>).
 */
#ifndef ISPOT_SYMBOL_DSO_MARKERS_H
#define ISPOT_SYMBOL_DSO_MARKERS_H

#include "symbol/dso/dso.h"

/* Static markers, in the file's order; a name may have several places. */
size_t dso_markers(struct dso *dso, const struct dso_marker **markers);

#endif
