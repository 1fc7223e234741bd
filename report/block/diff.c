/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/diff/diff.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/diff.h"
#include "report/block/json.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define ROWS_DEFAULT 15
#define NAME_BYTES   256
#define NAME_INDENT  8 /* of a name that has no room in its row */

static const char *const side_names[DIFF_SIDES] = { "before", "after" };

/* ---- text ---- */

static void time_or_na(struct text *out, double ns)
{
	char time[TEXT_NUMBER];

	text_add(out, isnan(ns) ? "n/a" : text_time(time, (uint64_t)(ns + 0.5)));
}

static void cell_time(struct table *t, double ns, unsigned width)
{
	struct text cell = { 0 };

	time_or_na(&cell, ns);
	table_right(t, cell.s, width);
	text_release(&cell);
}

static double lost_share(const struct diff *diff, enum diff_side side)
{
	return diff->threads_ns[side] > 0 ? diff->lost_ns[side] / diff->threads_ns[side] : 0;
}

static double run_time_change(const struct diff *diff)
{
	return diff->duration_ns[DIFF_AFTER] / diff->duration_ns[DIFF_BEFORE] - 1;
}

static void print_sides(const struct diff_view *v, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	const struct diff *diff = v->diff;

	table_style(&t, TABLE_BOLD);
	table_left(&t, "", 6);
	table_right(&t, "RECORDED", 8);
	table_right(&t, "THREAD TIME", 11);
	table_right(&t, "LOST", 6);
	table_right(&t, "TIME", 6);
	table_last(&t, " COMMAND");
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct meta_session *s = &diff->runs[side].data[0].result.meta->session;
		char command[NAME_BYTES], share[TEXT_NUMBER];
		struct text what = { 0 };
		size_t n = diff->runs[side].n;

		table_left(&t, side_names[side], 6);
		cell_time(&t, diff->duration_ns[side], 8);
		cell_time(&t, diff->threads_ns[side], 11);
		table_right(&t, text_share(share, lost_share(diff, side)), 6);
		cell_time(&t, diff->lost_ns[side], 6);
		text_printf(&what, " %s",
			    text_printable(command, sizeof(command),
					   s->command && *s->command ? s->command : "attached"));
		if (n > 1)
			text_printf(&what, ", mean of %zu", n);
		table_last(&t, what.s);
		text_release(&what);
	}
}

#define LOST_LEAST 0.005 /* of thread time: a smaller difference is not called a change */

static void report_lost(const struct diff *diff, struct text *out)
{
	double before = lost_share(diff, DIFF_BEFORE), after = lost_share(diff, DIFF_AFTER);
	char a[TEXT_NUMBER], b[TEXT_NUMBER];

	text_share(a, before);
	text_share(b, after);
	if (fabs(after - before) < LOST_LEAST)
		text_printf(out, "Lost time stays at %s of thread time.", b);
	else
		text_printf(out, "Lost time %s from %s to %s of thread time.",
			    after > before ? "grows" : "falls", a, b);
}

/*
 * Compares the durations, unless a time limit ended a recording: the user chose the duration then.
 */
static void report_run_time(const struct diff *diff, struct text *out)
{
	double change = run_time_change(diff);
	char a[TEXT_NUMBER], b[TEXT_NUMBER];

	if (diff->timed || isnan(change))
		return;
	text_time(a, (uint64_t)diff->duration_ns[DIFF_BEFORE]);
	text_time(b, (uint64_t)diff->duration_ns[DIFF_AFTER]);
	if (fabs(change) < DIFF_LEAST)
		text_printf(out, " The run takes %s, as before.", b);
	else
		text_printf(out, " The run takes %s instead of %s, %.0f%% %s.", b, a,
			    100 * fabs(change), change > 0 ? "more" : "less");
}

#define MUCH	  0.05 /* of run time: a change that the functions should account for */
#define ACCOUNTED 0.5

/* Reports how much of the change in thread time the changed functions account for. */
static void report_unaccounted(const struct diff *diff, struct text *out)
{
	double change = run_time_change(diff), moved = 0;
	double all = diff->threads_ns[DIFF_AFTER] - diff->threads_ns[DIFF_BEFORE];
	char share[TEXT_NUMBER];
	unsigned n = 0;

	if (diff->timed || isnan(change) || fabs(change) < MUCH || !(fabs(all) > 0))
		return;
	vec_for_each (&diff->blocks, const struct diff_block, b)
		if (b->verdict <= DIFF_FASTER && !isnan(diff_moved_ns(b))) {
			moved += diff_moved_ns(b);
			n++;
		}
	if (!n) /* the last sentence already says that no function changes */
		return;
	if (moved / all < LOST_LEAST)
		text_add(out, " No traced function accounts for that.");
	else if (moved / all < ACCOUNTED)
		text_printf(out, " Traced functions account for %s of that.",
			    text_share(share, moved / all));
}

static const char *named(const struct diff_block *b, char buf[NAME_BYTES])
{
	return text_printable(buf, NAME_BYTES, b->name);
}

static double mean_of(const struct diff_block *b, enum diff_side side)
{
	const struct diff_half *h = &b->half[side];

	return b->by_whole ? h->seen_ns + h->cpu_wait_ns : h->seen_ns;
}

static void report_change(const struct diff_block *b, struct text *out)
{
	const struct diff_change *c = diff_decisive(b);
	char name[NAME_BYTES];

	text_printf(out, "%s is %s: its %s call takes ", named(b, name),
		    diff_verdict_words(b->verdict), b->by_typical ? "typical" : "mean");
	if (!b->by_typical) {
		time_or_na(out, mean_of(b, DIFF_AFTER));
		text_add(out, " instead of ");
		time_or_na(out, mean_of(b, DIFF_BEFORE));
		text_add(out, ", ");
	}
	text_printf(out, "%.0f%% %s (%.0f to %.0f%%)", 100 * fabs(c->ratio),
		    c->ratio > 0 ? "more" : "less", 100 * (c->ratio > 0 ? c->low : -c->high),
		    100 * (c->ratio > 0 ? c->high : -c->low));
	if (b->by_whole)
		text_add(out, ", because it waits for a CPU");
	text_add(out, ".");
}

static size_t count(const struct diff *diff, enum diff_verdict verdict)
{
	size_t n = 0;

	vec_for_each (&diff->blocks, const struct diff_block, b)
		n += b->verdict == verdict;
	return n;
}

static void conclude(const struct diff_view *v, struct text *out)
{
	const struct diff *diff = v->diff;
	size_t changed = count(diff, DIFF_SLOWER) + count(diff, DIFF_FASTER);
	struct text line = { 0 };

	report_lost(diff, &line);
	report_run_time(diff, &line);
	report_unaccounted(diff, &line);
	text_wrap(line.s, v->width, out);
	text_release(&line);
	if (changed)
		report_change(&diff->blocks.data[0], &line);
	if (!changed)
		text_add(&line, "No traced function changes beyond the noise.");
	else if (changed == 1)
		text_add(&line, " No other traced function changes beyond the noise.");
	else
		text_printf(&line, " %zu more change.", changed - 1);
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

static void cell(struct table *t, const char *format, double value, unsigned width)
{
	char buf[32];

	snprintf(buf, sizeof(buf), format, value);
	table_right(t, isnan(value) ? "n/a" : buf, width);
}

static double known_ns(uint64_t ns)
{
	return ns == BLOCK_NONE ? NAN : (double)ns;
}

#define WIDE 96 /* columns of a screen with room for the scores and a name beside them */

enum shown { SHOWN, SHOWN_ALL, SHOWN_WIDE }; /* always; with -v; with -v on a wide screen */

static bool is_shown(const struct diff_view *v, enum shown shown)
{
	return shown == SHOWN || (v->all && (shown == SHOWN_ALL || v->width >= WIDE));
}

static void print_head(const struct diff_view *v, struct table *t)
{
	static const struct {
		const char *head;
		unsigned width;
		enum shown shown;
	} heads[] = { { "TIME", 7, SHOWN },	 { "MEAN", 6, SHOWN },
		      { "AFTER", 6, SHOWN },	 { "CHANGE", 7, SHOWN },
		      { "NOISE", 5, SHOWN },	 { "MIN", 6, SHOWN_ALL },
		      { "AFTER", 6, SHOWN_ALL }, { "SCI", 5, SHOWN_WIDE },
		      { "AFTER", 5, SHOWN_WIDE } };

	table_style(t, TABLE_BOLD);
	for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (is_shown(v, heads[i].shown))
			table_right(t, heads[i].head, heads[i].width);
	table_left(t, " VERDICT", VERDICT_WIDTH);
	table_last(t, "FUNCTION");
}

/*
 * Prints the thread time that a function wins or loses, without a sign where the verdict says
 * which. The mean of one whose typical call changes may change the other way, by chance.
 */
static void cell_moved(struct table *t, const struct diff_block *b)
{
	double ns = diff_moved_ns(b);
	char time[TEXT_NUMBER], signed_time[TEXT_NUMBER + 1];

	if (b->verdict == DIFF_FASTER || b->verdict == DIFF_SLOWER) {
		cell_time(t, (b->verdict == DIFF_FASTER) == (ns > 0) ? NAN : fabs(ns), 7);
		return;
	}
	snprintf(signed_time, sizeof(signed_time), "%s%s", ns < 0 ? "-" : "+",
		 isnan(ns) ? "" : text_time(time, (uint64_t)(fabs(ns) + 0.5)));
	table_right(t, isnan(ns) ? "n/a" : fabs(ns) < 0.5 ? "0" : signed_time, 7);
}

static void print_row(const struct diff_view *v, struct table *t, const struct diff_block *b)
{
	const struct diff_half *x = &b->half[DIFF_BEFORE], *y = &b->half[DIFF_AFTER];
	const struct diff_change *c = diff_decisive(b);
	char name[NAME_BYTES], verdict[32];

	table_style(t, b->verdict == DIFF_SLOWER   ? TABLE_RED
		       : b->verdict == DIFF_FASTER ? TABLE_BOLD
						   : TABLE_DIM);
	cell_moved(t, b);
	cell_time(t, mean_of(b, DIFF_BEFORE), 6);
	cell_time(t, mean_of(b, DIFF_AFTER), 6);
	cell(t, "%+.0f%%", 100 * c->ratio, 7);
	cell(t, "%.0f%%", 100 * b->noise, 5);
	if (is_shown(v, SHOWN_ALL)) {
		cell_time(t, known_ns(x->min_ns), 6);
		cell_time(t, known_ns(y->min_ns), 6);
	}
	if (is_shown(v, SHOWN_WIDE)) {
		cell(t, "%.2f", x->runs ? x->sci : NAN, 5);
		cell(t, "%.2f", y->runs ? y->sci : NAN, 5);
	}
	snprintf(verdict, sizeof(verdict), " %s", diff_verdict_words(b->verdict));
	if (table_columns(named(b, name)) + VERDICT_WIDTH + 1 <= table_room(t)) {
		table_left(t, verdict, VERDICT_WIDTH);
		table_last(t, name);
	} else {
		table_last(t, verdict);
		text_printf(t->out, "%*s%s\n", NAME_INDENT, "", name);
	}
}

static void print_table(const struct diff_view *v, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	uint64_t room = v->top ? v->top : v->all ? UINT64_MAX : ROWS_DEFAULT, n = 0;

	vec_for_each (&v->diff->blocks, const struct diff_block, b) {
		bool changed = b->verdict == DIFF_SLOWER || b->verdict == DIFF_FASTER;
		bool new = b->verdict == DIFF_ONLY_AFTER && b->half[DIFF_AFTER].sci >= SCI_SMALL;

		if ((!changed && !new && !v->all) || n == room)
			continue;
		if (!n++)
			print_head(v, &t);
		print_row(v, &t, b);
	}
	if (n)
		text_add(out, "TIME: thread time won or lost. NOISE: a change up to this may be "
			      "chance.\n\n");
}

/*
 * Warns if the programs differ: blocks are matched by object and name, which rarely match between
 * programs.
 */
static void warn_programs(const struct diff *diff, unsigned width, struct text *out)
{
	const char *before = diff->runs[0].data[0].result.meta->session.program;
	const char *after = diff->runs[1].data[0].result.meta->session.program;
	char names[DIFF_SIDES][NAME_BYTES];
	struct text line = { 0 };

	if (!before || !after || !*before || !*after || !strcmp(before, after))
		return;
	text_printf(&line,
		    "warning: the programs differ, %s before and %s after: only functions of the "
		    "same object and name are compared",
		    text_printable(names[0], sizeof(names[0]), before),
		    text_printable(names[1], sizeof(names[1]), after));
	text_wrap(line.s, width, out);
	text_release(&line);
}

static void warn_names(const struct diff *diff, size_t offset, const char *what, unsigned width,
		       struct text *out)
{
	struct text line = { 0 };
	char name[NAME_BYTES];
	unsigned n = 0;

	vec_for_each (&diff->blocks, const struct diff_block, b)
		if (*(const bool *)((const char *)b + offset) && ++n <= 3) {
			text_add(&line, n == 1 ? "warning: " : ", ");
			text_add(&line, named(b, name));
		}
	if (n > 3)
		text_printf(&line, " and %u more", n - 3);
	if (n) {
		text_printf(&line, ": %s", what);
		text_wrap(line.s, width, out);
	}
	text_release(&line);
}

#define ONE_SIDED_LEAST 0.01 /* of thread time: a function that lost less is not missed */

/* Warns of the function that lost most time on one side and was not traced on the other: what it
 * gained or lost since is in no row. */
static void warn_one_sided(const struct diff_view *v, enum diff_side side, struct text *out)
{
	const enum diff_verdict verdict = side == DIFF_BEFORE ? DIFF_ONLY_BEFORE : DIFF_ONLY_AFTER;
	const double part = v->diff->duration_ns[side] / v->diff->threads_ns[side];
	const struct diff_block *most = NULL;
	struct text line = { 0 };
	char name[NAME_BYTES], share[TEXT_NUMBER];

	vec_for_each (&v->diff->blocks, const struct diff_block, b)
		if (b->verdict == verdict && !b->half[side].idle &&
		    b->half[side].lost_threads * part >= ONE_SIDED_LEAST &&
		    (!most || b->half[side].lost_threads > most->half[side].lost_threads))
			most = b;
	if (!most || !(v->diff->threads_ns[side] > 0))
		return;
	text_printf(&line,
		    "warning: %s cost %s of thread time %s and was not traced %s: its change is "
		    "unknown. Record the same functions on both sides: ispot record -F @",
		    named(most, name), text_share(share, most->half[side].lost_threads * part),
		    side_names[side], side_names[side == DIFF_BEFORE ? DIFF_AFTER : DIFF_BEFORE]);
	text_shell_word(&line, v->diff->runs[side].data[0].path);
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

static void print_warnings(const struct diff_view *v, struct text *out)
{
	warn_one_sided(v, DIFF_BEFORE, out);
	warn_one_sided(v, DIFF_AFTER, out);
	warn_names(v->diff, offsetof(struct diff_block, other_probe),
		   "probed differently on the two sides; do not compare short calls", v->width,
		   out);
	warn_names(v->diff, offsetof(struct diff_block, other_calls),
		   "more than twice as many calls on one side; check that the work is the same",
		   v->width, out);
}

static void print_counts(const struct diff_view *v, struct text *out)
{
	static const struct {
		enum diff_verdict verdict;
		const char *words;
	} rows[] = { { DIFF_SAME, "unchanged" },
		     { DIFF_TOO_FEW_CALLS, "with too few calls (< 100)" },
		     { DIFF_CANNOT_TELL, "not comparable" },
		     { DIFF_ONLY_BEFORE, "only before" },
		     { DIFF_ONLY_AFTER, "only after" } };
	const struct diff *diff = v->diff;
	struct text line = { 0 };

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = count(diff, rows[i].verdict);

		if (!n)
			continue;
		text_printf(&line, "%s%zu %s", line.n ? ", " : "Left out: ", n, rows[i].words);
	}
	if (line.n) {
		text_add(&line, " (-v), and untraced functions");
		text_wrap(line.s, v->width, out);
	}
	text_release(&line);
}

/* Returns the share of the calls' time that was spent waiting for a CPU, which no column shows. */
static double cpu_wait_part(const struct diff *diff, enum diff_side side)
{
	double waited = 0, all = 0;

	vec_for_each (&diff->blocks, const struct diff_block, b) {
		const struct diff_half *h = &b->half[side];

		if (!h->runs || isnan(h->seen_ns) || isnan(h->cpu_wait_ns))
			continue;
		waited += h->cpu_wait_ns * (double)h->timed_calls;
		all += (h->seen_ns + h->cpu_wait_ns) * (double)h->timed_calls;
	}
	return all > 0 ? waited / all : 0;
}

/*
 * Explains rows whose CHANGE is that of the typical call although the columns beside it show means.
 */
static void note_typical(const struct diff_view *v, struct text *out)
{
	struct text line = { 0 };
	char name[NAME_BYTES];
	size_t n = 0;

	vec_for_each (&v->diff->blocks, const struct diff_block, b)
		if (b->by_typical && !n++)
			text_printf(&line, "note: CHANGE of %s", named(b, name));
	if (n > 1)
		text_printf(&line, " and %zu more", n - 1);
	if (n) {
		text_add(&line, " is that of the typical call (the geometric mean): the longest "
				"calls make the mean too uncertain");
		text_wrap(line.s, v->width, out);
	}
	text_release(&line);
}

static void print_notes(const struct diff_view *v, struct text *out)
{
	double before = cpu_wait_part(v->diff, DIFF_BEFORE);
	double after = cpu_wait_part(v->diff, DIFF_AFTER);
	struct text line = { 0 };

	if (before >= 0.01 || after >= 0.01)
		text_printf(&line,
			    "note: means do not include waiting for a CPU, which depends on other "
			    "load: %.0f%% of the calls' time before, %.0f%% after",
			    100 * before, 100 * after);
	if (line.n)
		text_wrap(line.s, v->width, out);
	text_release(&line);
	note_typical(v, out);
	if (v->diff->runs[0].n < DIFF_RUNS_ENOUGH || v->diff->runs[1].n < DIFF_RUNS_ENOUGH)
		text_wrap(
			"note: one run may differ from the next as a whole; record three or more on "
			"each side: ispot diff a1 a2 a3 -- b1 b2 b3",
			v->width, out);
}

void report_diff_text(const struct diff_view *v, struct text *out)
{
	print_sides(v, out);
	warn_programs(v->diff, v->width, out);
	text_add(out, "\n");
	conclude(v, out);
	text_add(out, "\n");
	print_table(v, out);
	print_warnings(v, out);
	if (!v->all)
		print_counts(v, out);
	print_notes(v, out);
}

/* ---- JSON ---- */

static struct json *side_json(const struct diff *diff, enum diff_side side)
{
	struct json *j = json_new_object(), *files = json_new_array();

	vec_for_each (&diff->runs[side], const struct diff_run, run)
		json_add_string(files, run->path);
	json_set_take(j, "files", files);
	json_set_u64(j, "duration_ns", (uint64_t)diff->duration_ns[side]);
	json_set_f64(j, "lost_threads", diff->lost_threads[side]);
	return j;
}

static struct json *half_json(const struct diff_half *h)
{
	struct json *j = json_new_object();

	json_set_u64(j, "calls", h->calls);
	json_set_u64(j, "timed_calls", h->timed_calls);
	report_set_known(j, "min_ns", h->min_ns);
	report_set_known(j, "total_ns", h->timed_calls ? h->total_ns : BLOCK_NONE);
	json_set_f64(j, "mean_ns", h->mean_ns);
	json_set_f64(j, "compared_ns", h->seen_ns);
	json_set_f64(j, "cpu_wait_ns", h->cpu_wait_ns);
	json_set_f64(j, "sci", h->sci);
	json_set_f64(j, "lost_threads", h->lost_threads);
	return j;
}

static struct json *change_json(const struct diff_change *c)
{
	struct json *j = json_new_object();

	json_set_f64(j, "ratio", c->ratio);
	json_set_f64(j, "low", c->low);
	json_set_f64(j, "high", c->high);
	return j;
}

static struct json *block_json(const struct diff_block *b)
{
	struct json *j = json_new_object();

	report_set_name(j, "name", b->name);
	report_set_name(j, "object", b->object);
	json_set_string(j, "verdict", diff_verdict_name(b->verdict));
	report_set_known(j, "min_ns", b->min_ns);
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		if (b->half[side].runs)
			json_set_take(j, side_names[side], half_json(&b->half[side]));
		else
			json_set_null(j, side_names[side]);
	}
	json_set_take(j, "mean_change", change_json(&b->mean));
	json_set_take(j, "typical_change", change_json(&b->typical));
	json_set_take(j, "whole_change", change_json(&b->whole));
	json_set_f64(j, "noise", b->noise);
	json_set_bool(j, "by_typical", b->by_typical);
	json_set_bool(j, "by_whole", b->by_whole);
	json_set_bool(j, "other_probe", b->other_probe);
	json_set_bool(j, "other_calls", b->other_calls);
	return j;
}

void report_diff_json(const struct diff_view *v, struct text *out)
{
	struct json *j = json_new_object(), *blocks = json_new_array();
	uint64_t n = 0;

	json_set_u64(j, "version", DIFF_JSON_VERSION);
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		json_set_take(j, side_names[side], side_json(v->diff, side));
	json_set_u64(j, "slower", count(v->diff, DIFF_SLOWER));
	json_set_u64(j, "faster", count(v->diff, DIFF_FASTER));
	vec_for_each (&v->diff->blocks, const struct diff_block, b)
		if (!v->top || n++ < v->top)
			json_add_take(blocks, block_json(b));
	json_set_take(j, "blocks", blocks);
	json_print(j, out, true);
	text_add(out, "\n");
	json_free(j);
}
