/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The columns of a block, one row each: its key in JSON and CSV, its head on the screen, its type,
 * and where the value comes from. Text, CSV and JSON print from here, so they agree.
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

/* VALUE_NONE: not measured. A time is a count of ns. */
struct value {
	enum value_type type;
	const char *text; /* valid while the block and scratch live */
	uint64_t count;
	double ratio;
};

#define VALUE_SCRATCH 512

struct column {
	const char *key, *head;
	const char *group; /* JSON: the object it stands in ("probe"), NULL: the block itself;
			      "csv": CSV only */
	const char *help;
	unsigned width; /* on the screen */
	struct value (*get)(const struct block *b, char scratch[VALUE_SCRATCH]);
};

extern const struct column columns[];
extern const unsigned columns_n;

/* By key or head, any case; NULL: none. */
const struct column *column_find(const char *name);
/* -EINVAL, exit status 2, naming all, and the counters of the recording. */
int column_unknown(const char *name, struct err *err);

/* Larger numbers first, names in order; not measured last; equal ones by id. */
int column_compare(const struct column *column, const struct block *a, const struct block *b);

void value_print(const struct value *v, struct text *out);     /* as people read it; "n/a" */
void value_print_csv(const struct value *v, struct text *out); /* exact; empty where not measured */
void value_set_json(struct json *obj, const char *key, const struct value *v);

void report_csv(const struct view *v, struct text *out);

#endif
