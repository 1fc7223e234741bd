/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/headline.h"
#include "report/screen/told.h"
#include "report/screen/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/cause/verdict.h"
#include "analysis/result/result.h"
#include "symbol/name.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/counters.h"
#include "report/block/rank.h"
#include "report/block/stacks.h"
#include "report/block/view.h"
#include "report/screen/remarks.h"
#include "report/screen/row.h"
#include "report/screen/screen.h"
#include "report/screen/thread.h"
#include "report/screen/untold.h"
#include "report/table/spark.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define ROWS_DEFAULT	6  /* rows that keep the first view on one screen */
#define ROWS_MORE	15 /* rows of other views, and if the user chose the order */
#define WHY_WIDTH	20
#define WIDE		112 /* a screen of this width has room for more columns and for names */
#define LOST_WIDTH	5
#define TIME_WIDTH	6
#define COUNTER_LEAST	6 /* columns */
#define COUNTER_MOST	16
#define OWN_LINE_INDENT 8 /* text_whole() */

/* The columns of a block before its cause and its name. */
static const char *const screen[] = { "calls", "p50_ns", "p99_ns", NULL };
static const char *const wide_screen[] = { "calls",  "min_ns", "p50_ns", "p90_ns",
					   "p99_ns", "max_ns", NULL };
static const char *const full_screen[] = { "sci", "calls", "min_ns", "p50_ns", "p99_ns", NULL };
static const char *const lock_cycles_screen[] = { "calls",	"contended",   "p50_cycles",
						  "p99_cycles", "hold_p50_ns", "hold_p99_ns",
						  NULL };
static const char *const cycles_screen[] = { "calls", "p50_cycles", "p99_cycles", NULL };
static const char *const full_cycles_screen[] = { "sci",	"calls",      "min_cycles",
						  "p50_cycles", "p99_cycles", NULL };
static const char *const sampled_screen[] = { "sci", "calls", "p50_ns", "p99_ns", NULL };
static const char *const sampled_cycles_screen[] = { "sci", "calls", "p50_cycles", "p99_cycles",
						     NULL };
static const char *const thread_screen[] = { "calls", "observed_ns", "tid", NULL };
static const char *const processes_screen[] = { "calls", "observed_ns", "tid", "pid", NULL };
static const char *const full_thread_screen[] = {
	"sci", "calls", "observed_ns", "tid", "pid", NULL
};
static const char *const lock_screen[] = { "calls",	  "contended",	 "p50_ns", "p99_ns",
					   "hold_p50_ns", "hold_p99_ns", NULL };

static bool by_lock(const struct view *v)
{
	return v->result->keyed.rule.kind == BLOCK_LOCK;
}

/* Returns whether sampling left out calls, so that the score is printed with its error. */
static bool has_interval(const struct view *v)
{
	return v->all && !v->by_thread && meta_period(v->result->meta) > 1;
}

/* Returns whether the score's error takes the room of the noise floor and of the fastest call. */
static bool is_crowded(const struct view *v)
{
	return v->width < WIDE && has_interval(v);
}

static const char *const *screen_of(const struct view *v)
{
	if (v->by_thread)
		return v->all		       ? full_thread_screen
		       : threads_of_several(v) ? processes_screen
					       : thread_screen;
	if (by_lock(v))
		return v->cycles ? lock_cycles_screen : lock_screen;
	if (is_crowded(v))
		return v->cycles ? sampled_cycles_screen : sampled_screen;
	if (v->all)
		return v->cycles ? full_cycles_screen : full_screen;
	if (v->cycles)
		return cycles_screen;
	return v->width >= WIDE ? wide_screen : screen;
}

/* Returns the name of the pool with the most excess time that no rule explains, and its share of
 * the excess. */
static const char *unexplained(const struct block *b, double *share)
{
	static const struct {
		enum cause_pool pool;
		const char *name;
	} rows[] = { { POOL_BLOCKED, "blocked" },
		     { POOL_IDLE, "idle" },
		     { POOL_RUNNING, "running" } };
	double sum = block_pools_ns(b);
	unsigned best = 0;

	for (unsigned i = 1; i < 3; i++)
		if (b->unexplained[rows[i].pool] > b->unexplained[rows[best].pool])
			best = i;
	*share = sum > 0 ? b->unexplained[rows[best].pool] / sum : 0;
	return rows[best].name;
}

/* Returns the unexplained part of the excess time, in percent. */
static double unexplained_share(const struct block *b)
{
	return 100 * b->unexplained_ns / block_pools_ns(b);
}

bool report_tells(const struct block *b, const struct cause *known)
{
	double share;

	unexplained(b, &share);
	return known == b->causes.data || known->share > share;
}

static void any_cause(const struct block *b, struct text *out)
{
	const struct cause *known = NULL;
	const char *where;
	double share;

	vec_for_each (&b->causes, const struct cause, c)
		if (!known && strcmp(c->kind, "unknown"))
			known = c;
	where = unexplained(b, &share);
	if (known && report_tells(b, known))
		text_printf(out, "%s %.0f%%%s", cause_name(b, known->kind), 100 * known->share,
			    known->confidence < CERTAIN ? "?" : "");
	else if (!b->causes.n)
		text_add(out, "-");
	else if (!b->off_known)
		text_add(out, "unknown");
	else
		text_printf(out, "%s %.0f%%?", where, 100 * share);
}

static const char *const pool_names[CAUSE_POOLS] = {
	[POOL_PREEMPTED] = "run queue",
	[POOL_BLOCKED] = "blocked",
	[POOL_IDLE] = "idle",
	[POOL_RUNNING] = "running",
};

/* Why the row loses what stands before it, with the shares that the paragraph above the table has:
 * of its own time, without what its callees lose, and without what is not lost. */
static void own_cause(const struct block *b, struct text *out)
{
	const struct cause *main = report_main_cause(b);
	const char *pool = pool_names[told_largest_pool(b)];
	bool callee = b->causes.n && !strcmp(b->causes.data[0].kind, "callee");

	/* what its callees lose is no cause of what it loses itself */
	if (callee && b->lost_threads > 0 && !main && !b->off_known)
		text_add(out, "unknown");
	else if (!b->off_known || !(main || pool) || (!main && callee && !(b->lost_threads > 0)))
		any_cause(b, out);
	else if (main)
		text_printf(out, "%s %.0f%%%s", cause_name(b, main->kind),
			    100 * report_cause_share(b, main),
			    main->confidence < CERTAIN ? "?" : "");
	else
		text_printf(out, "%s %.0f%%?", pool, 100 * report_told_share(b));
}

void text_cause(const struct block *b, struct text *out)
{
	if (report_owns(b))
		own_cause(b, out);
	else
		any_cause(b, out);
}

static bool on_screen(const struct view *v, const struct column *c)
{
	const char *const *keys = screen_of(v);

	for (unsigned i = 0; keys[i]; i++)
		if (!strcmp(keys[i], c->key))
			return true;
	return !strcmp(c->key, "name") || !strcmp(c->key, "cause");
}

/* Returns whether the table shows the distribution next to the numbers. */
static bool has_spark(const struct view *v)
{
	return !v->by_thread && !by_lock(v) && !v->all;
}

static const struct column *extra(const struct view *v)
{
	return v->sort && !on_screen(v, v->sort) ? v->sort : NULL;
}

/* Returns the width of the counter's column that rows are sorted by; its name may be long. */
static unsigned counter_width(const struct meta_counter *m)
{
	unsigned n = table_columns(m->name);

	return n < COUNTER_LEAST ? COUNTER_LEAST : n > COUNTER_MOST ? COUNTER_MOST : n;
}

static void head_counter(struct table *t, const struct meta_counter *m)
{
	char head[4 * COUNTER_MOST + 1];

	table_right(t, text_shortened(head, sizeof(head), m->name, COUNTER_MOST), counter_width(m));
}

static void print_counter(struct table *t, const struct meta_counter *m, const struct block *b)
{
	char mean[TEXT_NUMBER];

	table_right(t, counters_number(mean, counters_mean(b, m)), counter_width(m));
}

static void head_cell(struct table *t, const struct column *c)
{
	char head[32];
	size_t n = 0;

	for (; c->head[n] && n < sizeof(head) - 1; n++)
		head[n] = (char)toupper((unsigned char)c->head[n]);
	head[n] = '\0';
	table_right(t, head, c->width);
}

char *text_lost_share(char *buf, double share)
{
	snprintf(buf, TEXT_NUMBER, share > 0 && share < 0.0005 ? "<0.1%%" : "%.1f%%", 100 * share);
	return buf;
}

/*
 * Prints the row's lost time: as a share of thread time, and in time. Both are parts of the sum in
 * the header.
 */
static void print_lost(const struct view *v, struct table *t, const struct block *b)
{
	double ns = report_counted_ns(v, b);
	char share[TEXT_NUMBER], time[TEXT_NUMBER];
	const char *none = v->utf8 ? "–" : "-";

	if (isnan(b->lost_threads) || !v->result->threads_ns) {
		table_right(t, "n/a", LOST_WIDTH);
		table_right(t, "n/a", TIME_WIDTH);
		return;
	}
	text_lost_share(share, ns / (double)v->result->threads_ns);
	table_right(t, ns > 0 && *share != '<' ? share : none, LOST_WIDTH);
	table_right(t, ns >= 1 ? text_time(time, (uint64_t)llround(ns)) : none, TIME_WIDTH);
}

static void print_head(const struct view *v, struct table *t)
{
	const char *const *keys = screen_of(v);

	table_style(t, TABLE_BOLD);
	table_right(t, "LOST", LOST_WIDTH);
	table_right(t, "TIME", TIME_WIDTH);
	for (unsigned i = 0; keys[i]; i++)
		if (v->result->sequences && !strcmp(keys[i], "calls"))
			table_right(t, "COUNT", column_find(keys[i])->width);
		else
			head_cell(t, column_find(keys[i]));
	if (extra(v))
		head_cell(t, extra(v));
	if (v->sort_counter)
		head_counter(t, v->sort_counter);
	if (has_interval(v)) {
		head_cell(t, column_find("sci_low"));
		head_cell(t, column_find("sci_high"));
	}
	if (has_spark(v))
		table_left(t, "SPREAD", SPARK_COLUMNS);
	if (v->by_thread) {
		table_left(t, " " THREAD_BAR_TITLE, THREAD_BAR + 1);
		table_last(t, "THREAD");
		return;
	}
	if (v->all) {
		if (!is_crowded(v))
			head_cell(t, column_find("floor"));
		table_left(t, "VERDICT", VERDICT_WIDTH - 1);
	} else if (!by_lock(v)) {
		table_left(t, " CAUSE", WHY_WIDTH + 1);
	}
	table_last(t, by_lock(v) ? "LOCK" : v->result->sequences ? "SEQUENCE" : "FUNCTION");
}

static void print_cell(struct table *t, const struct column *c, const struct block *b)
{
	char scratch[VALUE_SCRATCH], share[TEXT_NUMBER];
	struct value value = c->get(b, scratch);
	struct text cell = { 0 };

	if (value.type == VALUE_RATIO && !strcmp(c->key, "contended"))
		text_add(&cell, text_share(share, value.ratio));
	else
		value_print(&value, &cell);
	table_right(t, cell.s, c->width);
	text_release(&cell);
}

static void print_spark(const struct view *v, struct table *t, const struct block *b)
{
	const struct hist *h = b->sums		  ? &b->sums->durations
			       : block_is_wait(b) ? &v->result->site_sums.all.data[b->id].sleeps
						  : NULL;
	struct text cell = { 0 };

	spark(h, v->utf8, &cell);
	table_left(t, cell.s, SPARK_COLUMNS);
	text_release(&cell);
}

static void print_why(const struct view *v, struct table *t, const struct block *b)
{
	struct text why = { 0 };

	if (v->all) {
		if (!is_crowded(v))
			print_cell(t, column_find("floor"), b);
		text_add(&why, verdict_words(b->verdict));
		table_left(t, why.s, VERDICT_WIDTH - 1);
	} else {
		text_add(&why, " ");
		if (b->verdict == VERDICT_INTERFERENCE)
			own_cause(b, &why);
		else if (block_is_unexplained(b) && text_cache_misses(b))
			text_cause(b, &why);
		else if (block_is_unexplained(b))
			text_printf(&why, "unexplained %.0f%%", unexplained_share(b));
		else
			text_add(&why, verdict_words(b->verdict));
		table_left(t, why.s, WHY_WIDTH + 1);
	}
	text_release(&why);
}

/* Adds the verdict to a lock's row. All locks are listed, and without -v there is no column for the
 * verdict. */
static void add_verdict(const struct view *v, const struct block *b, struct text *out)
{
	if (by_lock(v) && !v->all && b->verdict != VERDICT_INTERFERENCE)
		text_printf(out, ", %s", verdict_words(b->verdict));
}

/* Adds the caller if it fits. It is not worth a line of its own: the paragraph names the caller of
 * the worst row. */
static void add_via(const struct view *v, const struct table *t, const struct block *b,
		    struct text *title)
{
	struct text via = { 0 };
	unsigned n = table_columns(title->s);

	text_via(v->result, b, &via);
	if (via.n && (n > table_room(t) || n + table_columns(via.s) <= table_room(t)))
		text_add(title, via.s);
	text_release(&via);
}

static void print_title(const struct view *v, struct table *t, const struct block *b)
{
	char key[VALUE_SCRATCH];
	struct text title = { 0 };

	if (has_spark(v) && row_lock(b))
		text_printf(&title, "%s (%s)", text_printable(key, sizeof(key), b->key),
			    row_lock(b));
	else if (by_lock(v) && b->section && row_lock(b))
		text_printf(&title, "%s (%s)", text_printable(key, sizeof(key), b->name),
			    row_lock(b));
	else
		text_title(b, table_room(t), &title);
	if (has_spark(v))
		add_via(v, t, b, &title);
	add_verdict(v, b, &title);
	text_whole(t, title.s);
	text_release(&title);
}

/* Prints the name. It is cut in the middle only if a line of its own is too short: both ends
 * distinguish names. */
static void print_whole_name(struct table *t, const char *name)
{
	char cut[VALUE_SCRATCH];
	struct text whole = { 0 };

	if (table_columns(name) > table_room(t))
		name_add_short(&whole, name);
	else
		text_add(&whole, name);
	if (table_columns(whole.s) <= table_room(t))
		table_last(t, whole.s);
	else
		text_whole(t,
			   text_shortened(cut, sizeof(cut), whole.s, t->width - OWN_LINE_INDENT));
	text_release(&whole);
}

/* Prints the name. That of a place where threads wait is in brackets, because it is the name of a
 * function. */
static void print_name(const struct view *v, struct table *t, const struct block *b)
{
	bool is_site = block_is_wait(b);
	char name[VALUE_SCRATCH] = " ";
	struct text whole = { 0 }, via = { 0 };

	if (b->kind == BLOCK_SEQUENCE) {
		text_sequence(t, b);
		return;
	}
	if (v->by_thread) {
		text_thread_name(v, b, &whole);
		print_whole_name(t, whole.s);
		text_release(&whole);
		return;
	}
	if (b->key) {
		print_title(v, t, b);
		return;
	}
	if (by_lock(v)) {
		text_add(&whole, text_printable(name, sizeof(name), b->name));
		add_verdict(v, b, &whole);
		text_whole(t, whole.s);
		text_release(&whole);
		return;
	}
	if (is_site)
		name[0] = '[';
	text_printable(name + is_site, sizeof(name) - 2, b->name);
	if (is_site)
		strcat(name, "]");
	text_add(&via, name);
	if (has_spark(v) && !is_site)
		add_via(v, t, b, &via);
	if (strcmp(via.s, name) != 0) {
		text_whole(t, via.s);
	} else {
		print_whole_name(t, name);
	}
	text_release(&whole);
	text_release(&via);
}

static void print_thread_bar(const struct view *v, struct table *t, const struct block *b)
{
	struct text cell = { 0 };

	text_add(&cell, " ");
	text_thread_bar(v, b, &cell);
	table_left(t, cell.s, THREAD_BAR + 1);
	text_release(&cell);
}

static void print_row(const struct view *v, struct table *t, const struct block *b)
{
	const char *const *keys = screen_of(v);

	if (!v->by_thread && b->verdict != VERDICT_INTERFERENCE)
		table_style(t, TABLE_DIM);
	else if (report_loses_much(v, b))
		table_style(t, TABLE_RED);
	print_lost(v, t, b);
	for (unsigned i = 0; keys[i]; i++)
		print_cell(t, column_find(keys[i]), b);
	if (extra(v))
		print_cell(t, extra(v), b);
	if (v->sort_counter)
		print_counter(t, v->sort_counter, b);
	if (has_interval(v)) {
		print_cell(t, column_find("sci_low"), b);
		print_cell(t, column_find("sci_high"), b);
	}
	if (has_spark(v))
		print_spark(v, t, b);
	if (v->by_thread)
		print_thread_bar(v, t, b);
	else if (v->all || !by_lock(v))
		print_why(v, t, b);
	print_name(v, t, b);
	if (b->section)
		text_holders(t, v, b);
	if (v->all && b->kind == BLOCK_SEQUENCE)
		text_called_from(v, b, 10, t->out);
}

static uint64_t rows_most(const struct view *v)
{
	return v->top			  ? v->top
	       : v->all			  ? UINT64_MAX
	       : has_spark(v) && !v->sort ? ROWS_DEFAULT
					  : ROWS_MORE;
}

/* Rows that are not shown, because there is no room or because they lose too little. */
struct unseen {
	unsigned long long rows, hidden;
	double ns, most_ns;
};

static void count_unseen(const struct view *v, struct unseen *u, const struct block *b, bool hidden)
{
	double ns = report_counted_ns(v, b);

	u->rows++;
	u->hidden += hidden;
	u->ns += ns;
	u->most_ns = ns > u->most_ns ? ns : u->most_ns;
}

/* Prints how many rows are not shown, with their lost time and the largest one. */
static void print_more(const struct view *v, const struct unseen *u, struct text *out)
{
	double all = (double)v->result->threads_ns;
	struct table t = { .out = out, .width = v->width };
	char cell[TEXT_NUMBER], most[TEXT_NUMBER];
	struct text more = { 0 };

	if (!u->rows)
		return;
	text_printf(&more, " %llu more", u->rows);
	if (u->ns >= 1 && all > 0) {
		table_right(&t, text_lost_share(cell, u->ns / all), LOST_WIDTH);
		table_right(&t, text_time(cell, (uint64_t)u->ns), TIME_WIDTH);
	} else {
		table_left(&t, "", LOST_WIDTH + TIME_WIDTH + 1);
	}
	if (u->ns >= 1 && all > 0 && u->rows > 1)
		text_printf(&more, ", %s%s each", text_lost_share(most, u->most_ns / all),
			    *most == '<' ? "" : " or less");
	text_add(&more, u->hidden ? " (--top, -v)" : " (-v)");
	table_last(&t, more.s);
	text_release(&more);
}

/* Prints the lost time that no row has, so that the rows add up to the headline. */
static void print_elsewhere(const struct view *v, struct text *out)
{
	struct table t = { .out = out, .width = v->width };
	char cell[TEXT_NUMBER];
	struct text where = { 0 };
	double ns = report_elsewhere_ns(v);

	if (!(ns > 0))
		return;
	table_right(&t, text_lost_share(cell, ns / (double)v->result->threads_ns), LOST_WIDTH);
	table_right(&t, text_time(cell, (uint64_t)ns), TIME_WIDTH);
	text_printf(&where, " %s", report_elsewhere(v));
	table_last(&t, where.s);
	text_release(&where);
}

/* Returns whether the output is kept to one screen, as the user did not ask for more. */
static bool is_limited(const struct view *v)
{
	return !v->top && !v->all && !v->sort;
}

/* What stands in the table and in no head of a column. */
struct signs {
	bool site, via, likely;
};

static void note_signs(struct signs *signs, const struct view *v, const struct block *b,
		       const struct text *row)
{
	signs->site |= block_is_wait(b);
	signs->via |= has_spark(v) && strstr(row->s, " via ");
	signs->likely |= has_spark(v) && strstr(row->s, "%?");
}

static void explain(const struct view *v, const struct signs *signs, struct text *out)
{
	struct text line = { 0 };

	if (has_spark(v))
		text_add(&line, "SPREAD: calls by duration, fast to slow.");
	if (signs->likely)
		text_add(&line, " ?: not certain.");
	if (signs->via)
		text_add(&line, " via: main caller.");
	if (signs->site)
		text_printf(&line, "%s[...]: waits outside traced functions.", line.n ? " " : "");
	if (line.n)
		text_wrap(line.s, v->width, out);
	text_release(&line);
}

/* Lines of the explanation beyond the first. */
static unsigned more_than_one(const struct view *v, const struct signs *signs)
{
	struct text text = { 0 };
	unsigned n;

	explain(v, signs, &text);
	n = text_lines(&text);
	text_release(&text);
	return n ? n - 1 : 0;
}

#define LARGE 0.5 /* of what the first row loses */

/* Notes whether a row for which there is no room loses nearly as much as the first one. */
static void note_large(const struct view *v, const struct block *b, double first_ns)
{
	if (v->hides_large && is_limited(v) && first_ns > 0 &&
	    report_counted_ns(v, b) >= LARGE * first_ns)
		*v->hides_large = true;
}

/* lines: that the rows may take, for the first screen to be one; the first row is there even if it
 * takes more, then without the explanation. Returns how many rows it has. */
static uint64_t print_table(const struct view *v, unsigned lines, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	uint64_t room = rows_most(v), n = 0;
	struct unseen unseen = { 0 };
	bool limited = is_limited(v);
	struct signs signs = { 0 }, with = { 0 };
	unsigned used = 0;
	double first_ns = INFINITY;

	for (size_t i = 0; i < v->n_rows; i++) {
		struct text row = { 0 };

		if (!report_listed(v, v->rows[i])) {
			if (!v->all && report_counted_ns(v, v->rows[i]) > 0)
				count_unseen(v, &unseen, v->rows[i], false);
			continue;
		}
		t.out = &row;
		if (n < room || v->rows[i] == v->named)
			print_row(v, &t, v->rows[i]);
		with = signs;
		if (row.n)
			note_signs(&with, v, v->rows[i], &row);
		/* the row that the first sentence names is there, however short the screen is */
		if ((n == room ||
		     (limited && n && used + text_lines(&row) + more_than_one(v, &with) > lines)) &&
		    !(limited && v->rows[i] == v->named)) {
			count_unseen(v, &unseen, v->rows[i], true);
			note_large(v, v->rows[i], first_ns);
			room = n;
			text_release(&row);
			continue;
		}
		t.out = out;
		if (!n++) {
			print_head(v, &t);
			first_ns = report_counted_ns(v, v->rows[i]);
		}
		text_add(out, row.s);
		used += text_lines(&row);
		text_release(&row);
		signs = with;
	}
	if (n) {
		print_more(v, &unseen, out);
		print_elsewhere(v, out);
		if (!limited || used + more_than_one(v, &signs) <= lines)
			explain(v, &signs, out);
		text_add(out, "\n");
	}
	return n;
}

#define TABLE_LEAST    7 /* rows that are always shown, if there are as many */
#define ROW_LINES      2 /* of each row, if there is room */
#define SECOND_COMMAND "       ispot "
#define OTHER_LINES    4 /* the table's head, further rows, the explanation, an empty one */

static unsigned less(unsigned lines, unsigned taken, unsigned least)
{
	return lines > taken + least ? lines - taken : least;
}

/* Returns how many lines the table would take with all its rows. */
static unsigned table_lines(const struct view *v)
{
	struct text table = { 0 };
	unsigned n;

	print_table(v, UINT32_MAX, &table);
	n = text_lines(&table);
	text_release(&table);
	return n < TABLE_LEAST ? n : TABLE_LEAST;
}

/* Drops the second of the suggested commands if there is no line for it. It shows less than the
 * first. */
static void drop_second_command(struct text *to_do)
{
	char *second = to_do->s ? strstr(to_do->s, "\n" SECOND_COMMAND) : NULL;

	if (!second)
		return;
	second[1] = '\0';
	to_do->n = strlen(to_do->s);
}

/* Explains where the cycles come from, and what they do not include. */
static void cycles_note(const struct view *v, struct text *out)
{
	struct text note = { 0 };
	const char *why;
	double rate = meta_cycles_per_ns(v->result->meta, &why);

	if (*why)
		text_printf(&note, "Cycles: n/a, %s.", why);
	else if (v->result->counters.stamp)
		text_printf(&note, "Cycles: calls were stamped with the TSC, %.4g cycles per ns.",
			    rate);
	else
		text_printf(&note,
			    "Cycles: converted from ns at %.4g cycles of the TSC per ns; record -k "
			    "tsc stamps calls with it.",
			    rate);
	text_wrap(note.s, v->width, out);
	text_add(out, "\n");
	text_release(&note);
}

static void print_notes(const struct view *v, struct text *out)
{
	if (v->cycles)
		cycles_note(v, out);
	text_sequences_note(v, out);
	text_locks_note(v, out);
	text_sites_note(v, out);
}

/* Prints the whole view, or as much of it as v->shortened leaves. */
static void print_screen(const struct view *v, struct text *out)
{
	struct text conclusion = { 0 }, remarks = { 0 }, to_do = { 0 }, notes = { 0 };
	unsigned room, table, taken, least;
	uint64_t rows;

	text_header(v, out);
	text_add(out, "\n");
	text_conclusion(v, &conclusion);
	if (conclusion.n) {
		text_add(out, conclusion.s);
		text_details(v, out);
		text_add(out, "\n");
	}
	text_release(&conclusion);
	text_to_do(v, &to_do);
	print_notes(v, &notes);
	table = table_lines(v);
	taken = text_lines(out) + text_lines(&notes);
	least = (table < OTHER_LINES + ROW_LINES ? table : OTHER_LINES + ROW_LINES) + 1;
	if (is_limited(v) &&
	    (v->shortened >= SHORTEN_CALLS || taken + text_lines(&to_do) + least > SCREEN_LINES))
		drop_second_command(&to_do);
	room = less(SCREEN_LINES, taken + text_lines(&to_do), 1);
	text_remarks(v, less(room, table, 1), &remarks);
	rows = print_table(
		v, less(room, text_lines(&remarks) + OTHER_LINES + (report_elsewhere_ns(v) > 0), 0),
		out);
	text_counters(v, rows, out);
	if (rows)
		text_add(out, notes.s ? notes.s : "");
	text_add(out, remarks.s ? remarks.s : "");
	text_add(out, to_do.s ? to_do.s : "");
	text_release(&remarks);
	text_release(&notes);
	text_release(&to_do);
}

/* Makes room for rows that lose nearly as much as the first, if shorter text can. A view of threads
 * is about all of them, so it gives up more text for them. */
static void make_room(const struct view *fitting, void (*print)(const struct view *, struct text *),
		      struct text *out)
{
	struct view shorter = *fitting;

	while (shorter.shortened < (fitting->by_thread ? SHORTEN_OTHERS : SHORTEN_NOTES)) {
		struct text text = { 0 };

		shorter.shortened++;
		*shorter.hides_large = false;
		print(&shorter, &text);
		if (!*shorter.hides_large) {
			text_release(out);
			*out = text;
			return;
		}
		text_release(&text);
	}
}

void text_fitting(const struct view *v, void (*print)(const struct view *, struct text *),
		  struct text *out)
{
	struct view shorter = *v;
	struct text text = { 0 };
	bool hides_large = false;

	shorter.hides_large = &hides_large;
	print(&shorter, &text);
	while (is_limited(v) && text_lines(&text) > SCREEN_LINES &&
	       shorter.shortened < SHORTEN_NO_LEGEND) {
		text_release(&text);
		hides_large = false;
		shorter.shortened++;
		print(&shorter, &text);
	}
	if (hides_large)
		make_room(&shorter, print, &text);
	text_add(out, text.s ? text.s : "");
	text_release(&text);
}

void report_text(const struct view *v, struct text *out)
{
	text_fitting(v, print_screen, out);
}
