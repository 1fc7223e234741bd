/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints each interval of `ispot stat`: a few lines, or one line of JSON. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result/interval.h"
#include "analysis/result/result.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/screen/interval.h"
#include "report/block/json.h"
#include "report/screen/text.h"
#include "report/table/table.h"
#include "report/table/wrap.h"

#define ROWS_DEFAULT 5
#define TIME_WIDTH   8
#define WHY_WIDTH    20

#define LOST_WIDTH 7

static const char *const screen[] = { "calls", "p50_ns", "p99_ns" };
#define N_SCREEN (sizeof(screen) / sizeof(*screen))

/* Orders blocks by the time lost to interference, then by any lost time, then by their calls. */
static int more_lost(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a,
			   *y = *(const struct block *const *)b;
	double lost_x = isnan(x->lost_threads) ? -1 : x->lost_threads;
	double lost_y = isnan(y->lost_threads) ? -1 : y->lost_threads;

	if ((x->verdict == VERDICT_INTERFERENCE) != (y->verdict == VERDICT_INTERFERENCE))
		return x->verdict == VERDICT_INTERFERENCE ? -1 : 1;
	if (lost_x != lost_y)
		return lost_x < lost_y ? 1 : -1;
	return (x->calls < y->calls) - (x->calls > y->calls);
}

static const struct block **in_order(const struct blocks *blocks)
{
	const struct block **rows = xcalloc(blocks->n + 1, sizeof(*rows));
	size_t n = 0;

	vec_for_each (blocks, const struct block, b)
		rows[n++] = b;
	qsort(rows, n, sizeof(*rows), more_lost);
	return rows;
}

static void print_column_heads(struct table *t)
{
	for (unsigned i = 0; i < N_SCREEN; i++) {
		const struct column *c = column_find(screen[i]);
		char head[32] = "";

		for (size_t n = 0; c->head[n] && n < sizeof(head) - 1; n++)
			head[n] = (char)toupper((unsigned char)c->head[n]);
		table_right(t, head, c->width);
	}
	table_left(t, " CAUSE", WHY_WIDTH);
	table_last(t, "FUNCTION");
}

static void print_head(struct table *t)
{
	table_right(t, "TIME", TIME_WIDTH);
	table_right(t, "LOST", LOST_WIDTH);
	print_column_heads(t);
}

/* Prints the cause, or the verdict if the time does not count as interference. */
static void print_why(struct table *t, const struct block *b)
{
	struct text why = { 0 };

	text_add(&why, " ");
	if (b->verdict == VERDICT_INTERFERENCE)
		text_cause(b, &why);
	else
		text_printf(&why, "(%s)", verdict_words(b->verdict));
	table_left(t, why.s, WHY_WIDTH);
	text_release(&why);
}

/* Prints the time that all threads together lost in the block. Idle time, more work and noise do
 * not count. */
static void print_lost(struct table *t, const struct interval *iv, const struct block *b)
{
	double ns = b->lost_threads * (double)(iv->until_ns - iv->since_ns);
	char number[TEXT_NUMBER];

	table_right(t,
		    b->verdict == VERDICT_INTERFERENCE && ns > 0 ? text_time(number, (uint64_t)ns)
								 : "-",
		    LOST_WIDTH);
}

/* Prints the columns that need no interval, and ends the line. */
static void print_columns(struct table *t, const struct block *b)
{
	char scratch[VALUE_SCRATCH];

	for (unsigned i = 0; i < N_SCREEN; i++) {
		const struct column *c = column_find(screen[i]);
		struct value value = c->get(b, scratch);
		struct text cell = { 0 };

		value_print(&value, &cell);
		table_right(t, cell.s, c->width);
		text_release(&cell);
	}
	print_why(t, b);
	table_last(t, text_printable(scratch, sizeof(scratch), b->name));
}

static void print_row(struct table *t, const char *time, const struct interval *iv,
		      const struct block *b)
{
	table_right(t, time, TIME_WIDTH);
	print_lost(t, iv, b);
	print_columns(t, b);
}

/* Below the rows, says which interval would have the calls that a verdict needs, if none has. */
static void print_longer(const struct interval *iv, const struct blocks *blocks,
			 const struct interval_view *v, struct text *out)
{
	double seconds = (double)(iv->until_ns - iv->since_ns) / 1e9;
	struct text line = { 0 };
	uint64_t most = 0;

	vec_for_each (blocks, const struct block, b) {
		if (b->verdict != VERDICT_TOO_FEW_CALLS) {
			*v->is_longer_due = false;
			return;
		}
		most = b->calls > most ? b->calls : most;
	}
	if (!most)
		return;
	*v->is_longer_due = false;
	text_printf(&line,
		    "note: a verdict needs %d calls of a function in an interval; try -I %.0fs",
		    CALLS_MIN, ceil(seconds * CALLS_MIN / (double)most));
	text_wrap(line.s, v->width, out);
	text_release(&line);
}

/* Returns the time since the start of the recording. The sums may have begun later. */
static uint64_t since_start(const struct interval *iv, uint64_t time_ns)
{
	return time_ns - iv->whole->meta->session.start_ns;
}

void report_interval(const struct interval *iv, const struct blocks *blocks,
		     const struct interval_view *v, struct text *out)
{
	const struct block **rows = in_order(blocks);
	struct table t = { .out = out, .width = v->width };
	uint64_t room = v->top ? v->top : ROWS_DEFAULT;
	struct text time = { 0 };

	text_printf(&time, "%.1fs", (double)since_start(iv, iv->until_ns) / 1e9);
	if (v->head)
		print_head(&t);
	if (!blocks->n) {
		table_right(&t, time.s, TIME_WIDTH);
		table_last(&t, iv->whole->calls.n_functions ? "no traced call ended"
							    : "no function is traced yet");
	}
	for (size_t i = 0; i < blocks->n && i < room; i++)
		print_row(&t, i ? "" : time.s, iv, rows[i]);
	if (*v->is_longer_due)
		print_longer(iv, blocks, v, out);
	text_release(&time);
	free(rows);
}

void report_calls(const struct blocks *blocks, const struct interval_view *v, struct text *out)
{
	const struct block **rows = in_order(blocks);
	struct table t = { .out = out, .width = v->width };
	uint64_t room = v->top ? v->top : ROWS_DEFAULT, n = 0;

	for (size_t i = 0; i < blocks->n && n < room; i++) {
		if (rows[i]->kind != BLOCK_FUNCTION || !rows[i]->calls)
			continue;
		if (!n++)
			print_column_heads(&t);
		print_columns(&t, rows[i]);
	}
	free(rows);
}

/* Returns the block without the members that need the whole recording: stacks, counters and
 * co-activity. */
static struct json *block_json(const struct block *b)
{
	struct json *j = json_new_object();
	char scratch[VALUE_SCRATCH];

	for (unsigned c = 0; c < columns_n; c++) {
		struct value value = columns[c].get(b, scratch);

		if (!columns[c].group)
			value_set_json(j, columns[c].key, &value);
	}
	json_set_take(j, "causes", report_causes_json(b));
	return j;
}

void report_interval_json(const struct interval *iv, const struct blocks *blocks,
			  const struct interval_view *v, struct text *out)
{
	const struct block **rows = in_order(blocks);
	struct json *j = json_new_object(), *span = json_new_object(), *list = json_new_array();

	json_set_u64(span, "from_ns", since_start(iv, iv->since_ns));
	json_set_u64(span, "to_ns", since_start(iv, iv->until_ns));
	json_set_u64(span, "lost_records", iv->whole->calls.lost_records);
	json_set_u64(j, "version", REPORT_JSON_VERSION);
	json_set_take(j, "interval", span);
	for (size_t i = 0; i < blocks->n && (!v->top || i < v->top); i++)
		json_add_take(list, block_json(rows[i]));
	json_set_take(j, "blocks", list);
	json_print(j, out, false);
	text_add(out, "\n");
	json_free(j);
	free(rows);
}
