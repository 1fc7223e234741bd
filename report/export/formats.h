/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The functions of the formats, for the table in export.c. */
#ifndef ISPOT_REPORT_EXPORT_FORMATS_H
#define ISPOT_REPORT_EXPORT_FORMATS_H

struct call;
struct export;
struct record;
struct thread;

/* chrome.c */
void chrome_begin(struct export *e);
void chrome_call(struct export *e, const struct thread *t, const struct call *c);
void chrome_record(struct export *e, const struct thread *t, const struct record *r);
void chrome_end(struct export *e);

/* csv.c */
void csv_begin(struct export *e);
void csv_call(struct export *e, const struct thread *t, const struct call *c);
void csv_end(struct export *e);

/* paths.c: sums by call path */
void paths_begin(struct export *e);
void paths_call(struct export *e, const struct thread *t, const struct call *c);
void folded_end(struct export *e);
void folded_diff_end(struct export *e);

/* pprof.c */
void pprof_end(struct export *e);

/* perf.c */
void perf_begin(struct export *e);
void perf_call(struct export *e, const struct thread *t, const struct call *c);
void perf_record(struct export *e, const struct thread *t, const struct record *r);
void perf_end(struct export *e);

/* speedscope.c */
void speedscope_begin(struct export *e);
void speedscope_call(struct export *e, const struct thread *t, const struct call *c);
void speedscope_end(struct export *e);

#endif
