/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/lock/holding.h"
#include "analysis/lock/section.h"
#include "analysis/lock/table.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "analysis/sequence/sequence.h"
#include "symbol/name.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/table/spark.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define INDENT	     8
#define NAMED	     3 /* how many holders a line names */
#define COLUMNS	     40
#define HELD_COLUMNS 32	  /* if the hold times are on the same line */
#define NAMED_LEAST  0.05 /* of the waits: a holder of less gets no line */
#define HOLDER_LABEL 12
#define HOLDER_BAR   10

static uint64_t all_waits_ns(const struct section *s)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->holders.n; i++)
		sum += s->holders.data[i].wait_ns;
	return sum;
}

void text_place(const char *s, struct text *out)
{
	char name[4 * COLUMNS + 1];
	const char *open = strrchr(s, '('), *base = open;
	struct text place = { 0 };

	for (const char *c = open; c && *c && *c != ':'; c++)
		base = *c == '/' ? c : base;
	if (open && base > open)
		text_printf(&place, "%.*s%s", (int)(open + 1 - s), s, base + 1);
	else
		text_add(&place, s);
	text_add(out, text_shortened(name, sizeof(name), place.s, COLUMNS));
	text_release(&place);
}

static void bar_cell(struct table *t, bool utf8, double share)
{
	struct text cell = { 0 };

	text_add(&cell, " ");
	bar(share, HOLDER_BAR, utf8, &cell);
	table_last(t, cell.s);
	text_release(&cell);
}

/* Prints "held 406us p99 66ms", without the p99 if there is no room for it. */
static void held_cell(struct table *t, const struct block *hold, bool in_short)
{
	char p50[TEXT_NUMBER], p99[TEXT_NUMBER];
	struct text cell = { 0 };

	text_time(p50, hold->p50_ns);
	text_time(p99, hold->p99_ns);
	text_printf(&cell, "held %s", p50);
	if (!in_short && strcmp(p50, p99) != 0)
		text_printf(&cell, " p99 %s", p99);
	table_last(t, cell.s);
	text_release(&cell);
}

static void holder_line(struct table *t, const struct view *v, const struct section_place *h,
			double share)
{
	const struct block *hold = h->hold;
	bool known = hold && hold->p50_ns != BLOCK_NONE, fits;
	struct text place = { 0 };
	char percent[16];

	text_place(h->name, &place);
	fits = known && table_columns(place.s) <= HELD_COLUMNS;
	snprintf(percent, sizeof(percent), "%.0f%%", 100 * share);
	table_left(t, "", INDENT - 1);
	table_left(t, "blocked by", HOLDER_LABEL);
	table_left(t, place.s, fits ? HELD_COLUMNS : COLUMNS);
	table_right(t, percent, 5);
	if (known)
		held_cell(t, hold, !fits);
	else
		bar_cell(t, v->utf8, share);
	text_release(&place);
}

struct holding_most text_holding(const struct view *v, const struct block *b, struct text *out)
{
	struct holding_most most = holding_most(b->holding);
	const char *function = holding_function(v->result->meta, &most);
	char name[4 * COLUMNS + 1];

	if (function)
		text_printf(out, "is in %s", name_brief(name, sizeof(name), function, COLUMNS));
	else if (most.doing)
		text_add(out, most.doing);
	return most;
}

/* What the holder does, whichever place it is: below those places. */
static void holding_line(struct table *t, const struct view *v, const struct block *b)
{
	struct text doing = { 0 };
	struct holding_most most = text_holding(v, b, &doing);
	char percent[16];

	if (doing.n) {
		snprintf(percent, sizeof(percent), "%.0f%%", 100 * most.share);
		table_left(t, "", INDENT - 1);
		table_left(t, "the holder", HOLDER_LABEL);
		table_left(t, doing.s,
			   table_columns(doing.s) <= HELD_COLUMNS ? HELD_COLUMNS : COLUMNS);
		table_right(t, percent, 5);
		table_last(t, "of the waits");
	}
	text_release(&doing);
}

/* Where the lock is taken: the place with the longest waits, with -v each of them. */
static void taken_lines(struct table *t, const struct view *v, const struct section_places *takers)
{
	uint32_t n = v->all ? takers->n : takers->n > 0;

	for (uint32_t i = 0; i < n; i++) {
		struct text place = { 0 };

		text_place(takers->data[i].name, &place);
		if (i + 1 == n && n < takers->n)
			text_printf(&place, " and %u more (-v)", takers->n - n);
		table_left(t, "", INDENT - 1);
		table_left(t, i ? "" : "taken in", HOLDER_LABEL);
		table_last(t, place.s);
		text_release(&place);
	}
}

void text_holders(struct table *t, const struct view *v, const struct block *b)
{
	const struct section *s = b->section;
	const struct section_place *holders = s->holders.data;
	double all = (double)all_waits_ns(s);
	char more[64];
	uint32_t named = 0;

	if (b->key)
		taken_lines(t, v, &s->takers);
	if (s->holders.n == 1 && holders->site == UINT32_MAX)
		all = 0;
	for (; all > 0 && named < s->holders.n && named < NAMED &&
	       (double)holders[named].wait_ns >= NAMED_LEAST * all;
	     named++)
		holder_line(t, v, &holders[named], (double)holders[named].wait_ns / all);
	if (all > 0 && s->holders.n && !named) {
		snprintf(more, sizeof(more), "blocked by %u places", s->holders.n);
		table_left(t, "", INDENT - 1);
		table_last(t, more);
	}
	holding_line(t, v, b);
}

/* Whether a function that releases such locks was traced. */
static bool traces_release(const struct meta *meta, enum lock_kind kind)
{
	vec_for_each (&meta->functions, const struct meta_function, f) {
		const struct lock_function *l = f->symbol ? lock_function_of(f) : NULL;

		if (l && l->action == LOCK_RELEASE && l->kind == kind)
			return true;
	}
	return false;
}

/*
 * Says why rows have no hold times, or nothing if all have some, or the recorder keeps only some of
 * the calls.
 */
static void add_never_released(const struct view *v, struct text *out)
{
	const struct block *without = NULL;
	const struct lock_function *l;
	bool some = false;

	for (size_t i = 0; i < v->n_rows; i++) {
		const struct section *s = v->rows[i]->section;

		some |= s && s->hold;
		if (s && !s->hold && !s->contended_only && !without)
			without = v->rows[i];
	}
	if (!without || meta_period(v->result->meta) > 1 ||
	    meta_has_notice(v->result->meta, "keep-slower"))
		return;
	l = without->function ? lock_function_of(without->function) : NULL;
	text_printf(out, " HOLD n/a: %s release of %s was recorded",
		    without->section->released ? "not every" : "no", some ? "that lock" : "locks");
	if (l && !traces_release(v->result->meta, l->kind))
		text_printf(out, " (record -F '%s')", lock_pattern_of(l->kind));
	text_add(out, ".");
}

static bool some_contended_only(const struct view *v)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (v->rows[i]->section && v->rows[i]->section->contended_only)
			return true;
	return false;
}

/* Explains the columns in one line, which is the last that a tight screen leaves out. */
static bool legend_line(const struct view *v, const char *line, struct text *out)
{
	if (v->shortened < SHORTEN_LEGEND)
		return false;
	if (v->shortened < SHORTEN_NO_LEGEND)
		text_wrap(line, v->width, out);
	return true;
}

void text_locks_note(const struct view *v, struct text *out)
{
	static const char heads[] =
		"P50, P99: the wait. HOLD: lock to unlock. CONT: calls that found the lock taken.";
	struct text note = { 0 };

	if (v->result->keyed.rule.kind != BLOCK_LOCK || legend_line(v, heads, out))
		return;
	text_add(&note, heads);
	add_never_released(v, &note);
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

/* Adds a name to lines of its own. One that they cannot be broken for is shortened to one line. */
static void add_own_lines(struct table *t, const char *name)
{
	char brief[VALUE_SCRATCH];

	if (text_widest_word(name) <= t->width - INDENT)
		add_lines(t, name);
	else
		add_lines(t, name_brief(brief, sizeof(brief), name, t->width - INDENT));
}

void text_whole(struct table *t, const char *name)
{
	if (table_columns(name) <= table_room(t)) {
		text_add(t->out, " ");
		text_add(t->out, name);
	} else {
		while (t->out->s[t->out->n - 1] == ' ')
			t->out->s[--t->out->n] = '\0';
		add_own_lines(t, name);
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
	static const char what[] = "A sequence: calls that a thread repeats in this order.";
	const struct sequences *s = v->result->sequences;
	struct text line = { 0 };

	if (!s || legend_line(v, what, out))
		return;
	text_add(&line, v->utf8 ? "A sequence: calls that a thread repeats in this order (×n: any "
				  "number of times)."
				: what);
	text_add(&line, " P50 and P99 are from its first call to the end of its last. A lost "
			"time is in one row: that of the longest sequence around its call.");
	if (v->all && !isnan(s->share_of_50))
		text_printf(&line, " The %smost frequent sequences hold %.0f%% of the calls.",
			    s->bodies.n > 50 ? "50 " : "", 100 * s->share_of_50);
	text_wrap(line.s, v->width, out);
	text_add(out, "\n");
	text_release(&line);
}

/* ---- names ---- */

/* Writes the whole key: " from worker (app.c:42)", " @arg1=locks+0x28". */
static void full_key(const struct block *b, char key[VALUE_SCRATCH])
{
	int n = snprintf(key, VALUE_SCRATCH,
			 b->kind == BLOCK_SITE || b->kind == BLOCK_LOCK ? " from " : " ");

	text_printable(key + n, VALUE_SCRATCH - (size_t)n, b->key);
}

/*
 * Returns the offset of a call site, " +0x57" behind the closing bracket, or NULL if it is the only
 * one of its line.
 */
static const char *offset_of(const struct block *b)
{
	const char *offset = b->key && b->place && b->place->line ? strstr(b->key, ") +") : NULL;

	return offset ? offset + 1 : NULL;
}

/* Writes a short key. The line identifies a call site, also that of a lock: " app.c:42". */
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

/* Shortens the key so that the name and the key fit. If the result is still too long, it gets a
 * line of its own. */
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

const char *row_lock(const struct block *b)
{
	const struct lock_function *l = b->function ? lock_function_of(b->function) : NULL;
	bool is_function = b->kind == BLOCK_FUNCTION && b->key && !strchr(b->key, '=');

	if (!l || l->action > LOCK_TRY || (!is_function && b->kind != BLOCK_LOCK))
		return NULL;
	if (l->kind == LOCK_OF_RWLOCK)
		return !is_function ? "rwlock" : l->shared ? "rdlock" : "wrlock";
	return l->kind == LOCK_OF_SPIN ? "spinlock" : "mutex";
}

void text_sites_note(const struct view *v, struct text *out)
{
	const struct block *one = NULL;

	for (size_t i = 0; i < v->n_rows && !one; i++)
		if (v->rows[i]->kind == BLOCK_SITE && v->rows[i]->function &&
		    report_listed(v, v->rows[i]) && offset_of(v->rows[i]))
			one = v->rows[i];
	if (!one || v->shortened >= SHORTEN_LEGEND)
		return;
	text_wrap(
		"file:line+0x57 is one of several places on that line to which calls return, by "
		"its offset in the function. A tail call (a jump at the end of a function) returns "
		"to where that function was called.",
		v->width, out);
	text_add(out, "\n");
}
