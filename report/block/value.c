/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "report/block/column.h"

static void print_threads(double threads, struct text *out)
{
	text_printf(out, threads >= 0.095 ? "%.1f" : "%.2f", threads);
}

void value_print(const struct value *v, struct text *out)
{
	char number[TEXT_NUMBER];

	switch (v->type) {
	case VALUE_NONE:
		text_add(out, "n/a");
		break;
	case VALUE_TEXT:
		text_add(out, v->text);
		break;
	case VALUE_COUNT:
		text_add(out, text_count(number, v->count));
		break;
	case VALUE_ID:
		text_printf(out, "%llu", (unsigned long long)v->count);
		break;
	case VALUE_TIME:
		text_add(out, text_time(number, v->count));
		break;
	case VALUE_RATIO:
		/* a third digit where two would show nothing */
		text_printf(out, v->ratio >= 0.0005 && v->ratio < 0.01 ? "%.3f" : "%.2f", v->ratio);
		break;
	case VALUE_THREADS:
		print_threads(v->ratio, out);
		break;
	}
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

void value_print_csv(const struct value *v, struct text *out)
{
	switch (v->type) {
	case VALUE_NONE:
		break;
	case VALUE_TEXT:
		if (strpbrk(v->text, ",\"\r\n"))
			print_quoted(v->text, out);
		else
			text_add(out, v->text);
		break;
	case VALUE_COUNT:
	case VALUE_ID:
	case VALUE_TIME:
		text_printf(out, "%llu", (unsigned long long)v->count);
		break;
	case VALUE_RATIO:
	case VALUE_THREADS:
		text_printf(out, "%.9g", v->ratio);
		break;
	}
}

void value_set_json(struct json *obj, const char *key, const struct value *v)
{
	switch (v->type) {
	case VALUE_NONE:
		json_set_null(obj, key);
		break;
	case VALUE_TEXT:
		json_set_string(obj, key, v->text);
		break;
	case VALUE_COUNT:
	case VALUE_ID:
	case VALUE_TIME:
		json_set_u64(obj, key, v->count);
		break;
	case VALUE_RATIO:
	case VALUE_THREADS:
		json_set_f64(obj, key, v->ratio);
		break;
	}
}
