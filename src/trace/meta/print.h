/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Meta lines, as a recording has them: JSON objects, each of a kind. */
#ifndef ISPOT_TRACE_META_PRINT_H
#define ISPOT_TRACE_META_PRINT_H

struct meta_address;
struct meta_calibration;
struct meta_clocks;
struct meta_solo;
struct meta_counter;
struct meta_end;
struct meta_frame;
struct meta_function;
struct meta_not_traced;
struct meta_notice;
struct meta_object;
struct meta_process;
struct meta_session;
struct meta_site;
struct meta_stack;
struct meta_thread;
struct text;

void meta_print_function(const struct meta_function *f, struct text *out);
void meta_print_stack(const struct meta_stack *s, struct text *out);

/* The line for one item, without newline, appended to out. */
void meta_print_session(const struct meta_session *s, struct text *out);
void meta_print_object(const struct meta_object *o, struct text *out);
void meta_print_not_traced(const struct meta_not_traced *n, struct text *out);
void meta_print_calibration(const struct meta_calibration *c, struct text *out);
void meta_print_thread(const struct meta_thread *t, struct text *out);
void meta_print_process(const struct meta_process *p, struct text *out);
void meta_print_clocks(const struct meta_clocks *c, struct text *out);
void meta_print_solo(const struct meta_solo *s, struct text *out);
void meta_print_notice(const struct meta_notice *n, struct text *out);
void meta_print_counter(const struct meta_counter *c, struct text *out);
void meta_print_frame(const struct meta_frame *f, struct text *out);
void meta_print_site(const struct meta_site *s, struct text *out);
void meta_print_address(const struct meta_address *a, struct text *out);
void meta_print_end(const struct meta_end *e, struct text *out);

#endif
