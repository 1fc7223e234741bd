/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace as text, both ways: `ispot dump` prints it, tests and people write it by hand.
 * One record a line, `#` comments, meta lines start with `{`:
 *
 *	{"kind":"function","id":0,"name":"f","symbol":"f",…}
 *	# time-ns cpu tid/tgid kind …
 *	1000 0 100/100 entry f sp=0x7ffc10
 *	2500 0 100/100 exit f sp=0x7ffc10
 *	3000 0 100/100 switch-out sleeping next=0/0
 *	4000 0 100/100 lost 12 since=2500
 *
 * A function is named by its unique name, or `@id`; an undeclared name declares itself.
 * Unsorted input is sorted by (time, line).
 */
#ifndef ISPOT_TRACE_FIXTURE_H
#define ISPOT_TRACE_FIXTURE_H

#include <stdio.h>

struct err;
struct meta;
struct record;
struct text;

/* The line for a record, with newline, appended to out. */
void fixture_print_record(const struct meta *meta, const struct record *r, struct text *out);

/* Text from in to a trace file; errors name the line. */
int fixture_write(FILE *in, const char *path, struct err *err);

#endif
