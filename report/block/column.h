/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns of a block, one row each: the key in JSON and CSV, the head on the screen, the type,
 * and the function that gets the value. Text, CSV and JSON print from here, so that they agree.
 */
#ifndef ISPOT_REPORT_BLOCK_COLUMN_H
#define ISPOT_REPORT_BLOCK_COLUMN_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct err;
struct json;
struct meta;
struct text;
struct view;

enum value_type {
	VALUE_NONE,
	VALUE_TEXT,
	VALUE_COUNT,
	VALUE_ID,
	VALUE_TIME,
	VALUE_RATIO,
	VALUE_THREADS
};

/* VALUE_NONE: not measured. VALUE_TIME: count is in ns. */
struct value {
	enum value_type type;
	const char *text; /* valid while the block and the scratch buffer exist */
	uint64_t count;
	double ratio;
};

#define VALUE_SCRATCH 512

struct column {
	const char *key, *head;
	/*
	 * JSON: the object that holds the member ("probe"); NULL: the block itself; "csv": only in
	 * CSV
	 */
	const char *group;
	const char *help;
	unsigned width; /* on the screen */
	struct value (*get)(const struct block *b, char scratch[VALUE_SCRATCH]);
};

extern const struct column columns[];
extern const unsigned columns_n;

/* Finds a column by key or head, ignoring case. Returns NULL if there is none. */
const struct column *column_find(const char *name);
/* Returns -EINVAL with exit status 2 and a message about the names that exist. */
int column_unknown(const char *name, struct err *err);

/*
 * Orders larger numbers first, text alphabetically, and unmeasured values last; equal values by
 * kind and id.
 */
int column_compare(const struct column *column, const struct block *a, const struct block *b);

/* for people; "n/a" if not measured */
void value_print(const struct value *v, struct text *out);
void value_print_csv(const struct value *v, struct text *out); /* exact; empty if not measured */
void value_set_json(struct json *obj, const char *key, const struct value *v);

void report_csv(const struct view *v, struct text *out);

#endif
