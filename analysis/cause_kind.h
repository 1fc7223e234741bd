/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of each kind of cause, one row a kind. */
#ifndef ISPOT_ANALYSIS_CAUSE_KIND_H
#define ISPOT_ANALYSIS_CAUSE_KIND_H

struct cause_kind {
	const char *kind;
	const char *story;  /* begins the report's sentence; " in cache_get: …" follows */
	const char *idle;   /* said of a block whose time it is, none of it lost; NULL: no such */
	const char *advice; /* what to try; NULL: nothing in general */
};

/* NULL: not a kind of the contract. */
const struct cause_kind *cause_kind_find(const char *kind);

#endif
