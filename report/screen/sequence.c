/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tables of sequences have of their own: names that are too long for a column. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/result/result.h"
#include "analysis/score/block.h"
#include "analysis/sequence/sequence.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "report/table/wrap.h"

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
		text_printf(&line, " The %smost frequent sequences hold %.0f %% of the calls.",
			    s->bodies.n > 50 ? "50 " : "", 100 * s->share_of_50);
	text_wrap(line.s, v->width, out);
	text_add(out, "\n");
	text_release(&line);
}
