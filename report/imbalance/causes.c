/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/imbalance/causes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cause/kind.h"
#include "analysis/imbalance/count/counted.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/view.h"
#include "report/imbalance/imbalance.h"
#include "report/imbalance/internal.h"
#include "report/imbalance/source.h"
#include "report/table/spark.h"
#include "report/table/wrap.h"

#define CAUSES_SHOWN	 3 /* causes of a section on the screen */
#define NAME_BYTES	 512
#define FUNCTION_COLUMNS 30 /* columns of a name next to its line */

static const char *name(const struct imbalance_view *v, uint32_t number)
{
	return strtab_get(&v->counted->run->names, number);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void imbalance_place(const struct imbalance_view *v, uint32_t place, struct text *out)
{
	const struct counts_place *p = &v->counted->run->places.data[place];
	char buf[NAME_BYTES];

	if (p->line)
		text_printf(out, "%s:%u",
			    text_printable(buf, sizeof(buf), base_name(name(v, p->file))), p->line);
	else
		text_printf(out, "%s+0x%llx",
			    text_printable(buf, sizeof(buf), base_name(name(v, p->object))),
			    (unsigned long long)p->address);
}

void imbalance_source(const struct imbalance_view *v, uint32_t place, struct text *out)
{
	const struct counts_place *p = &v->counted->run->places.data[place];

	source_read_line(name(v, p->file), p->line, out);
}

const char *imbalance_function(const struct imbalance_view *v, uint32_t place)
{
	return name(v, v->counted->run->places.data[place].function);
}

/* Shortens the name, because the argument types make some names very long. The version of a
 * library's symbol, behind an @, is left out. */
static void function_name(const struct imbalance_view *v, uint32_t number, struct text *out)
{
	const char *whole = name(v, number);
	char *function = xstrndup(whole, strcspn(whole, "@"));
	char buf[NAME_BYTES];

	text_add(out, text_shortened(buf, sizeof(buf), function, FUNCTION_COLUMNS));
	free(function);
}

void imbalance_inlined(const struct imbalance_view *v, const struct counted_cause *c,
		       struct text *out)
{
	char buf[NAME_BYTES];

	for (size_t i = 0; i + 1 < c->frames.n; i++) {
		const struct counted_frame *into = &c->frames.data[i + 1];

		text_add(out, i ? "" : "in ");
		if (!i)
			function_name(v, c->frames.data[i].function, out);
		text_printf(out, ", inlined at %s:%u in ",
			    text_printable(buf, sizeof(buf), base_name(name(v, into->file))),
			    into->line);
		function_name(v, into->function, out);
	}
}

const char *imbalance_kind(const struct counted_cause *c)
{
	return cause_kind_find(c->what)->uneven;
}

const char *imbalance_happened(const struct counted_cause *c)
{
	return cause_kind_find(c->what)->counted;
}

void imbalance_caller(const struct imbalance_view *v, const struct counted_cause *c,
		      struct text *out)
{
	char buf[NAME_BYTES];

	if (c->caller == MAP_NONE)
		return;
	text_printf(out, "called from %s:%u in ",
		    text_printable(buf, sizeof(buf), base_name(name(v, c->from.file))),
		    c->from.line);
	function_name(v, c->from.function, out);
}

void imbalance_caller_source(const struct imbalance_view *v, const struct counted_cause *c,
			     struct text *out)
{
	if (c->caller != MAP_NONE)
		source_read_line(name(v, c->from.file), c->from.line, out);
}

/*
 * Says why there are no causes. Threads do not cause run queue time by their work, so lime.h gets
 * times without it.
 */
void imbalance_answer(const struct imbalance_view *v, const struct parallel_section *s,
		      struct text *out)
{
	const struct counted *c = v->counted;
	enum lime_answer answer = c->sections.data[s->number].answer;

	if (v->exact_time && answer == LIME_BALANCED && section_imbalance(s) >= c->min_idle)
		text_add(out, "what the threads do is balanced; some began late or waited for a "
			      "CPU");
	else if (answer == LIME_BALANCED && c->min_idle > LIME_BALANCE)
		text_printf(out, "what the threads do is uneven by less than %g%%",
			    100 * c->min_idle);
	else
		text_add(out, lime_answer_text(answer));
}

void imbalance_left_out(const struct imbalance_view *v, struct text *out)
{
	char number[TEXT_COUNTED];
	size_t n = imbalance_n_left_out(v);

	if (!n)
		return;
	text_printf(out, "No lines were looked for in %s, ", text_counted(number, n, "region"));
	if (v->counted->min_idle > 0)
		text_printf(out,
			    "where what the threads do is uneven by less than %g%% (--min-idle)",
			    100 * v->counted->min_idle);
	else
		text_add(out, "where all threads are equally late");
}

size_t imbalance_n_left_out(const struct imbalance_view *v)
{
	size_t n = 0;

	if (v->counted)
		vec_for_each (&v->imbalance->sections, const struct parallel_section, s)
			n += v->counted->sections.data[s->number].answer == LIME_BALANCED;
	return n;
}

static void source_line(const struct imbalance_view *v, uint32_t file, uint32_t line,
			struct text *out)
{
	struct text source = { 0 };

	source_read_line(name(v, file), line, &source);
	if (source.s)
		text_printf(out, "%5u | %s\n", line, source.s);
	text_release(&source);
}

/* Prints how the program reaches the code, and the program's line that calls it. */
static void way_lines(const struct imbalance_view *v, const struct counted_cause *c,
		      struct text *out)
{
	struct text chain = { 0 };

	/* the inlined functions of a header have long names, and the program's line says enough */
	if (c->caller == MAP_NONE)
		imbalance_inlined(v, c, &chain);
	else
		imbalance_caller(v, c, &chain);
	if (chain.s)
		text_printf(out, "         %s\n", chain.s);
	text_release(&chain);
	if (c->caller != MAP_NONE)
		source_line(v, c->from.file, c->from.line, out);
}

static void cause_text(const struct imbalance_view *v, const struct parallel_section *s,
		       const struct counted_cause *c, struct text *out)
{
	const struct counts_place *p = &v->counted->run->places.data[c->place];
	char low[TEXT_NUMBER], high[TEXT_NUMBER];
	double least = c->counts[0], most = c->counts[0];

	for (size_t t = 0; t < s->threads.n; t++) {
		least = c->counts[t] < least ? c->counts[t] : least;
		most = c->counts[t] > most ? c->counts[t] : most;
	}
	text_printf(out, "  %5.2f  ", c->score);
	imbalance_place(v, c->place, out);
	text_add(out, " (");
	function_name(v, p->function, out);
	text_printf(out, "): %s\n", imbalance_kind(c));
	source_line(v, p->file, p->line, out);
	way_lines(v, c, out);
	text_add(out, "         by thread  ");
	spark_values(c->counts, s->threads.n, v->utf8, out);
	text_printf(out, "  %s %s to %s times", imbalance_happened(c),
		    text_count(low, (uint64_t)least), text_count(high, (uint64_t)most));
	if (c->towards != MAP_NONE) {
		text_add(out, ", towards ");
		imbalance_place(v, c->towards, out);
	}
	text_add(out, "\n");
}

void text_imbalance_causes(const struct imbalance_view *v, const struct parallel_section *s,
			   struct text *out)
{
	const struct counted_section *of = &v->counted->sections.data[s->number];
	struct text line = { 0 };
	size_t shown = 0;

	if (!of->causes.n) {
		text_add(&line, "No line is to blame: ");
		imbalance_answer(v, s, &line);
		text_add(&line, ".");
		text_wrap(line.s, v->width, out);
		text_release(&line);
		return;
	}
	vec_for_each (&of->causes, const struct counted_cause, c)
		if (shown < CAUSES_SHOWN && ++shown)
			cause_text(v, s, c, out);
	if (of->causes.n > shown)
		text_printf(out, "  %zu more with smaller scores (--json)\n", of->causes.n - shown);
}

static struct json *place_json(const struct imbalance_view *v, uint32_t place)
{
	const struct counts_place *p = &v->counted->run->places.data[place];
	struct json *j = json_new_object();

	json_set_string(j, "function", name(v, p->function));
	json_set_string(j, "object", name(v, p->object));
	json_set_string(j, "file", p->line ? name(v, p->file) : NULL);
	if (p->line)
		json_set_u64(j, "line", p->line);
	else
		json_set_null(j, "line");
	json_set_u64(j, "address", p->address);
	return j;
}

static struct json *caller_json(const struct imbalance_view *v, const struct counted_cause *c)
{
	struct json *j = place_json(v, c->caller);

	json_set_string(j, "function", name(v, c->from.function));
	json_set_string(j, "file", name(v, c->from.file));
	json_set_u64(j, "line", c->from.line);
	return j;
}

static struct json *frames_json(const struct imbalance_view *v, const struct counted_cause *c)
{
	struct json *frames = json_new_array();

	vec_for_each (&c->frames, const struct counted_frame, f) {
		struct json *j = json_new_object();

		json_set_string(j, "function", name(v, f->function));
		json_set_string(j, "file", f->line ? name(v, f->file) : NULL);
		(f->line ? json_set_u64(j, "line", f->line) : json_set_null(j, "line"));
		json_add_take(frames, j);
	}
	return frames;
}

void report_set_imbalance_causes(struct json *section, const struct imbalance_view *v,
				 const struct parallel_section *s)
{
	const struct counted_section *of =
		v->counted ? &v->counted->sections.data[s->number] : NULL;
	struct text answer = { 0 };
	struct json *causes;

	if (!of) {
		json_set_null(section, "answer");
		json_set_null(section, "causes");
		return;
	}
	causes = json_new_array();
	imbalance_answer(v, s, &answer);
	json_set_string(section, "answer", answer.s);
	text_release(&answer);
	vec_for_each (&of->causes, const struct counted_cause, c) {
		struct json *j = place_json(v, c->place), *counts = json_new_array();

		json_set_f64(j, "score", c->score);
		json_set_string(j, "kind", c->what);
		if (c->towards == MAP_NONE)
			json_set_null(j, "towards");
		else
			json_set_take(j, "towards", place_json(v, c->towards));
		if (c->caller == MAP_NONE)
			json_set_null(j, "called_from");
		else
			json_set_take(j, "called_from", caller_json(v, c));
		for (size_t t = 0; t < s->threads.n; t++)
			json_add_u64(counts, (uint64_t)c->counts[t]);
		json_set_take(j, "counts", counts);
		json_set_take(j, "frames", frames_json(v, c));
		json_add_take(causes, j);
	}
	json_set_take(section, "causes", causes);
}
