/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the lines that every recording from inside of programs has in its file. */
#ifndef ISPOT_PROBES_INPROC_LINES_H
#define ISPOT_PROBES_INPROC_LINES_H

struct meta_end;
struct meta_session;
struct text;
struct trace_writer;

void inproc_write_line(struct trace_writer *w, struct text *line); /* releases the line */
/* Writes a notice to the file alone, not to the terminal. */
void inproc_write_notice(struct trace_writer *w, const char *code, const char *words);
/* known: what the recorder knows; the clocks and the machine are filled in. */
void inproc_write_session(struct trace_writer *w, const struct meta_session *known);
/* known: what the recorder knows; costs that an in-process recording does not have are set to
 * unknown. */
void inproc_write_end(struct trace_writer *w, const struct meta_end *known);

#endif
