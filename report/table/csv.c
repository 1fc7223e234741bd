// SPDX-License-Identifier: GPL-3.0-or-later
#include "report/table/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static bool is_formula(const char *s)
{
	return *s && strchr("=+-@\t\r", *s);
}

static void print_quoted(const char *s, struct text *out)
{
	text_add(out, "\"");
	for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
		text_addn(out, s, (size_t)(quote - s));
		text_add(out, "\"\"");
	}
	text_add(out, s);
	text_add(out, "\"");
}

void csv_print_text(const char *s, struct text *out)
{
	char *clean = text_printable_new(s);
	struct text cell = { 0 };

	text_printf(&cell, "%s%s", is_formula(s) ? "'" : "", clean);
	if (strpbrk(cell.s, ",\""))
		print_quoted(cell.s, out);
	else
		text_addn(out, cell.s, cell.n);
	text_release(&cell);
	free(clean);
}
