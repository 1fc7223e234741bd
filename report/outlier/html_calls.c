/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a divergent execution called, as a list of lists that is folded until it is asked for. */
#include "analysis/outlier/outlier.h"
#include "base/text.h"
#include "report/html/html.h"
#include "report/outlier/outlier.h"
#include "trace/meta/meta.h"

static void usual(const struct outlier_block *b, const struct outlier_usual *u, struct text *out)
{
	if (!u) {
		text_add(out, "; <strong>typically not called</strong>");
		return;
	}
	text_printf(out, "; typically %.2g times, ", (double)u->calls / (double)b->typical.n);
	html_time(out, u->ns / b->typical.n);
}

static void callees(const struct outlier_view *v, const struct outlier_block *b,
		    const struct outlier *x, uint32_t parent, struct text *out)
{
	char times[TEXT_COUNTED];
	bool any = false;

	for (uint32_t i = 0; i < x->n_callees; i++) {
		const struct outlier_callee *c = &x->callees[i];

		if (c->parent != parent)
			continue;
		text_add(out, any ? "<li>" : "<ul>\n<li>");
		any = true;
		html_short(out, v->outliers->meta->functions.data[c->id].name);
		text_printf(out, " <span class=\"quiet\">%s, ",
			    text_counted(times, c->calls, "time"));
		html_time(out, c->ns);
		usual(b, outlier_usual_of(b, x, i), out);
		text_add(out, "</span>");
		callees(v, b, x, i, out);
		text_add(out, "</li>\n");
	}
	if (any && x->rest && parent == OUTLIER_TOP)
		text_add(out, "<li class=\"quiet\">and others</li>\n");
	if (any)
		text_add(out, "</ul>\n");
}

void outlier_html_calls(const struct outlier_view *v, const struct outlier_block *b,
			const struct outlier *x, bool open, struct text *out)
{
	struct text from = { 0 };

	outlier_called_from(v, x, &from);
	if (x->n_callees || from.n) {
		text_printf(out, "<details%s><summary>Calls of execution %llu</summary>\n",
			    open ? " open" : "", (unsigned long long)x->index);
		callees(v, b, x, OUTLIER_TOP, out);
		if (from.n) {
			text_add(out, "<p class=\"quiet\">");
			html_text(out, from.s);
			text_add(out, "</p>\n");
		}
		text_add(out, "</details>");
	}
	text_release(&from);
}
