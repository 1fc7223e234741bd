/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Command-line options as rows: what getopt_long would need, help text, and where the value goes.
 * A command keeps its options in a local struct; a row names the member by offset:
 *
 *	struct report_options { const char *input; bool json; };
 *	static const struct option_row options[] = {
 *		{ 'i', "input", "FILE", ARG_STRING, offsetof(struct report_options, input),
 *		  "read FILE instead of ispot.data" },
 *		{ 0 } };
 *
 * -h/--help and --version are every command's and handled by main. Options end at `--` or, with
 * ARGS_STOP_AT_WORD, at the first word (record's CMD).
 */
#ifndef ISPOT_CLI_ARGS_H
#define ISPOT_CLI_ARGS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct err;

enum arg_kind {
	ARG_FLAG,    /* bool: set true */
	ARG_UNFLAG,  /* bool: set false (--no-inherit) */
	ARG_STRING,  /* const char *: the last wins */
	ARG_LIST,    /* struct arg_list: every one */
	ARG_U64,     /* uint64_t */
	ARG_ABOVE_0, /* uint64_t, and 0 is refused */
	ARG_F64,     /* double */
	ARG_TIME,    /* uint64_t ns; a bare number is seconds */
	ARG_SIZE,    /* uint64_t bytes */
	ARG_COUNT,   /* int: how often (-vv) */
};

struct arg_list {
	VEC(const char *)
};

struct option_row {
	char letter;	   /* 0: none */
	const char *name;  /* long name without dashes, NULL: none */
	const char *value; /* its name in help ("FILE"); NULL for flags */
	enum arg_kind kind;
	size_t offset;	   /* into the command's options struct */
	const char *help;  /* one clause */
	const char *alias; /* NULL or further names: "N,period": letters and long names */
};

enum {
	ARGS_STOP_AT_WORD = 1,
	ARGS_KEEP_DASHES = 2, /* `--` stays among the words: a command follows it */
	ARGS_TWO_SIDES = 4,   /* the first `--` stays a word, options may follow it (diff) */
};

/* Returned by args_parse() for -h, --help and --version: commands pass it on, main answers. */
#define ARGS_ANSWERED (-ECANCELED)

/*
 * Fills *options; words that are not options stay, in their order, in argv[*first] and up. An
 * option is -o FILE, -oFILE, --output FILE or --output=FILE; flags may stand together (-vv, -qi
 * FILE). Lists (ARG_LIST) point into argv; release them with vec_release(). -EINVAL, with
 * err->exit_status 2: an unknown option (the sentence has the nearest name), or a missing or
 * malformed value.
 */
int args_parse(const struct option_row *rows, void *options, unsigned flags, int argc, char **argv,
	       int *first, struct err *err);
/*
 * Refuses a command line for a reason that the rows do not express, with the sentence "what; what
 * to do". Returns -EINVAL, as args_parse() does.
 */
#define args_refuse(err, ...) args_refused(err, err_set(err, -EINVAL, __VA_ARGS__))
/* Gives the error in err the exit status of a wrong command line; returns code. */
int args_refused(struct err *err, int code);

/*
 * Calls fn for every spelling of a row: "-o", "--output", and those of its alias. Help and
 * completion use it.
 */
void option_spellings(const struct option_row *row, void (*fn)(void *ctx, const char *spelling),
		      void *ctx);

/* Rows end where there is neither a letter nor a name. */
static inline bool option_row_ends(const struct option_row *row)
{
	return !row->letter && !row->name;
}

#endif
