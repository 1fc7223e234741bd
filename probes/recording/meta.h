/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes what the file says about the recording itself: the session's meta line, notices, when sets
 * of probes went on and off, and the end. */
#ifndef ISPOT_PROBES_RECORDING_META_H
#define ISPOT_PROBES_RECORDING_META_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cputime;
struct probeset;
struct recording;
struct session_result;
struct text;

/* Facts in the session's meta line that struct recording does not have. */
struct recording_head {
	const char *program; /* base name of the program that runs; NULL: unknown */
	const char *pmu;     /* the core PMU's name */
	double cycles_per_ns;
};

/* Writes a meta line and releases it. Lines from before the beginning wait for the session's own
 * line. */
void recording_write_line(struct recording *r, struct text *line);
/* Writes the session's line, the clocks, and the lines that waited. */
void recording_write_head(struct recording *r, const struct recording_head *head);
/* Takes some milliseconds. Returns NAN if there is no counter. */
double recording_cycles_per_ns(void);
void recording_write_threads(struct recording *r, pid_t pid);
void recording_note(struct recording *r, const char *code,
		    const char *words); /* in the file only */
void recording_write_notice(struct recording *r, const char *code, const char *text);
void recording_write_set(struct recording *r, struct probeset *set, bool on);
void recording_write_set_at(struct recording *r, struct probeset *set, bool on, uint64_t time_ns);
/* With -c: writes the calls that were not recorded, by thread and function. */
void recording_write_call_counts(struct recording *r);
void recording_write_end(struct recording *r, const struct cputime *cputime,
			 const struct session_result *result);

#endif
