/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/transitions.h"

#include <stdlib.h>

#include "analysis/result/result.h"
#include "analysis/sequence/transition.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/transitions.h"
#include "report/block/view.h"
#include "report/screen/next.h"
#include "report/screen/screen.h"
#include "report/screen/text.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define ROWS_LEAST   4 /* whatever stands above and below them */
#define STATES_LEAST 3
#define STATES_SHARE 3 /* one row in so many, if there is more room */
#define HEADS_LINES  5 /* of both tables, with how many rows they leave out, and a line between */
#define NUMBER_WIDTH 7

static struct table table_of(const struct view *v, struct text *out)
{
	return (struct table){ .out = out, .width = v->width, .colours = v->colours };
}

static size_t shown_of(const struct view *v, size_t n, size_t usual)
{
	size_t most = v->top ? v->top : v->all ? n : usual;

	return n < most ? n : most;
}

static void count_cell(struct table *t, uint64_t count)
{
	char number[TEXT_NUMBER];

	table_right(t, text_count(number, count), NUMBER_WIDTH);
}

static void time_cell(struct table *t, bool known, uint64_t ns)
{
	char number[TEXT_NUMBER];

	table_right(t, known ? text_time(number, ns) : "-", NUMBER_WIDTH);
}

static void time_cells(struct table *t, const struct transition_times *times)
{
	time_cell(t, times->timed, times->min_ns);
	time_cell(t, times->timed, report_transition_mean(times));
	time_cell(t, times->timed, times->max_ns);
}

static void heads(struct table *t, const char *first, bool share, const char *last)
{
	table_style(t, TABLE_BOLD);
	table_right(t, first, NUMBER_WIDTH);
	if (share)
		table_right(t, "SHARE", NUMBER_WIDTH);
	table_right(t, "FASTEST", NUMBER_WIDTH);
	table_right(t, "MEAN", NUMBER_WIDTH);
	table_right(t, "SLOWEST", NUMBER_WIDTH);
	table_last(t, last);
}

static void row(const struct view *v, const struct transition *one, struct text *out)
{
	struct table t = table_of(v, out);
	struct text title = { 0 };
	char share[TEXT_NUMBER];

	count_cell(&t, one->times.count);
	table_right(&t, text_share(share, one->share), NUMBER_WIDTH);
	time_cells(&t, &one->times);
	report_transition_title(v->result->transitions, one, table_room(&t), &title);
	table_last(&t, title.s);
	text_release(&title);
}

static void more(size_t n, size_t shown, const char *what, struct text *out)
{
	if (n > shown)
		text_printf(out, "  %zu more %s (-v)\n", n - shown, what);
}

static int longest_first(const void *a, const void *b)
{
	const struct transition_state *x = *(const struct transition_state *const *)a,
				      *y = *(const struct transition_state *const *)b;

	if (x->times.total_ns != y->times.total_ns)
		return x->times.total_ns > y->times.total_ns ? -1 : 1;
	return (x > y) - (x < y);
}

/* Prints a state whole: a sequence's name is no C++ name, whose parameters a table would drop. */
static void state_name(struct table *t, const char *name)
{
	size_t columns = table_room(t), n = 4 * columns + 1;
	char *buf = xmalloc(n);

	table_last(t, text_shortened(buf, n, name, columns));
	free(buf);
}

static void states(const struct view *v, size_t usual, struct text *out)
{
	const struct transitions *t = v->result->transitions;
	const struct transition_state **rows = xcalloc(t->states.n + 1, sizeof(*rows));
	size_t n = shown_of(v, t->states.n, usual);
	struct table table = table_of(v, out);

	for (size_t i = 0; i < t->states.n; i++)
		rows[i] = &t->states.data[i];
	qsort(rows, t->states.n, sizeof(*rows), longest_first);
	heads(&table, "CALLS", false, "STATE");
	for (size_t i = 0; i < n; i++) {
		count_cell(&table, rows[i]->times.count);
		time_cells(&table, &rows[i]->times);
		state_name(&table, rows[i]->name);
	}
	more(t->states.n, n, "states", out);
	free(rows);
}

/* Reports that no transition was found, and among how many calls and functions. */
static void none(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	char calls[TEXT_COUNTED], functions[TEXT_COUNTED];
	struct text line = { 0 };

	text_printf(
		&line,
		"No transitions: among %s of %s no thread made two, one in or after the other. ",
		text_counted(calls, res->calls.entries, "call"),
		text_counted(functions, res->meta->functions.n, "traced function"));
	text_add(&line, res->windowed ? "Give a longer --time."
				      : "Trace more functions (ispot record -F 'PATTERN'), or for "
					"longer.");
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

static void explain(const struct view *v, struct text *out)
{
	struct text command = { 0 };

	text_add(out, "\n");
	text_wrap(
		"SHARE: of all that followed the same entry or exit. \"a then b\": b begins after a "
		"has returned. If SLOWEST is far above MEAN, see b with --slow.",
		v->width, out);
	text_add(&command, "ispot report --by transition --html steps.html");
	text_input_option(v, &command);
	text_next_line(v, command.s, "the graph of these steps", out);
	text_release(&command);
}

/* Rows of the two tables that fit on one screen. */
struct room {
	size_t steps, states;
};

static struct room room_between(const struct transitions *t, const struct text *above,
				const struct text *below)
{
	unsigned others = text_lines(above) + text_lines(below) + HEADS_LINES;
	unsigned rows = others < SCREEN_LINES ? SCREEN_LINES - others : 0;
	struct room room = { .states = rows / STATES_SHARE };

	if (room.states < STATES_LEAST)
		room.states = STATES_LEAST;
	if (room.states > t->states.n)
		room.states = t->states.n;
	room.steps = rows > room.states + ROWS_LEAST ? rows - room.states : ROWS_LEAST;
	return room;
}

static void print_transitions(const struct view *v, struct text *out)
{
	const struct transitions *t = v->result->transitions;
	struct table table = table_of(v, out);
	struct text below = { 0 };
	struct room room;
	size_t n;

	text_header(v, out);
	text_add(out, "\n");
	if (!t->all.n) {
		none(v, out);
		return;
	}
	explain(v, &below);
	room = room_between(t, out, &below);
	n = shown_of(v, t->all.n, room.steps);
	heads(&table, "STEPS", true, "TRANSITION");
	for (size_t i = 0; i < n; i++)
		row(v, &t->all.data[i], out);
	more(t->all.n, n, "transitions", out);
	text_add(out, "\n");
	states(v, room.states, out);
	text_add(out, below.s);
	text_release(&below);
}

void report_transitions_text(const struct view *v, struct text *out)
{
	text_fitting(v, print_transitions, out);
}
