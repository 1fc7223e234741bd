/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a block is called in a table: its name and, where it is split by a key, the key. */
#include <stdio.h>
#include <string.h>

#include "analysis/score/block.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/view.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

/* " from worker (app.c:42)", " @arg1=locks+0x28" */
static void full_key(const struct block *b, char key[VALUE_SCRATCH])
{
	int n = snprintf(key, VALUE_SCRATCH,
			 b->kind == BLOCK_SITE || b->kind == BLOCK_LOCK ? " from " : " ");

	text_printable(key + n, VALUE_SCRATCH - (size_t)n, b->key);
}

/* Of a call site on a line with several: " +0x57" behind the closing bracket. NULL: it is alone. */
static const char *offset_of(const struct block *b)
{
	const char *offset = b->key && b->place && b->place->line ? strstr(b->key, ") +") : NULL;

	return offset ? offset + 1 : NULL;
}

/* A call site with a line is known by it: " app.c:42"; where it is a lock's, too. */
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

/* For both to fit the key is made shorter; what is too long for the line then has its own. */
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

void text_sites_note(const struct view *v, struct text *out)
{
	const struct block *one = NULL;

	for (size_t i = 0; i < v->n_rows && !one; i++)
		if (v->rows[i]->kind == BLOCK_SITE && v->rows[i]->function &&
		    report_listed(v, v->rows[i]) && offset_of(v->rows[i]))
			one = v->rows[i];
	if (!one)
		return;
	text_wrap(
		"file:line+0x57 is one of several places on that line to which calls return, by "
		"its offset in the function. A tail call (a jump at the end of a function) returns "
		"to where that function was called.",
		v->width, out);
	text_add(out, "\n");
}
