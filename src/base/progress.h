/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One line on stderr for work that takes long: a share where the end is known, a count and its
 * rate where it is not. Only on a terminal, not under -q, five times a second at most, and only
 * once the command has taken a second (ten recordings of half a second each take five); gone when
 * the work is done.
 *
 *	struct progress p;
 *	progress_init(&p, "reading ispot.data");
 *	while (…) progress_share(&p, trace_reader_position(r));
 *	progress_end(&p);
 *
 * A call costs one reading of the clock: make it every few thousand records, not every record.
 */
#ifndef ISPOT_BASE_PROGRESS_H
#define ISPOT_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	const char *what; /* borrowed: "reading ispot.data" */
	uint64_t start_ns, drawn_ns;
	bool on;
};

void progress_begin(void); /* the command begins */
void progress_init(struct progress *p, const char *what);
void progress_share(struct progress *p, double share);			  /* 0..1 */
void progress_rate(struct progress *p, uint64_t count, const char *unit); /* "records" */
void progress_end(struct progress *p);

/* Wipes the line if there is one; call this before writing to stderr. */
void progress_hide(void);

#endif
