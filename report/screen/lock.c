/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tables of locks have of their own: who held them, and what their columns are. */
#include <stdio.h>
#include <string.h>

#include "analysis/lock/section.h"
#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "base/text.h"
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

		text_printf(&line, "%s%s %.0f %%", named ? ", " : "",
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
		if (v->rows[i]->section && !v->rows[i]->section->hold)
			return true;
	return false;
}

void text_locks_note(const struct view *v, struct text *out)
{
	struct text note = { 0 };

	if (v->result->keyed.rule.kind != BLOCK_LOCK)
		return;
	text_add(&note,
		 "SCI, lost, p50 and p99 are of the calls that take the lock (the wait), hold50 "
		 "and hold99 of the time it was held; cont is the part of the calls that found it "
		 "held by another thread.");
	if (never_released(v) && meta_period(v->result->meta) <= 1 &&
	    !meta_has_notice(v->result->meta, "keep-slower"))
		text_add(&note, " Hold times, and who held the lock, are n/a where no release was "
				"recorded: record the function that unlocks as well, with its "
				"argument (-F pthread_mutex_unlock@arg1).");
	text_wrap(note.s, v->width, out);
	text_release(&note);
	text_add(out, "\n");
}
