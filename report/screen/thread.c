/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/thread.h"

#include <math.h>
#include <string.h>

#include "analysis/evidence/untold.h"
#include "analysis/result/result.h"
#include "symbol/name.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/table/spark.h"
#include "report/table/table.h"
#include "trace/meta/meta.h"

/* Returns whether the thread has a name of its own. Threads inherit the name of their process's
 * first thread. */
static bool has_own_name(const struct result *res, const struct thread *t)
{
	vec_for_each (&res->threads, const struct result_thread, row)
		if (row->thread->tid == t->tgid)
			return t->tid != t->tgid && strcmp(row->thread->comm, t->comm) != 0;
	return true;
}

void text_thread_name(const struct view *v, const struct block *b, struct text *out)
{
	const struct meta_frame *begin = untold_begin(&v->result->untold, b->thread->index);
	char name[VALUE_SCRATCH];
	struct text in = { 0 };
	bool named = has_own_name(v->result, b->thread);

	/* Of threads that do the same, samples may reach the begin of some alone: one name is
	 * enough. */
	if (named || !begin) {
		text_add(out, text_printable(name, sizeof(name), b->name));
		return;
	}
	name_add_short(&in, begin->symbol);
	text_add(out, text_printable(name, sizeof(name), in.s));
	text_release(&in);
}

void text_thread_bar(const struct view *v, const struct block *b, struct text *out)
{
	bar(isnan(b->sci) ? 0 : b->sci, THREAD_BAR, v->utf8, out);
}

bool threads_of_several(const struct view *v)
{
	for (size_t i = 1; i < v->n_rows; i++)
		if (v->rows[i]->thread->tgid != v->rows[0]->thread->tgid)
			return true;
	return false;
}
