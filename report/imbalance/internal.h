/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the views of `ispot imbalance`; for report/imbalance. */
#ifndef ISPOT_REPORT_IMBALANCE_INTERNAL_H
#define ISPOT_REPORT_IMBALANCE_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

struct counted_cause;
struct imbalance_view;
struct parallel_section;
struct section_thread;
struct text;

#define IMBALANCE_THREAD 64 /* bytes of a thread's title */
#define IMBALANCE_NO_SECTION                                                                        \
	"No parallel region was seen: no barrier, no threads that were created and joined, and no " \
	"team of two or more threads."

/* "app  4.2s  3 parallel sections", two blanks between */
void imbalance_title(const struct imbalance_view *v, struct text *out);
/* The slowest thread of the section that loses most, and why it is; that there is none. There is
 * a section. */
void imbalance_headline(const struct imbalance_view *v, struct text *out);
/* "ns", "instructions", "cycles" */
const char *imbalance_unit(const struct imbalance_view *v);
/* "barrier run (app.c:42) since main (app.c:12)" */
void imbalance_section_name(const struct parallel_section *s, struct text *out);
/* "worker/1234", "no. 3 made" where each instance has threads of its own; in buf. */
const char *imbalance_thread(const struct imbalance_view *v, const struct parallel_section *s,
			     uint32_t thread, char buf[IMBALANCE_THREAD]);
/* Returns the share of the section's instances in which the thread came last. */
double imbalance_share_last(const struct parallel_section *s, const struct section_thread *t);

/* "lu.c:18"; without debug information "lu+0x11d4" */
void imbalance_place(const struct imbalance_view *v, uint32_t place, struct text *out);
/* Adds the place's line of source without indentation; nothing where the file cannot be read. */
void imbalance_source(const struct imbalance_view *v, uint32_t place, struct text *out);
const char *imbalance_function(const struct imbalance_view *v, uint32_t place);
/* "in steps, inlined at lu.c:33 in run"; nothing where nothing is inlined */
void imbalance_inlined(const struct imbalance_view *v, const struct counted_cause *c,
		       struct text *out);
/* "called from lu.c:40 in run"; nothing where its own source is at hand, or no caller's */
void imbalance_caller(const struct imbalance_view *v, const struct counted_cause *c,
		      struct text *out);
/* Why no line is to blame, or that there are some; a clause. */
void imbalance_answer(const struct imbalance_view *v, const struct parallel_section *s,
		      struct text *out);
/* In so many sections no line was looked for, and why, without full stop; nothing where it was in
 * all. */
size_t imbalance_n_left_out(const struct imbalance_view *v);
void imbalance_left_out(const struct imbalance_view *v, struct text *out);
/* "branch taken unevenly"; "taken" */
const char *imbalance_kind(const struct counted_cause *c);
const char *imbalance_happened(const struct counted_cause *c);

#endif
