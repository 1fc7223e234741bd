/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines that every recording from inside of programs writes into its file. */
#ifndef ISPOT_PROBES_INPROC_LINES_H
#define ISPOT_PROBES_INPROC_LINES_H

struct meta_end;
struct meta_session;
struct text;
struct trace_writer;

void inproc_write_line(struct trace_writer *w, struct text *line); /* releases the line */
/* A notice in the file alone. */
void inproc_write_notice(struct trace_writer *w, const char *code, const char *words);
/* known: what the recorder knows; the clocks and the machine are filled in. */
void inproc_write_session(struct trace_writer *w, const struct meta_session *known);
/* known: what the recorder knows; the costs of what it does not have are unknown. */
void inproc_write_end(struct trace_writer *w, const struct meta_end *known);

#endif
