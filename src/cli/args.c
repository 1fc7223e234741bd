/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/args.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

void option_spellings(const struct option_row *row, void (*fn)(void *ctx, const char *spelling),
		      void *ctx)
{
	const char *alias = row->alias ? row->alias : "";
	char spelling[80];
	size_t n;

	if (row->letter) {
		snprintf(spelling, sizeof(spelling), "-%c", row->letter);
		fn(ctx, spelling);
	}
	if (row->name) {
		snprintf(spelling, sizeof(spelling), "--%s", row->name);
		fn(ctx, spelling);
	}
	for (; *alias; alias += n + (alias[n] == ',')) {
		n = strcspn(alias, ",");
		snprintf(spelling, sizeof(spelling), "%s%.*s", n == 1 ? "-" : "--", (int)n, alias);
		fn(ctx, spelling);
	}
}

struct lookup {
	const char *wanted;
	bool found;
	char nearest[80];
	unsigned distance;
};

static void compare(void *ctx, const char *spelling)
{
	struct lookup *l = ctx;
	unsigned d;

	if (!strcmp(spelling, l->wanted))
		l->found = true;
	if (strlen(spelling) < 3 || strlen(l->wanted) < 3)
		return;
	d = text_distance(l->wanted, spelling, l->distance);
	if (d < l->distance) {
		l->distance = d;
		snprintf(l->nearest, sizeof(l->nearest), "%s", spelling);
	}
}

/* Returns the row of an option's spelling ("-o", "--output"), or NULL with the sentence in err. */
static const struct option_row *find_row(const struct option_row *rows, const char *spelling,
					 struct err *err)
{
	size_t letters = strlen(spelling) > 2 ? strlen(spelling) - 2 : 0;
	struct lookup l = { .wanted = spelling, .distance = text_distance_too_far(letters) };

	for (const struct option_row *row = rows; row && !option_row_ends(row); row++) {
		option_spellings(row, compare, &l);
		if (l.found)
			return row;
	}
	if (*l.nearest)
		err_set(err, -EINVAL, "no option %s; did you mean %s?", spelling, l.nearest);
	else
		err_set(err, -EINVAL, "no option %s; -h lists the options", spelling);
	return NULL;
}

/* Turns ret, the result of parsing value, into the error for the option. */
static int value_parsed(int ret, struct err *err, const char *spelling, const char *value,
			const char *want, const char *example)
{
	if (ret == -ERANGE)
		return err_set(err, -EINVAL, "%s %s: too large; give less", spelling, value);
	return ret ? err_set(err, -EINVAL, "%s %s: not %s; give %s", spelling, value, want, example)
		   : 0;
}

/*
 * Parses the whole string with an optional % at its end. Refuses inf, nan and hex, which strtod()
 * takes.
 */
static int parse_f64(const char *s, double *value)
{
	char *end;

	if (strspn(s, "0123456789.+-eE%") != strlen(s))
		return -EINVAL;
	*value = strtod(s, &end);
	if (end == s || !isfinite(*value))
		return -EINVAL;
	return strcmp(end, "%") && *end ? -EINVAL : 0;
}

static void set_flag(const struct option_row *row, void *member)
{
	if (row->kind == ARG_COUNT)
		++*(int *)member;
	else
		*(bool *)member = row->kind == ARG_FLAG;
}

static int set_value(const struct option_row *row, void *member, const char *spelling,
		     const char *value, struct err *err)
{
	int ret;

	switch (row->kind) {
	case ARG_STRING:
		*(const char **)member = value;
		return 0;
	case ARG_LIST:
		*vec_add((struct arg_list *)member) = value;
		return 0;
	case ARG_U64:
		return value_parsed(text_parse_count(value, member), err, spelling, value,
				    "a number", "digits, or such as 2e6");
	case ARG_ABOVE_0:
		ret = text_parse_count(value, member);
		return value_parsed(!ret && !*(uint64_t *)member ? -EINVAL : ret, err, spelling,
				    value, "a number above 0", "digits, or such as 2e6");
	case ARG_F64:
		return value_parsed(parse_f64(value, member), err, spelling, value, "a number",
				    "one such as 2.5");
	case ARG_TIME:
		return value_parsed(text_parse_time(value, 1000000000, member), err, spelling,
				    value, "a time", "one such as 10ms, 2s, 1m");
	case ARG_SIZE:
		return value_parsed(text_parse_size(value, member), err, spelling, value, "a size",
				    "one such as 512K, 2G");
	default:
		return 0;
	}
}

static bool takes_value(const struct option_row *row)
{
	return row->kind != ARG_FLAG && row->kind != ARG_UNFLAG && row->kind != ARG_COUNT;
}

struct parser {
	const struct option_row *rows;
	char *options; /* the command's struct */
	int argc, i;   /* i: the word being parsed */
	char **argv;
	struct err *err;
};

/*
 * Stores the value of an option. value: the text glued to the option, or NULL: the next word is the
 * value.
 */
static int apply(struct parser *p, const struct option_row *row, const char *spelling,
		 const char *value)
{
	void *member = p->options + row->offset;

	if (!takes_value(row)) {
		set_flag(row, member);
		return 0;
	}
	if (!value && p->i + 1 < p->argc)
		value = p->argv[++p->i];
	if (!value)
		return err_set(p->err, -EINVAL, "%s needs a value; give %s %s", spelling, spelling,
			       row->value ? row->value : "VALUE");
	return set_value(row, member, spelling, value, p->err);
}

static int answered(struct parser *p, const char *what)
{
	return err_set(p->err, ARGS_ANSWERED, "%s", what);
}

static int parse_long(struct parser *p, const char *word)
{
	const char *equals = strchr(word, '=');
	const struct option_row *row;
	char *spelling;
	int rc = -EINVAL;

	if (!strcmp(word, "--help") || !strcmp(word, "--version"))
		return answered(p, word);
	spelling = xstrndup(word, equals ? (size_t)(equals - word) : strlen(word));
	row = find_row(p->rows, spelling, p->err);
	if (row && equals && !takes_value(row))
		err_set(p->err, -EINVAL, "%s takes no value; leave %s out", spelling, equals);
	else if (row)
		rc = apply(p, row, spelling, equals ? equals + 1 : NULL);
	free(spelling);
	return rc;
}

static int parse_letters(struct parser *p, const char *letters)
{
	const struct option_row *row;
	int rc;

	for (; *letters; letters++) {
		char spelling[] = { '-', *letters, '\0' };

		row = find_row(p->rows, spelling, p->err);
		if (!row && *letters == 'h')
			return answered(p, "--help");
		if (!row)
			return -EINVAL;
		if (takes_value(row))
			return apply(p, row, spelling, letters[1] ? letters + 1 : NULL);
		rc = apply(p, row, spelling, NULL);
		if (rc)
			return rc;
	}
	return 0;
}

/* Moves argv[from] down to argv[to], so that words come to stand behind all options. */
static void move_down(char **argv, int from, int to)
{
	char *word = argv[from];

	memmove(&argv[to + 1], &argv[to], (size_t)(from - to) * sizeof(*argv));
	argv[to] = word;
}

/*
 * Parses one option at argv[i] with its value, and moves both before the words that were already
 * seen.
 */
static int parse_option(struct parser *p, int *words)
{
	int from = p->i, rc;
	const char *word = p->argv[from];

	rc = word[1] == '-' ? parse_long(p, word) : parse_letters(p, word + 1);
	for (; !rc && from <= p->i; from++)
		move_down(p->argv, from, (*words)++);
	return rc;
}

static int parse_all(struct parser *p, unsigned flags, int *words)
{
	bool two_sides = flags & ARGS_TWO_SIDES;
	int rc = 0;

	for (p->i = *words = 1; !rc && p->i < p->argc; p->i++) {
		const char *word = p->argv[p->i];

		if (!strcmp(word, "--") && two_sides) {
			two_sides = false;
			continue;
		}
		if (!strcmp(word, "--")) {
			if (!(flags & ARGS_KEEP_DASHES))
				move_down(p->argv, p->i, (*words)++);
			break;
		}
		if (word[0] == '-' && word[1])
			rc = parse_option(p, words);
		else if (flags & ARGS_STOP_AT_WORD)
			break;
	}
	return rc;
}

int args_refused(struct err *err, int code)
{
	if (err)
		err->exit_status = 2;
	return code;
}

int args_parse(const struct option_row *rows, void *options, unsigned flags, int argc, char **argv,
	       int *first, struct err *err)
{
	struct parser p = { rows, options, argc, 0, argv, err };
	int rc = parse_all(&p, flags, first);

	if (rc == -EINVAL && err)
		err->exit_status = 2;
	return rc;
}
