/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "analysis/result/result.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/counters.h"
#include "report/block/view.h"

/* "probe_class" where the key alone would be cryptic. */
static void print_head(const struct column *c, struct text *out)
{
	if (c->group && !strcmp(c->group, "probe"))
		text_add(out, "probe_");
	text_add(out, c->key);
}

void report_csv(const struct view *v, struct text *out)
{
	char scratch[VALUE_SCRATCH];

	for (unsigned c = 0; c < columns_n; c++) {
		text_add(out, c ? "," : "");
		print_head(&columns[c], out);
	}
	counters_csv_head(v->result->meta, out);
	text_add(out, "\n");
	for (size_t i = 0; i < v->n_rows && (!v->top || i < v->top); i++) {
		for (unsigned c = 0; c < columns_n; c++) {
			struct value value = columns[c].get(v->rows[i], scratch);

			text_add(out, c ? "," : "");
			value_print_csv(&value, out);
		}
		counters_csv(v->result->meta, v->rows[i], out);
		text_add(out, "\n");
	}
}
