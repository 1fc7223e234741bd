/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who waits for whom: time asleep in blocks, by the thread and the function that ended it. */
#include <stdlib.h>

#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "analysis/threads/wait.h"
#include "base/text.h"
#include "base/vec.h"
#include "report/block/view.h"
#include "report/html/html.h"
#include "trace/meta/meta.h"

#define ROWS_MAX 20

struct wait_row {
	const struct block *block;
	const char *kind;
	struct wait_waker waker;
};

struct wait_rows {
	VEC(struct wait_row)
};

static void collect(const struct view *v, struct wait_rows *rows)
{
	const struct threads *th = &v->result->calls.threads;

	for (size_t i = 0; i < v->n_rows; i++) {
		const struct block *b = v->rows[i];

		/* a function's keys wait as a part of it */
		if (!b->waits || !report_worth(b) ||
		    (b->grouped && v->blocks == &v->result->blocks))
			continue;
		vec_for_each (b->waits, const struct wait_cell, cell)
			for (unsigned w = 0; w < WAIT_WAKERS_MAX; w++)
				if (cell->wakers[w].sleeps)
					*vec_add(rows) =
						(struct wait_row){ b, wait_cause_of(th, cell).kind,
								   cell->wakers[w] };
	}
}

static int longest_first(const void *a, const void *b)
{
	const struct wait_row *x = a, *y = b;

	if (x->waker.ns != y->waker.ns)
		return x->waker.ns > y->waker.ns ? -1 : 1;
	return (x->block->id > y->block->id) - (x->block->id < y->block->id);
}

static void print_waker(const struct result *res, const struct wait_waker *w, struct text *out)
{
	const struct thread *t = w->thread < res->calls.threads.all.n
					 ? res->calls.threads.all.data[w->thread]
					 : NULL;
	const struct meta_function *f =
		w->function == SLEEP_NOBODY ? NULL : meta_function(res->meta, w->function);

	if (!t) {
		text_add(out, "outside of the program");
		return;
	}
	html_text(out, t->comm[0] ? t->comm : "?");
	text_printf(out, " <span class=\"quiet\">%u</span>", t->tid);
	if (f) {
		text_add(out, " in ");
		html_text(out, f->name && *f->name ? f->name : f->symbol);
	}
}

static void print_row(const struct result *res, const struct wait_row *row, struct text *out)
{
	char number[TEXT_NUMBER];

	text_add(out, "<tr><td>");
	html_time(out, row->waker.ns);
	text_printf(out,
		    "</td><td>%s</td><td class=\"name\">%s</td><th scope=\"row\" class=\"name\">",
		    text_count(number, row->waker.sleeps), row->kind);
	html_name(out, row->block);
	text_add(out, "</th><td class=\"name\">");
	print_waker(res, &row->waker, out);
	text_add(out, "</td></tr>\n");
}

void html_waits(const struct view *v, struct text *out)
{
	static const char *const names[] = { "asleep", "times", "in", "block", "woken by", NULL };
	struct wait_rows rows = { 0 };

	collect(v, &rows);
	vec_sort(&rows, longest_first);
	if (rows.n) {
		html_section(out, "waits", "Who waits for whom");
		html_table(out, "waits", "");
		html_heads(out, names, 2);
		for (size_t i = 0; i < rows.n && i < ROWS_MAX; i++)
			print_row(v->result, &rows.data[i], out);
		html_table_end(out);
		if (rows.n > ROWS_MAX)
			text_printf(out, "<p class=\"quiet\">%zu shorter ones are left out.</p>\n",
				    rows.n - ROWS_MAX);
		html_section_end(out);
	}
	vec_release(&rows);
}
