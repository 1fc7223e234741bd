/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/html/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/html/html.h"

/* report/html/report.css, embedded by .make/embed */
extern const char ispot_report_css_start[], ispot_report_css_end[];

static const char *escape(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void html_text(struct text *out, const char *s)
{
	char *clean = text_printable_new(s);

	for (size_t i = 0; clean[i]; i++) {
		if (escape(clean[i]))
			text_add(out, escape(clean[i]));
		else
			text_addn(out, clean + i, 1);
	}
	free(clean);
}

void html_lines(struct text *out, const char *s)
{
	while (*s) {
		char *line = xstrndup(s, strcspn(s, "\n"));

		html_text(out, line);
		s += strlen(line);
		free(line);
		if (*s) {
			text_add(out, "\n");
			s++;
		}
	}
}

void html_time(struct text *out, uint64_t ns)
{
	char time[TEXT_NUMBER];

	text_add(out, text_time(time, ns));
}

void html_short(struct text *out, const char *s)
{
	char name[4 * HTML_NAME_MAX + 1];

	html_text(out, text_shortened(name, sizeof(name), s, HTML_NAME_MAX));
}

void html_exact(struct text *out, const char *key, double value, double times, const char *format)
{
	char shown[64];

	snprintf(shown, sizeof(shown), format, times * value);
	if (isnan(value))
		text_printf(out, "<span class=\"num\" data-key=\"%s\" data-value=\"\">n/a</span>",
			    key);
	else
		text_printf(out,
			    "<span class=\"num\" data-key=\"%s\" data-value=\"%.9g\">%s</span>",
			    key, value, shown);
}

void html_page(struct text *out, const char *of, const char *title, const char *heading)
{
	text_printf(out,
		    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'unsafe-inline'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<title>%s: ",
		    of);
	html_text(out, title);
	text_add(out, "</title>\n<style>\n");
	text_addn(out, ispot_report_css_start,
		  (size_t)(ispot_report_css_end - ispot_report_css_start));
	text_add(out, "</style>\n</head>\n<body>\n<header>\n<h1>");
	html_text(out, heading);
	text_add(out, "</h1>\n<p class=\"quiet\">");
}

void html_facts(struct text *out, const char *line)
{
	const char *fact = strstr(line, "  "), *end;

	for (; fact; fact = end) {
		char *s;

		fact += 2;
		end = strstr(fact, "  ");
		s = xstrndup(fact, end ? (size_t)(end - fact) : strlen(fact));
		html_text(out, s);
		text_add(out, end ? " · " : "");
		free(s);
	}
}

void html_main(struct text *out)
{
	text_add(out, "</p>\n</header>\n<main>\n");
}

void html_page_end(struct text *out)
{
	text_add(out, "</main>\n</body>\n</html>\n");
}

void html_section(struct text *out, const char *id, const char *title)
{
	text_printf(out, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", id, id,
		    title);
}

void html_section_end(struct text *out)
{
	text_add(out, "</section>\n");
}

void html_answer(struct text *out, const char *s)
{
	if (!s || !*s)
		return;
	text_add(out, "<p class=\"answer\">");
	html_lines(out, s);
	text_add(out, "</p>\n");
}

void html_item(struct text *out, const char *s)
{
	text_add(out, "<li>");
	html_text(out, s);
	text_add(out, "</li>\n");
}

void html_more(struct text *out, size_t n, size_t shown, const char *what)
{
	if (n > shown)
		text_printf(out, "<p class=\"quiet\">%zu more %s</p>\n", n - shown, what);
}

static size_t fitting(struct text *out, size_t n, size_t most, html_part *part, const void *view)
{
	size_t i = 0;

	for (; i < n && i < most; i++) {
		size_t before = out->n;

		part(view, i, out);
		if (out->n < HTML_DETAILS_BYTES)
			continue;
		out->n = before;
		out->s[before] = '\0';
		break;
	}
	return i;
}

size_t html_each(struct text *out, const char *title, const struct html_parts *parts,
		 const void *view)
{
	size_t drawn;

	if (!parts->n)
		return 0;
	html_section(out, "details", title);
	drawn = fitting(out, parts->n, parts->most, parts->one, view);
	html_more(out, parts->n, drawn, parts->left_out);
	html_section_end(out);
	return drawn;
}

/* ---- tables ---- */

void html_table(struct text *out, const char *labelled, const char *attribute)
{
	text_printf(out,
		    "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-labelledby=\"%s\">"
		    "<table%s%s>",
		    labelled, *attribute ? " " : "", attribute);
}

void html_heads(struct text *out, const char *const *names, size_t n_numbers)
{
	text_add(out, "<thead><tr>");
	for (size_t i = 0; names[i]; i++)
		text_printf(out, "<th scope=\"col\"%s>%s</th>",
			    i < n_numbers ? "" : " class=\"name\"", names[i]);
	text_add(out, "</tr></thead>\n<tbody>\n");
}

void html_cell(struct text *out, const char *key, double value, double times, const char *format)
{
	text_add(out, "<td>");
	html_exact(out, key, value, times, format);
	text_add(out, "</td>");
}

void html_table_end(struct text *out)
{
	text_add(out, "</tbody></table></div>\n");
}
