// SPDX-License-Identifier: GPL-3.0-or-later
#include "trace/fixture_line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- tokens ---- */

struct token {
	char *s; /* heap; NULL: the line is at its end */
	size_t n;
	bool quoted;
};

static void token_release(struct token *t)
{
	free(t->s);
	*t = (struct token){ 0 };
}

/* \xNN and backslash before any other character. */
static char unescape(const char **p)
{
	char hex[3] = { 0 };

	if (**p != '\\')
		return *(*p)++;
	(*p)++;
	if (**p != 'x' || !(*p)[1] || !(*p)[2])
		return **p ? *(*p)++ : '\\';
	memcpy(hex, *p + 1, 2);
	*p += 3;
	return (char)strtoul(hex, NULL, 16);
}

static int quoted_token(const char **p, struct token *t, struct err *err)
{
	const char *s = *p + 1;

	t->quoted = true;
	t->s = xmalloc(strlen(s) + 1);
	while (*s && *s != '"')
		t->s[t->n++] = unescape(&s);
	t->s[t->n] = 0;
	if (*s != '"')
		return err_set(err, -EINVAL, "a quoted word does not end; close it with \"");
	*p = s + 1;
	return 0;
}

static int next_token(const char **p, struct token *t, struct err *err)
{
	token_release(t);
	*p += strspn(*p, " \t\r");
	if (!**p)
		return 0;
	if (**p == '"')
		return quoted_token(p, t, err);
	t->n = strcspn(*p, " \t\r");
	t->s = xstrndup(*p, t->n);
	*p += t->n;
	return 0;
}

/* ---- words ---- */

static int parse_u32(const char *s, uint32_t max, uint32_t *value)
{
	uint64_t v;

	if (text_parse_u64(s, &v) || v > max)
		return -EINVAL;
	*value = (uint32_t)v;
	return 0;
}

static int parse_pair(const char *s, uint64_t max, uint64_t *a, uint64_t *b)
{
	char *copy = xstrdup(s), *slash = strchr(copy, '/');
	int ret = -EINVAL;

	if (slash) {
		*slash = 0;
		ret = text_parse_u64(copy, a) || text_parse_u64(slash + 1, b) || *a > max ||
				      *b > max
			      ? -EINVAL
			      : 0;
	}
	free(copy);
	return ret;
}

static int parse_function(struct fixture_record *f, const struct token *t, struct err *err)
{
	if (f->has_function)
		return err_set(err, -EINVAL, "%s is one word too many", t->s);
	f->has_function = true;
	if (t->quoted || *t->s != '@') {
		f->function.name = xstrdup(t->s);
		return 0;
	}
	if (parse_u32(t->s + 1, UINT32_MAX, &f->function.id))
		return err_set(err, -EINVAL, "%s is no function's id; write @ and a number", t->s);
	return 0;
}

/* The value after "name=" if the token is one. */
static const char *value_of(const struct token *t, const char *name)
{
	size_t n = strlen(name);

	if (t->quoted || strncmp(t->s, name, n) || t->s[n] != '=')
		return NULL;
	return t->s + n + 1;
}

/* ---- the rest of a line, by kind ---- */

static int call_word(struct fixture_record *f, const struct token *t, struct err *err)
{
	const char *sp = value_of(t, "sp"), *site = value_of(t, "site");

	if (site && f->has_function && f->r.kind == REC_ENTRY) {
		if (parse_u32(site, UINT32_MAX, &f->site))
			return err_set(err, -EINVAL, "%s is no site's id; write site=1048576",
				       t->s);
		return 0;
	}
	if (!sp || !f->has_function)
		return parse_function(f, t, err);
	if (text_parse_u64(sp, &f->r.sp))
		return err_set(err, -EINVAL, "%s is no stack pointer; write sp=0x7ffc10", t->s);
	f->has_sp = true;
	return 0;
}

static int switch_out_word(struct fixture_record *f, const struct token *t, struct err *err)
{
	const char *next = value_of(t, "next");

	f->r.n_values = 3;
	if (next && !parse_pair(next, UINT64_MAX, &f->values[1], &f->values[2]))
		return 0;
	for (uint64_t i = 0; fixture_states[i]; i++)
		if (!strcmp(fixture_states[i], t->s)) {
			f->values[0] = i;
			return 0;
		}
	if (!text_parse_u64(t->s, &f->values[0]))
		return 0;
	return err_set(
		err, -EINVAL,
		"%s is no word of a switch-out; write one of preempted, sleeping, blocked, other, and next=TID/TGID",
		t->s);
}

static int parse_value(const char *s, bool is_signed, uint64_t *value)
{
	if (is_signed && *s == '-') {
		if (text_parse_u64(s + 1, value))
			return -EINVAL;
		*value = -*value;
		return 0;
	}
	return text_parse_u64(s, value);
}

/* Which of the shape's values the token gives, its number in *word; n_values: the next unnamed one.
 */
static uint32_t value_index(const struct fixture_record *f, const struct record_shape *shape,
			    const struct token *t, const char **word)
{
	uint32_t n_named = record_shape_values(shape);

	for (uint32_t i = 0; i < n_named; i++) {
		*word = *shape->values[i] ? value_of(t, shape->values[i]) : NULL;
		if (*word)
			return i;
	}
	*word = t->s;
	return f->r.n_values;
}

static int value_word(struct fixture_record *f, const struct record_shape *shape,
		      const struct token *t, struct err *err)
{
	const char *word;
	uint32_t i = value_index(f, shape, t, &word);

	if (i >= RECORD_VALUES_MAX)
		return err_set(err, -EINVAL, "%s is one value too many", t->s);
	if (i >= f->r.n_values)
		f->r.n_values = i + 1;
	if (i < RECORD_NAMES_MAX && shape->values[i] && !strcmp(shape->values[i], "id"))
		return parse_function(f, t, err);
	if (parse_value(word, shape->zigzag && i == 0, &f->values[i]))
		return err_set(err, -EINVAL, "%s is no number", t->s);
	return 0;
}

static int bytes_word(struct fixture_record *f, struct token *t, struct err *err)
{
	if (f->bytes)
		return err_set(err, -EINVAL,
			       "%s is one word too many; put names with blanks into quotes", t->s);
	f->bytes = t->s;
	f->r.n_bytes = (uint32_t)t->n;
	t->s = NULL;
	return 0;
}

static int kind_word(struct fixture_record *f, struct token *t, struct err *err)
{
	const struct record_shape *shape = record_shape(f->r.kind);

	if (f->r.kind <= REC_EXIT)
		return call_word(f, t, err);
	if (f->r.kind == REC_SWITCH_OUT)
		return switch_out_word(f, t, err);
	return shape->has_bytes ? bytes_word(f, t, err) : value_word(f, shape, t, err);
}

static int parse_kind(const char *name, uint32_t *kind, struct err *err)
{
	if (!strcmp(name, "entry") || !strcmp(name, "exit")) {
		*kind = *name == 'e' && name[1] == 'n' ? REC_ENTRY : REC_EXIT;
		return 0;
	}
	for (uint32_t k = REC_SWITCH_OUT; k <= REC_KIND_LAST; k++)
		if (record_shape(k) && !strcmp(record_shape(k)->name, name)) {
			*kind = k;
			return 0;
		}
	return err_set(err, -EINVAL, "%s is no kind of record; see ispot-dump(1) for them", name);
}

/* ---- the line ---- */

static int head_word(struct fixture_record *f, int i, const char *s, struct err *err)
{
	uint64_t tid, tgid;

	switch (i) {
	case 0:
		if (!text_parse_u64(s, &f->r.time_ns) || !text_parse_time(s, 1, &f->r.time_ns))
			return 0;
		return err_set(err, -EINVAL, "%s is no time; a record begins with its time in ns",
			       s);
	case 1:
		if (!parse_u32(s, CPUS_MAX - 1, &f->r.cpu))
			return 0;
		return err_set(err, -EINVAL, "%s is no CPU; write a number below %d", s, CPUS_MAX);
	case 2:
		if (parse_pair(s, UINT32_MAX, &tid, &tgid))
			return err_set(err, -EINVAL, "%s is no thread; write TID/TGID", s);
		f->r.tid = (uint32_t)tid;
		f->r.tgid = (uint32_t)tgid;
		return 0;
	default:
		if (parse_kind(s, &f->r.kind, err))
			return -EINVAL;
		if (record_shape(f->r.kind))
			f->values = xcalloc(RECORD_VALUES_MAX, sizeof(*f->values));
		return 0;
	}
}

static int check_record(const struct fixture_record *f, struct err *err)
{
	if (f->r.kind <= REC_EXIT && !f->has_function)
		return err_set(err, -EINVAL,
			       "entry and exit need a function; write its name or @id");
	return 0;
}

int fixture_parse_record(const char *line, struct fixture_record *f, struct err *err)
{
	struct token t = { 0 };
	int ret = 0;

	for (int i = 0; !ret; i++) {
		ret = next_token(&line, &t, err);
		if (ret)
			break;
		if (!t.s) {
			ret = i < 4 ? err_set(err, -EINVAL, "a record is: TIME CPU TID/TGID KIND …")
				    : check_record(f, err);
			break;
		}
		ret = i < 4 ? head_word(f, i, t.s, err) : kind_word(f, &t, err);
	}
	token_release(&t);
	return ret;
}

void fixture_record_bind(struct fixture_record *f, uint32_t id)
{
	const struct record_shape *shape = record_shape(f->r.kind);

	if (f->has_function && !shape)
		f->r.id = id;
	for (uint32_t i = 0; shape && f->has_function && i < RECORD_NAMES_MAX && shape->values[i];
	     i++)
		if (!strcmp(shape->values[i], "id"))
			f->values[i] = id;
	f->r.values = f->values;
	f->r.bytes = f->bytes ? f->bytes : "";
}

void fixture_record_release(struct fixture_record *f)
{
	free(f->values);
	free(f->bytes);
	free(f->function.name);
	f->values = NULL;
	f->bytes = f->function.name = NULL;
}
