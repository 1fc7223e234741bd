/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views of `ispot report`: each prints one struct view into a text. */
#ifndef ISPOT_REPORT_BLOCK_VIEW_H
#define ISPOT_REPORT_BLOCK_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/score/block.h"
#include "base/vec.h"

struct callstacks;
struct column;
struct err;
struct meta;
struct meta_counter;
struct meta_not_traced;
struct json;
struct result;
struct slow;
struct table;
struct text;
struct untold_functions;

#define REPORT_JSON_VERSION 1

struct view {
	const struct result *result;
	const char *file;	     /* of the trace, as given; NULL: it is in none */
	const struct blocks *blocks; /* what is ranked: functions, groups of their calls, threads */
	const struct block **rows;   /* them in order, sites among functions */
	size_t n_rows;
	bool by_thread;
	bool totals;		   /* also functions that are split by arguments, as a whole */
	const struct column *sort; /* NULL: by verdict and lost time */
	const struct meta_counter *sort_counter; /* by its mean per call; NULL: as sort */
	uint64_t top;				 /* rows shown, 0: the view's default */
	bool all;				 /* -v: every block, whatever its verdict */
	bool colours;
	bool utf8;	/* the screen's characters */
	unsigned width; /* of the screen */
};

/* What tells a block's stacks: of groups of calls others than of functions. */
struct callstacks *report_callstacks(const struct result *res, const struct block *b);
/* Interference that is worth a line of the first screen. */
bool report_worth(const struct block *b);
/* Running time that nothing explains, and that is worth a line of the first screen. */
bool report_unexplained(const struct block *b);
/* The row with the most lost time: the paragraph, what to try and what is next tell of it. NULL: no
 * row is worth it. */
const struct block *report_worst(const struct view *v);
/* The row with most unexplained time that is worth a line; NULL: none is. */
const struct block *report_most_unexplained(const struct view *v);
/* Whether the table lists it: what it leaves out the lines below it count. */
bool report_listed(const struct view *v, const struct block *b);
/* -s: a column's or a counter's name, NULL none. -EINVAL, exit status 2: neither. */
int view_sort_by(struct view *v, const char *name, struct err *err);
/* The order of v->sort, or of lost time. Fills rows (to be freed). */
void view_rank(struct view *v);
/* Blocks of kind thread from the result's threads, to be released. */
void view_thread_blocks(const struct result *result, struct blocks *blocks);

void report_text(const struct view *v, struct text *out);
void report_csv(const struct view *v, struct text *out);
void report_json(const struct view *v, struct text *out);
/* A name that may be anything, made printable; NULL: null. */
void report_set_name(struct json *obj, const char *key, const char *s);
void report_set_known(struct json *obj, const char *key, uint64_t v); /* BLOCK_NONE: null */
/* One block with all that is known of it; to be freed. */
struct json *report_block_json(const struct result *res, const struct block *b);
struct json *report_causes_json(const struct block *b);
void report_slow_json(const struct view *v, const struct slow *slow, struct text *out);
void report_slow(const struct view *v, const struct slow *slow, struct text *out);

/* Functions that were wanted, or are hot, and were not traced; then those not to the end. */
struct left_out_function {
	const struct meta_not_traced *last; /* what the file says of it */
	unsigned gaps;			    /* in its tracing; 0: it never was */
	uint64_t out_ns;		    /* their sum, in the window */
};
struct left_out {
	VEC(struct left_out_function)
};

/* Adds to all (to be released), each part the hottest first. */
void report_left_out(const struct result *res, struct left_out *all);
/* "hot, not traced" or what it is else. */
const char *report_left_out_label(const struct left_out_function *f);
/* "hash_bytes 14 % of CPU: 6M calls/s would cost 65 %" */
void report_left_out_line(const struct result *res, const struct left_out_function *f,
			  struct text *out);

/* Member "coactive": null where it could not be measured. */
void report_set_coactive(struct json *block, const struct result *res, const struct block *b);

#define CERTAIN 0.7 /* a cause less sure than this has a question mark */

/* A block's call stacks, heaviest first. */
struct json *report_stacks_json(const struct result *res, const struct block *b);
/* The same of calls only; with how many are slow where s knows that. */
struct json *report_callstacks_json(const struct result *res, struct callstacks *s,
				    const struct block *b);

/* Building blocks of the text views. */
/* " -i FILE" as a shell takes it, where it is not what a command reads anyway. */
void text_input_option(const struct view *v, struct text *out);
void text_header(const struct view *v,
		 struct text *out); /* what was recorded, its time, its cost */
void text_conclusion(const struct view *v,
		     struct text *out);			   /* one paragraph that the data carries */
void text_remarks(const struct view *v, struct text *out); /* other verdicts, not traced, next */
void text_next(const struct view *v, struct text *out);	   /* what to try, and commands */
/* The call stacks of --slow. */
void text_stacks(const struct view *v, struct callstacks *s, const struct block *b,
		 struct text *out);
/* Name and key of a block that has one; the key in short if that makes them fit. */
void text_title(const struct block *b, unsigned room, struct text *out);
/* Ends the line with a name, which is never cut: where it does not fit it has lines of its own. */
void text_whole(struct table *t, const char *name);
/* The call stack with most of the block's time, a line or two; nothing where none is known. */
void text_called_from(const struct view *v, const struct block *b, unsigned indent,
		      struct text *out);
/* A table of who else was at work while it was slow; nothing where nobody is named. */
void text_coactive(const struct view *v, const struct block *b, struct text *out);
/* The end of a sequence's line; on lines of its own where it has no room there. */
void text_sequence(struct table *t, const struct block *b);
/* What must be known to read a table of sequences. */
void text_sequences_note(const struct view *v, struct text *out);
/* What offsets of call sites mean; nothing where the table has none. */
void text_sites_note(const struct view *v, struct text *out);
/* One sentence on a block that loses much, with its full stop. */
void text_headline(const struct result *res, const struct block *b, struct text *out);
/* A paragraph on running time that nothing explains. */
void text_unexplained(const struct view *v, const struct block *b, struct text *out);
/* Which functions have the CPU time of which no score tells. alone: nothing was said before. */
void text_untold(const struct untold_functions *untold, bool alone, struct text *out);
/* The cause that tells most of a block's story; NULL: none does. */
const struct cause *report_main_cause(const struct block *b);
/* What part of a block's loss, without its callees', its headline tells of: 0..1. */
double report_told_share(const struct block *b);
/* The line under a lock's: who held it while others waited. */
void text_holders(struct table *t, const struct block *b);
void text_locks_note(const struct view *v, struct text *out);
/* Whether a cause, not unknown, explains more than what is left unexplained of any kind of time:
 * else the table, and so the paragraph, says where the time went. */
bool report_tells(const struct block *b, const struct cause *known);
/* The main cause as the table shows it: "lock 94 %". */
void text_cause(const struct block *b, struct text *out);

#endif
