/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the views of `ispot imbalance`; only for report/imbalance. */
#ifndef ISPOT_REPORT_IMBALANCE_INTERNAL_H
#define ISPOT_REPORT_IMBALANCE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct counted_cause;
struct imbalance_view;
struct parallel_section;
struct section_thread;
struct text;

#define IMBALANCE_THREAD 64 /* bytes of a thread's name */

/* Adds the program, the duration and the number of parallel regions, separated by two blanks. */
void imbalance_title(const struct imbalance_view *v, struct text *out);
/*
 * Names the slowest thread of the section that loses most, and why it is slow, or says that no
 * thread is. There must be a section.
 */
void imbalance_headline(const struct imbalance_view *v, struct text *out);
/*
 * Adds the sentence that stands in place of the headline if there is no section: there was none, or
 * pauses of the recording may hide them.
 */
void imbalance_no_section(const struct imbalance_view *v, struct text *out);
/* Returns "ns", "instructions" or "cycles". */
const char *imbalance_unit(const struct imbalance_view *v);
/* Adds "barrier run (app.c:42) since main (app.c:12)". */
void imbalance_section_name(const struct parallel_section *s, struct text *out);
/*
 * Names a thread in buf: "worker/1234", or "#3" if each iteration creates its own threads. Returns
 * buf.
 */
const char *imbalance_thread(const struct imbalance_view *v, const struct parallel_section *s,
			     uint32_t thread, char buf[IMBALANCE_THREAD]);
/* Returns the share of the section's iterations in which the thread was the slowest. */
double imbalance_share_last(const struct parallel_section *s, const struct section_thread *t);

/* Adds "lu.c:18", or "lu+0x11d4" without debug information. */
void imbalance_place(const struct imbalance_view *v, uint32_t place, struct text *out);
/*
 * Adds the place's line of source code without indentation, or nothing if the file cannot be read.
 */
void imbalance_source(const struct imbalance_view *v, uint32_t place, struct text *out);
const char *imbalance_function(const struct imbalance_view *v, uint32_t place);
/* Adds "in steps, inlined at lu.c:33 in run", or nothing if nothing is inlined. */
void imbalance_inlined(const struct imbalance_view *v, const struct counted_cause *c,
		       struct text *out);
/*
 * Adds "called from lu.c:40 in run", or nothing if the user can change the line of the place
 * itself, or no caller's line.
 */
void imbalance_caller(const struct imbalance_view *v, const struct counted_cause *c,
		      struct text *out);
/* Adds that line of source code without indentation, or nothing. */
void imbalance_caller_source(const struct imbalance_view *v, const struct counted_cause *c,
			     struct text *out);
/* Adds a clause that says why no line is to blame, or that some lines are. */
void imbalance_answer(const struct imbalance_view *v, const struct parallel_section *s,
		      struct text *out);
/*
 * Counts the sections in which no line was searched for; imbalance_left_out() adds why, without a
 * full stop, or nothing if there are none.
 */
size_t imbalance_n_left_out(const struct imbalance_view *v);
void imbalance_left_out(const struct imbalance_view *v, struct text *out);
/* Returns words such as "branch taken unevenly", and "taken". */
const char *imbalance_kind(const struct counted_cause *c);
const char *imbalance_happened(const struct counted_cause *c);

#endif
