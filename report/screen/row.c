/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/lock/section.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "analysis/sequence/sequence.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define INDENT	    8
#define NAMED	    3 /* holders named, the rest is counted */
#define COLUMNS	    40
#define SHARE_LEAST 0.005 /* less would print as 0 % */

static uint64_t all_waits_ns(const struct section *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->n_holders; i++)
		sum += s->holders[i].wait_ns;
	return sum;
}

void text_holders(struct table *t, const struct block *b)
{
	const struct section *s = b->section;
	double all = (double)all_waits_ns(s);
	struct text line = { 0 }, wrapped = { 0 };
	char name[4 * COLUMNS + 1];
	uint32_t named = 0;

	if (!(all > 0) || (s->n_holders == 1 && s->holders[0].site == UINT32_MAX))
		return;
	text_add(&line, "held meanwhile by ");
	while (named < s->n_holders && named < NAMED &&
	       (double)s->holders[named].wait_ns >= SHARE_LEAST * all) {
		const struct section_holder *h = &s->holders[named];

		text_printf(&line, "%s%s %.0f%%", named ? ", " : "",
			    text_shortened(name, sizeof(name), h->name, COLUMNS),
			    100 * (double)h->wait_ns / all);
		named++;
	}
	if (s->n_holders > named)
		text_printf(&line, ", %u more", s->n_holders - named);
	text_wrap(line.s, t->width - INDENT, &wrapped);
	for (const char *l = wrapped.s; *l; l += strcspn(l, "\n") + 1)
		text_printf(t->out, "%*s%.*s\n", INDENT, "", (int)strcspn(l, "\n"), l);
	text_release(&wrapped);
	text_release(&line);
}

static bool never_released(const struct view *v)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (v->rows[i]->section && !v->rows[i]->section->hold &&
		    !v->rows[i]->section->contended_only)
			return true;
	return false;
}

static bool some_contended_only(const struct view *v)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (v->rows[i]->section && v->rows[i]->section->contended_only)
			return true;
	return false;
}

void text_locks_note(const struct view *v, struct text *out)
{
	struct text note = { 0 };

	if (v->result->keyed.rule.kind != BLOCK_LOCK)
		return;
	text_add(
		&note,
		"LOST to P99 are of the calls that take the lock: the wait. HOLD50 and HOLD99: from "
		"lock to unlock. CONT: calls that found the lock taken.");
	if (never_released(v) && meta_period(v->result->meta) <= 1 &&
	    !meta_has_notice(v->result->meta, "keep-slower"))
		text_add(&note,
			 " Hold times and holders are unknown where the unlock was not traced "
			 "(add -F pthread_mutex_unlock@arg1).");
	if (some_contended_only(v))
		text_add(&note, " Of monitors, the calls that had to wait are recorded, and hold "
				"times for the end of which a thread waited.");
	text_wrap(note.s, v->width, out);
	text_release(&note);
	text_add(out, "\n");
}

/* ---- sequences ---- */

#define INDENT 8
#define LINES  4

static void add_lines(struct table *t, const char *name)
{
	struct text wrapped = { 0 };
	const char *line;
	unsigned n = 0;

	text_wrap(name, t->width - INDENT, &wrapped);
	for (line = wrapped.s; *line && n < LINES; n++) {
		size_t bytes = strcspn(line, "\n");
		bool cut = n + 1 == LINES && line[bytes + 1];

		text_printf(t->out, "\n%*s", INDENT, "");
		text_addn(t->out, line, bytes);
		text_add(t->out, cut ? " …" : "");
		line += bytes + 1;
	}
	text_release(&wrapped);
}

void text_whole(struct table *t, const char *name)
{
	if (table_columns(name) <= table_room(t)) {
		text_add(t->out, " ");
		text_add(t->out, name);
	} else {
		while (t->out->s[t->out->n - 1] == ' ')
			t->out->s[--t->out->n] = '\0';
		add_lines(t, name);
	}
	table_last(t, "");
	t->used = 0;
}

void text_sequence(struct table *t, const struct block *b)
{
	char name[VALUE_SCRATCH];

	text_whole(t, text_printable(name, sizeof(name), b->name));
}

void text_sequences_note(const struct view *v, struct text *out)
{
	const struct sequences *s = v->result->sequences;
	struct text line = { 0 };

	if (!s)
		return;
	text_add(&line, "Sequences are parts of one another and all count: columns do not add up. "
			"A row of calls lasts from its first event to its last, with what ran "
			"between them; ×n is any number of times.");
	if (!isnan(s->share_of_50))
		text_printf(&line, " The %smost frequent sequences hold %.0f%% of the calls.",
			    s->bodies.n > 50 ? "50 " : "", 100 * s->share_of_50);
	text_wrap(line.s, v->width, out);
	text_add(out, "\n");
	text_release(&line);
}

/* ---- names ---- */

/* " from worker (app.c:42)", " @arg1=locks+0x28" */
static void full_key(const struct block *b, char key[VALUE_SCRATCH])
{
	int n = snprintf(key, VALUE_SCRATCH,
			 b->kind == BLOCK_SITE || b->kind == BLOCK_LOCK ? " from " : " ");

	text_printable(key + n, VALUE_SCRATCH - (size_t)n, b->key);
}

/* Of a call site on a line with several: " +0x57" behind the closing bracket. NULL: it is alone. */
static const char *offset_of(const struct block *b)
{
	const char *offset = b->key && b->place && b->place->line ? strstr(b->key, ") +") : NULL;

	return offset ? offset + 1 : NULL;
}

/* A call site with a line is known by it: " app.c:42"; where it is a lock's, too. */
static void short_key(const struct block *b, char key[VALUE_SCRATCH])
{
	const char *file = b->place ? b->place->file : "";
	const char *offset = offset_of(b);
	char printable[VALUE_SCRATCH - 64];

	if (!*file || !b->place->line)
		full_key(b, key);
	else
		snprintf(key, VALUE_SCRATCH, " %s:%u%s",
			 text_printable(printable, sizeof(printable), text_base_name(file)),
			 b->place->line, offset && strlen(offset) < 32 ? offset + 1 : "");
}

/* For both to fit the key is made shorter; what is too long for the line then has its own. */
void text_title(const struct block *b, unsigned room, struct text *out)
{
	char name[VALUE_SCRATCH], key[VALUE_SCRATCH];
	unsigned n = table_columns(text_printable(name, sizeof(name), b->name));

	full_key(b, key);
	if (n + table_columns(key) > room)
		short_key(b, key);
	text_add(out, name);
	text_add(out, key);
}

void text_sites_note(const struct view *v, struct text *out)
{
	const struct block *one = NULL;

	for (size_t i = 0; i < v->n_rows && !one; i++)
		if (v->rows[i]->kind == BLOCK_SITE && v->rows[i]->function &&
		    report_listed(v, v->rows[i]) && offset_of(v->rows[i]))
			one = v->rows[i];
	if (!one)
		return;
	text_wrap(
		"file:line+0x57 is one of several places on that line to which calls return, by "
		"its offset in the function. A tail call (a jump at the end of a function) returns "
		"to where that function was called.",
		v->width, out);
	text_add(out, "\n");
}
