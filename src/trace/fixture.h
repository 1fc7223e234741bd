/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace as text, both ways: `ispot dump` prints it, tests and people write it by hand.
 * One record a line, `#` comments, meta lines start with `{`:
 *
 *	{"kind":"function","id":0,"name":"f","symbol":"f",…}
 *	# in recorded order: time-ns cpu tid/tgid kind …
 *	1000 0 100/100 entry f sp=0x7ffc10
 *	2500 0 100/100 exit f sp=0x7ffc10
 *	3000 0 100/100 switch-out sleeping next=0/0
 *	4000 0 100/100 lost 12 since=2500
 *
 * A function is named by its unique name, in quotes if there are blanks in it, or by `@id`. Made
 * for writing by hand: an undeclared name declares itself; a time may have a unit (3us); a stack
 * pointer left out is made up so that entries and exits of a thread nest; without a session or
 * end line a plausible one is added. Unsorted input is sorted by (time, line).
 */
#ifndef ISPOT_TRACE_FIXTURE_H
#define ISPOT_TRACE_FIXTURE_H

#include <stddef.h>
#include <stdio.h>

#define FIXTURE_RECORDED_ORDER "# in recorded order"

struct err;
struct meta;
struct record;
struct text;

/* What each function of a trace is called in its text. meta must outlive it. */
struct fixture_names;
struct fixture_names *fixture_names_new(const struct meta *meta);
void fixture_names_free(struct fixture_names *names);

/* The line for a record, with newline, appended to out. */
void fixture_print_record(const struct fixture_names *names, const struct record *r,
			  struct text *out);
/* A meta line as it is in the file, with newline; control characters escaped as JSON has it. */
void fixture_print_meta_line(const char *line, size_t n, struct text *out);

/* Text from in to a trace file; errors name the line. */
int fixture_write(FILE *in, const char *path, struct err *err);
int fixture_write_text(const char *text, const char *path, struct err *err);

#endif
