/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/block/transitions.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/result/result.h"
#include "analysis/sequence/transition.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/block/json.h"
#include "report/block/view.h"
#include "report/table/csv.h"
#include "report/table/table.h"

static const char *const kinds[] = {
	[TRANSITION_CALL] = "call",   [TRANSITION_NEXT] = "next", [TRANSITION_RETURN] = "return",
	[TRANSITION_BEGIN] = "begin", [TRANSITION_END] = "end",
};

/*
 * The words before the first name and between the names; without a second part there is one name.
 */
static const struct {
	const char *before, *between;
} words[] = {
	[TRANSITION_CALL] = { "", " calls " },
	[TRANSITION_NEXT] = { "", " then " },
	[TRANSITION_RETURN] = { "", " returns to " },
	[TRANSITION_BEGIN] = { "threads begin with ", NULL },
	[TRANSITION_END] = { "threads end after ", NULL },
};

#define NAME_LEAST 12

static void add_name(const char *name, size_t columns, struct text *out)
{
	size_t n = 4 * columns + 1;
	char *buf = xmalloc(n);

	text_add(out, text_shortened(buf, n, name, columns));
	free(buf);
}

/* Returns how many columns a name may use: those that the other name leaves, or half of them. */
static size_t room_of(const char *name, const char *other, size_t columns)
{
	size_t half = columns / 2, taken = table_columns(other);
	size_t room = taken < half ? columns - taken : half;

	return table_columns(name) < room || room > NAME_LEAST ? room : NAME_LEAST;
}

void report_transition_title(const struct transitions *t, const struct transition *one,
			     size_t columns, struct text *out)
{
	const char *from = t->states.data[one->from].name, *to = t->states.data[one->to].name;
	const char *between = words[one->kind].between;
	size_t used = strlen(between ? between : words[one->kind].before);

	columns = columns > used + 2 * NAME_LEAST ? columns - used : 2 * NAME_LEAST;
	text_add(out, words[one->kind].before);
	add_name(from, between ? room_of(from, to, columns) : columns, out);
	if (!between)
		return;
	text_add(out, between);
	add_name(to, room_of(to, from, columns), out);
}

void report_transition_range(const struct transition_times *times, struct text *out)
{
	char least[TEXT_NUMBER], most[TEXT_NUMBER];

	if (times->timed)
		text_printf(out, "%s–%s", text_time(least, times->min_ns),
			    text_time(most, times->max_ns));
}

uint64_t report_transition_mean(const struct transition_times *times)
{
	return times->timed ? times->total_ns / times->timed : TRANSITION_NOTIME;
}

/* ---- JSON ---- */

static void set_times(struct json *j, const struct transition_times *times)
{
	json_set_u64(j, "count", times->count);
	json_set_u64(j, "timed", times->timed);
	report_set_known(j, "min_ns", times->timed ? times->min_ns : BLOCK_NONE);
	report_set_known(j, "mean_ns", report_transition_mean(times));
	report_set_known(j, "max_ns", times->timed ? times->max_ns : BLOCK_NONE);
}

static struct json *state_json(const struct transition_state *s)
{
	struct json *j = json_new_object();

	report_set_name(j, "name", s->name);
	set_times(j, &s->times);
	return j;
}

static void set_end(struct json *j, const char *key, const struct transitions *t, uint32_t state,
		    bool known)
{
	report_set_name(j, key, known ? t->states.data[state].name : NULL);
}

static struct json *transition_json(const struct transitions *t, const struct transition *one)
{
	struct json *j = json_new_object();

	set_end(j, "from", t, one->from, one->kind != TRANSITION_BEGIN);
	set_end(j, "to", t, one->to, one->kind != TRANSITION_END);
	json_set_string(j, "kind", kinds[one->kind]);
	json_set_f64(j, "share", one->share);
	set_times(j, &one->times);
	return j;
}

struct json *report_transitions_json(const struct transitions *t, uint64_t top)
{
	struct json *j = json_new_object(), *states = json_new_array(), *all = json_new_array();

	json_set_string(j, "of", t->of_sequences ? "sequence" : "function");
	json_set_u64(j, "not_told_apart", t->beyond);
	vec_for_each (&t->states, const struct transition_state, s)
		json_add_take(states, state_json(s));
	for (size_t i = 0; i < t->all.n && (!top || i < top); i++)
		json_add_take(all, transition_json(t, &t->all.data[i]));
	json_set_take(j, "states", states);
	json_set_take(j, "all", all);
	return j;
}

/* ---- CSV ---- */

static void csv_name(const struct transitions *t, uint32_t state, bool known, struct text *out)
{
	csv_print_text(known ? t->states.data[state].name : "", out);
	text_add(out, ",");
}

static void csv_row(const struct transitions *t, const struct transition *one, struct text *out)
{
	const struct transition_times *times = &one->times;

	csv_name(t, one->from, one->kind != TRANSITION_BEGIN, out);
	csv_name(t, one->to, one->kind != TRANSITION_END, out);
	text_printf(out, "%s,%llu,%.9g,", kinds[one->kind], (unsigned long long)times->count,
		    one->share);
	if (times->timed)
		text_printf(out, "%llu,%llu,%llu\n", (unsigned long long)times->min_ns,
			    (unsigned long long)report_transition_mean(times),
			    (unsigned long long)times->max_ns);
	else
		text_add(out, ",,\n");
}

void report_transitions_csv(const struct view *v, struct text *out)
{
	const struct transitions *t = v->result->transitions;

	text_add(out, "from,to,kind,count,share,min_ns,mean_ns,max_ns\n");
	for (size_t i = 0; i < t->all.n && (!v->top || i < v->top); i++)
		csv_row(t, &t->all.data[i], out);
}
