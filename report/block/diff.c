/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/diff/diff.h"
#include "analysis/result/notice.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/diff.h"
#include "report/block/json.h"
#include "report/block/slowed.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "symbol/name.h"
#include "trace/meta/meta.h"

#define ROWS_DEFAULT 15
#define ROWS_LEAST   3 /* that notes leave room for */
#define ROW_LINES    2 /* of a row whose name is long */
#define OTHER_LINES  4 /* of the table: its head, the legend, an empty line, what is left out */
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
	table_right(&t, "THREAD TIME", 13);
	table_right(&t, "LOST TIME", 13); /* its share, and its time */
	table_last(&t, " COMMAND");
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct meta_session *s = &diff->runs[side].data[0].result.meta->session;
		char command[NAME_BYTES], share[TEXT_NUMBER];
		struct text what = { 0 };
		size_t n = diff->runs[side].n;

		table_left(&t, side_names[side], 6);
		cell_time(&t, diff->duration_ns[side], 8);
		cell_time(&t, diff->threads_ns[side], 13);
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
	char a[TEXT_NUMBER], b[TEXT_NUMBER], longer[TEXT_NUMBER];

	if (diff->timed || isnan(change))
		return;
	text_time(a, (uint64_t)diff->duration_ns[DIFF_BEFORE]);
	text_time(b, (uint64_t)diff->duration_ns[DIFF_AFTER]);
	if (fabs(change) < DIFF_LEAST)
		text_printf(out, " The run takes %s, as before.", b);
	else
		text_printf(out, " The run takes %s instead of %s, %s.", b, a,
			    text_longer(longer, change));
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
		if (diff_changed(b) && !isnan(diff_moved_ns(b))) {
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

/* Returns the duration of a call whose change decides: the mean, or that of the typical call. */
static double call_of(const struct diff_block *b, enum diff_side side)
{
	const struct diff_half *h = &b->half[side];

	if (b->by_typical)
		return h->typical_ns;
	return b->by_whole ? h->seen_ns + h->cpu_wait_ns : h->seen_ns;
}

/* Reports a function that is called on one side alone, although both traced it. */
static void report_uncalled(const struct diff *diff, const struct diff_block *b, struct text *out)
{
	bool gone = b->verdict == DIFF_ONLY_BEFORE;
	char name[NAME_BYTES], share[TEXT_NUMBER];

	text_printf(out,
		    gone ? "%s is not called any more: its own code took %s of the thread time "
			   "before."
			 : "%s is called only now: its own code adds %s to the thread time before.",
		    named(b, name), text_multiple(share, fabs(diff_moved_share(diff, b))));
}

static void report_change(const struct diff_block *b, struct text *out)
{
	const struct diff_change *c = diff_decisive(b);
	char name[NAME_BYTES], longer[TEXT_NUMBER];
	bool more = c->ratio > 0;

	text_printf(out, "%s is %s: its %s call takes ", named(b, name),
		    diff_verdict_words(b->verdict), b->by_typical ? "typical" : "mean");
	time_or_na(out, call_of(b, DIFF_AFTER));
	text_add(out, " instead of ");
	time_or_na(out, call_of(b, DIFF_BEFORE));
	text_add(out, ", ");
	text_longer(longer, c->ratio);
	if (c->ratio + 1 >= TEXT_TIMES_LEAST)
		text_printf(out, "%s (%.0f to %.0f)", longer, 1 + c->low, 1 + c->high);
	else
		text_printf(out, "%s (%.0f to %.0f%%)", longer, 100 * (more ? c->low : -c->high),
			    100 * (more ? c->high : -c->low));
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

#define ROW_LEAST 0.01 /* of thread time: with less that may have moved, a block has no row */

/* Whether the noise hides what may be a change of much time. */
static bool is_hidden(const struct diff *diff, const struct diff_block *b)
{
	return b->verdict == DIFF_CANNOT_TELL && !isnan(b->noise) &&
	       fabs(diff_moved_share(diff, b)) >= ROW_LEAST;
}

/* Whether the block has a row without -v. */
static bool is_listed(const struct diff *diff, const struct diff_block *b)
{
	if (b->uncalled)
		return fabs(diff_moved_share(diff, b)) >= ROW_LEAST;
	return diff_changed(b) || is_hidden(diff, b) ||
	       (b->verdict == DIFF_ONLY_AFTER && b->half[DIFF_AFTER].sci >= SCI_SMALL);
}

/* Returns how many functions changed, and the first of them. */
static size_t changes(const struct diff *diff, const struct diff_block **first)
{
	size_t n = 0;

	vec_for_each (&diff->blocks, const struct diff_block, b)
		if (diff_changed(b) && is_listed(diff, b) && !n++)
			*first = b;
	return n;
}

static const struct diff_block *first_hidden(const struct diff *diff)
{
	vec_for_each (&diff->blocks, const struct diff_block, b)
		if (is_hidden(diff, b))
			return b;
	return NULL;
}

static void report_hidden(const struct diff_block *b, struct text *out)
{
	char name[NAME_BYTES], before[TEXT_NUMBER], after[TEXT_NUMBER];

	text_printf(out,
		    "%sCannot tell whether %s changes: its mean call takes %s instead of %s, in a "
		    "noise of %.0f%%. Record more or longer runs.",
		    out->n ? " " : "", named(b, name),
		    text_time(after, (uint64_t)call_of(b, DIFF_AFTER)),
		    text_time(before, (uint64_t)call_of(b, DIFF_BEFORE)), 100 * b->noise);
}

static void conclude(const struct diff_view *v, struct text *out)
{
	const struct diff *diff = v->diff;
	const struct diff_block *first = NULL, *hidden;
	size_t changed = changes(diff, &first);
	struct text line = { 0 };

	report_lost(diff, &line);
	report_run_time(diff, &line);
	report_unaccounted(diff, &line);
	text_wrap(line.s, v->width, out);
	text_release(&line);
	if (first && first->uncalled)
		report_uncalled(diff, first, &line);
	else if (first)
		report_change(first, &line);
	hidden = first_hidden(diff);
	if (changed <= 1 && hidden)
		report_hidden(hidden, &line);
	else if (!changed)
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

/* format: of a percentage */
static void cell_share(struct table *t, const char *format, double share, unsigned width)
{
	if (fabs(share) >= TEXT_TIMES_LEAST)
		cell(t, format[1] == '+' ? "%+.0fx" : "%.0fx", share, width);
	else
		cell(t, format, 100 * share, width);
}

/* Prints a change as a percentage, or from ten times on as a factor, as sentences do. */
static void cell_change(struct table *t, double change, unsigned width)
{
	if (change + 1 >= TEXT_TIMES_LEAST)
		cell(t, "%.0fx", change + 1, width);
	else
		cell(t, "%+.0f%%", 100 * change, width);
}

/* Prints the duration of a call, marked if it is not the mean. */
static void cell_call(struct table *t, const struct diff_block *b, enum diff_side side,
		      unsigned width)
{
	struct text cell = { 0 };

	text_add(&cell, b->by_typical ? "~" : "");
	time_or_na(&cell, call_of(b, side));
	table_right(t, cell.s, width);
	text_release(&cell);
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
	} heads[] = { { "OWN TIME", 8, SHOWN },	 { "MEAN CALL", 10, SHOWN },
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

#define SHARE_LEAST 0.00005 /* of thread time: rounds to 0.01% */

/* Prints the thread time that a function saved (-) or added (+). */
static void cell_moved(const struct diff_view *v, struct table *t, const struct diff_block *b)
{
	double share = diff_moved_share(v->diff, b);

	if (diff_is_idle(b))
		table_right(t, "idle", 8);
	else if (fabs(share) < SHARE_LEAST)
		table_right(t, "0%", 8);
	else
		cell_share(t, fabs(share) < 0.001 ? "%+.2f%%" : "%+.1f%%", share, 8);
}

static void print_row(const struct diff_view *v, struct table *t, const struct diff_block *b)
{
	const struct diff_half *x = &b->half[DIFF_BEFORE], *y = &b->half[DIFF_AFTER];
	const struct diff_change *c = diff_decisive(b);
	char name[NAME_BYTES], verdict[32];

	table_style(t, b->verdict == DIFF_SLOWER   ? TABLE_RED
		       : b->verdict == DIFF_FASTER ? TABLE_BOLD
						   : TABLE_DIM);
	cell_moved(v, t, b);
	cell_call(t, b, DIFF_BEFORE, 10);
	cell_call(t, b, DIFF_AFTER, 6);
	cell_change(t, c->ratio, 7);
	cell_share(t, "%.0f%%", b->noise, 5);
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
		text_printf(t->out, "%*s%s\n", NAME_INDENT, "",
			    name_brief(name, sizeof(name), b->name, v->width - NAME_INDENT));
	}
}

/* Prints rows until they are as many as asked for, or fill the lines. Returns how many. */
static size_t print_rows(const struct diff_view *v, unsigned lines, struct text *out)
{
	uint64_t most = v->top ? v->top : v->all ? UINT64_MAX : ROWS_DEFAULT;
	size_t n = 0;

	vec_for_each (&v->diff->blocks, const struct diff_block, b) {
		struct text row = { 0 };
		struct table t = { .out = &row, .width = v->width, .colours = v->colours };

		if (!v->all && !is_listed(v->diff, b))
			continue;
		print_row(v, &t, b);
		if (n == most || (n >= ROWS_LEAST && text_lines(out) + text_lines(&row) > lines)) {
			text_release(&row);
			break;
		}
		text_add(out, row.s);
		text_release(&row);
		n++;
	}
	return n;
}

static unsigned less(unsigned lines, unsigned taken)
{
	return lines > taken ? lines - taken : 0;
}

#define TYPICAL_LEGEND "~: the typical call (geometric mean), as a few long calls blur the mean."

static bool any_typical(const struct diff *diff)
{
	vec_for_each (&diff->blocks, const struct diff_block, b)
		if (b->by_typical)
			return true;
	return false;
}

/* Returns the lines of the table that are no rows. */
static unsigned other_lines(const struct diff *diff)
{
	return OTHER_LINES + any_typical(diff);
}

/* lines: of the screen, for all of the table. Returns the number of its rows. */
static size_t print_table(const struct diff_view *v, unsigned lines, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	struct text rows = { 0 };
	size_t n = print_rows(v, less(lines, other_lines(v->diff)), &rows);

	if (!n)
		return 0;
	print_head(v, &t);
	text_add(out, rows.s);
	text_add(out, "OWN TIME: time saved (-) or added (+) outside callees. NOISE: may be "
		      "chance.\n");
	if (any_typical(v->diff))
		text_add(out, TYPICAL_LEGEND "\n");
	text_add(out, "\n");
	text_release(&rows);
	return n;
}

/* Warns if a side has recordings of different programs, whose means are those of neither. */
static void warn_within(const struct diff *diff, enum diff_side side, unsigned width,
			struct text *out)
{
	const char *first = diff_program(diff, side, 0);
	char names[2][NAME_BYTES];
	struct text line = { 0 };

	for (size_t i = 1; i < diff->runs[side].n; i++) {
		const char *program = diff_program(diff, side, i);

		if (!first || !program || !strcmp(first, program))
			continue;
		text_printf(&line,
			    "warning: the recordings %s are of different programs, %s and %s: "
			    "give recordings of one program",
			    side == DIFF_BEFORE ? "before" : "after",
			    text_printable(names[0], sizeof(names[0]), first),
			    text_printable(names[1], sizeof(names[1]), program));
		text_wrap(line.s, width, out);
		break;
	}
	text_release(&line);
}

/* Warns if the programs differ: their blocks are matched by name alone. */
static void warn_programs(const struct diff *diff, unsigned width, struct text *out)
{
	const char *before = diff_program(diff, DIFF_BEFORE, 0);
	const char *after = diff_program(diff, DIFF_AFTER, 0);
	char names[DIFF_SIDES][NAME_BYTES];
	struct text line = { 0 };

	for (unsigned side = 0; side < DIFF_SIDES; side++)
		warn_within(diff, side, width, out);
	if (!before || !after || !strcmp(before, after))
		return;
	text_printf(&line,
		    "warning: the programs differ, %s before and %s after: their functions of the "
		    "same name are taken for the same",
		    text_printable(names[0], sizeof(names[0]), before),
		    text_printable(names[1], sizeof(names[1]), after));
	text_wrap(line.s, width, out);
	text_release(&line);
}

/* Returns the recording of the side that slowed its program most, or NULL if none did much. */
static const struct result *most_slowed(const struct diff *diff, enum diff_side side)
{
	const struct result *most = NULL;

	vec_for_each (&diff->runs[side], const struct diff_run, run)
		if (result_slowed_much(&run->result) &&
		    (!most || run->result.overhead > most->overhead))
			most = &run->result;
	return most;
}

/* Warns if recording slowed a program so much that the changes are those of the slowed one. */
static void warn_slowed(const struct diff_view *v, struct text *out)
{
	struct text line = { 0 };
	const struct result *last = NULL;

	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		const struct result *res = most_slowed(v->diff, side);

		if (!res)
			continue;
		text_add(&line, last ? ", by " : "warning: recording slowed the program by ");
		text_slowed_share(res->overhead, &line);
		text_printf(&line, " %s", side_names[side]);
		last = res;
	}
	if (last) {
		text_add(&line, ": all times are those of the slowed program.");
		text_slow_less(last->meta, &line);
		text_wrap(line.s, v->width, out);
	}
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
		if (b->verdict == verdict && !b->uncalled && !b->half[side].idle &&
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

static void warn_before(const struct diff_view *v, struct text *out)
{
	warn_one_sided(v, DIFF_BEFORE, out);
}

static void warn_after(const struct diff_view *v, struct text *out)
{
	warn_one_sided(v, DIFF_AFTER, out);
}

static void warn_probes(const struct diff_view *v, struct text *out)
{
	warn_names(v->diff, offsetof(struct diff_block, other_probe),
		   "probed differently on the two sides; do not compare short calls", v->width,
		   out);
}

static void warn_calls(const struct diff_view *v, struct text *out)
{
	warn_names(v->diff, offsetof(struct diff_block, other_calls),
		   "more than twice as many calls on one side; check that the work is the same",
		   v->width, out);
}

/* The words by which one line counts functions without a row. If the line is too long, neighbors
 * with the same shorter word are counted together. */
static const struct {
	enum diff_verdict verdict;
	const char *words, *shorter;
} left_out[] = { { DIFF_SLOWER, "smaller changes", "smaller changes" },
		 { DIFF_FASTER, "smaller changes", "smaller changes" },
		 { DIFF_SAME, "unchanged", "unchanged" },
		 { DIFF_TOO_FEW_CALLS, "with too few calls (< 100)", "not comparable" },
		 { DIFF_CANNOT_TELL, "not comparable", "not comparable" },
		 { DIFF_ONLY_BEFORE, "only before", "on one side" },
		 { DIFF_ONLY_AFTER, "only after", "on one side" } };

#define LEFT_OUT (sizeof(left_out) / sizeof(left_out[0]))

static void add_counts(const size_t counts[DIFF_VERDICTS], bool shorter, struct text *line)
{
	const char *words, *next;
	size_t n = 0;

	for (unsigned i = 0; i < LEFT_OUT; i++) {
		words = shorter ? left_out[i].shorter : left_out[i].words;
		next = i + 1 == LEFT_OUT ? ""
		       : shorter	 ? left_out[i + 1].shorter
					 : left_out[i + 1].words;
		n += counts[left_out[i].verdict];
		if (!n || !strcmp(words, next))
			continue;
		text_printf(line, "%s%zu %s", line->n ? ", " : "Left out: ", n, words);
		n = 0;
	}
	if (line->n)
		text_add(line, shorter ? " (-v)" : " (-v), and untraced functions");
}

/* Says in one line what has no row; shown: how many of the listed functions have one. */
static void print_left_out(const struct diff_view *v, size_t shown, struct text *out)
{
	size_t counts[DIFF_VERDICTS] = { 0 }, listed = 0;
	struct text line = { 0 };

	vec_for_each (&v->diff->blocks, const struct diff_block, b)
		if (!is_listed(v->diff, b) || listed++ >= shown)
			counts[b->verdict]++;
	add_counts(counts, false, &line);
	if (line.n > v->width) {
		text_release(&line);
		add_counts(counts, true, &line);
	}
	if (line.n)
		text_wrap(line.s, v->width, out);
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

static void note_cpu_wait(const struct diff_view *v, struct text *out)
{
	double before = cpu_wait_part(v->diff, DIFF_BEFORE);
	double after = cpu_wait_part(v->diff, DIFF_AFTER);
	struct text line = { 0 };

	if (before < 0.01 && after < 0.01)
		return;
	text_printf(&line,
		    "note: rows do not include waiting for a CPU, which depends on other load: "
		    "%.0f%% of the calls' time before, %.0f%% after",
		    100 * before, 100 * after);
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

static void note_few_runs(const struct diff_view *v, struct text *out)
{
	if (v->diff->runs[0].n < DIFF_RUNS_ENOUGH || v->diff->runs[1].n < DIFF_RUNS_ENOUGH)
		text_wrap(
			"note: one run may differ from the next as a whole; record three or more on "
			"each side: ispot diff a1 a2 a3 -- b1 b2 b3",
			v->width, out);
}

static void (*const remarks[])(const struct diff_view *v,
			       struct text *out) = { warn_before, warn_after,	 warn_probes,
						     warn_calls,  note_few_runs, note_cpu_wait };

#define REMARKS (sizeof(remarks) / sizeof(remarks[0]))

/* Prints the warnings and notes that fit into so many lines, the most important ones first. */
static void print_remarks(const struct diff_view *v, unsigned lines, struct text *out)
{
	struct text texts[REMARKS] = { 0 };
	unsigned all = 0, left = 0;

	for (unsigned i = 0; i < REMARKS; i++) {
		remarks[i](v, &texts[i]);
		all += text_lines(&texts[i]);
	}
	for (unsigned i = 0; i < REMARKS; i++) {
		if (all > lines && text_lines(out) + text_lines(&texts[i]) >= lines)
			left += texts[i].n > 0;
		else if (texts[i].n)
			text_add(out, texts[i].s);
		text_release(&texts[i]);
	}
	if (left)
		text_printf(out, "%u more note%s (-v)\n", left, left == 1 ? "" : "s");
}

/* Returns the lines of the smallest table that notes leave room for. */
static unsigned table_least(const struct diff_view *v)
{
	unsigned rows = 0;

	vec_for_each (&v->diff->blocks, const struct diff_block, b)
		rows += is_listed(v->diff, b);
	return other_lines(v->diff) + ROW_LINES * (rows < ROWS_LEAST ? rows : ROWS_LEAST);
}

void report_diff_text(const struct diff_view *v, struct text *out)
{
	unsigned screen = v->all || v->top ? UINT32_MAX : SCREEN_LINES;
	struct text notes = { 0 };
	size_t shown;

	print_sides(v, out);
	warn_slowed(v, out);
	warn_programs(v->diff, v->width, out);
	text_add(out, "\n");
	conclude(v, out);
	text_add(out, "\n");
	print_remarks(v, less(screen, text_lines(out) + table_least(v)), &notes);
	shown = print_table(v, less(screen, text_lines(out) + text_lines(&notes)), out);
	if (!v->all)
		print_left_out(v, shown, out);
	text_add(out, notes.n ? notes.s : "");
	text_release(&notes);
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
	json_set_f64(j, "typical_ns", h->typical_ns);
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

static struct json *block_json(const struct diff *diff, const struct diff_block *b)
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
	json_set_bool(j, "uncalled", b->uncalled);
	json_set_f64(j, "own_time_change_ns", diff_moved_ns(b));
	json_set_f64(j, "own_time_change", diff_moved_share(diff, b));
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
			json_add_take(blocks, block_json(v->diff, b));
	json_set_take(j, "blocks", blocks);
	json_print(j, out, true);
	text_add(out, "\n");
	json_free(j);
}
