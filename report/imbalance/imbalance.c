/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/imbalance/imbalance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/imbalance/count/counted.h"
#include "analysis/imbalance/imbalance.h"
#include "base/json.h"
#include "base/text.h"
#include "report/block/view.h"
#include "report/imbalance/causes.h"
#include "report/imbalance/internal.h"
#include "report/screen/row.h"
#include "report/table/spark.h"
#include "report/table/table.h"
#include "report/table/wrap.h"

#define SECTIONS_DEFAULT 10
#define THREADS_DRAWN	 64
#define THREADS_LISTED	 8 /* one row each */
#define THREAD_BAR	 18
#define NAME_COLUMNS	 30 /* of the program in the first line */
#define NAME_BYTES	 512
#define OFTEN		 0.9  /* share of the iterations that is nearly always */
#define CPU_WAIT	 0.25 /* share of the last thread's time that is worth a mention */

static const struct thread_name *name_of(const struct imbalance_view *v, uint32_t thread)
{
	static const struct thread_name none;

	return thread < v->imbalance->thread_names.n ? &v->imbalance->thread_names.data[thread]
						     : &none;
}

/*
 * Names a thread: "worker/1234", or "#3" or "their creator" if each iteration creates its own
 * threads.
 */
const char *imbalance_thread(const struct imbalance_view *v, const struct parallel_section *s,
			     uint32_t thread, char buf[IMBALANCE_THREAD])
{
	const struct thread_name *name = name_of(v, thread);
	char comm[40];

	if (s->kind == SECTION_JOIN && thread == SECTION_MAKER)
		snprintf(buf, IMBALANCE_THREAD, "their creator");
	else if (s->kind == SECTION_JOIN)
		snprintf(buf, IMBALANCE_THREAD, "#%u", thread + 1);
	else
		snprintf(buf, IMBALANCE_THREAD, "%s%s%u",
			 text_printable(comm, sizeof(comm), name->comm), *name->comm ? "/" : "",
			 name->tid);
	return buf;
}

double imbalance_share_last(const struct parallel_section *s, const struct section_thread *t)
{
	return (double)t->last / (double)s->instances;
}

/* ---- text ---- */

static void paragraph(const struct imbalance_view *v, struct text *line, struct text *out)
{
	if (line->s)
		text_wrap(line->s, v->width, out);
	text_release(line);
	*line = (struct text){ 0 };
}

/* Adds "run (app.c:42)" for "run (src/app.c:42)". */
static void place_name(const char *place, struct text *out)
{
	const char *open = strstr(place, " ("), *slash = open ? strrchr(open, '/') : NULL;
	char name[NAME_BYTES];
	struct text s = { 0 };

	if (slash) {
		text_addn(&s, place, (size_t)(open + 2 - place));
		place = slash + 1;
	}
	text_add(&s, place);
	text_add(out, text_printable(name, sizeof(name), s.s));
	text_release(&s);
}

void imbalance_section_name(const struct parallel_section *s, struct text *out)
{
	if (s->kind != SECTION_NAMED)
		text_printf(out, "%s in ", section_kind_name(s->kind));
	place_name(s->name, out);
	if (*s->since) {
		text_add(out, " since ");
		place_name(s->since, out);
	}
}

const char *imbalance_unit(const struct imbalance_view *v)
{
	return v->exact_time ? "ns" : v->counted->run->caches ? "cycles" : "instructions";
}

void imbalance_title(const struct imbalance_view *v, struct text *out)
{
	char program[4 * NAME_COLUMNS + 1], time[TEXT_NUMBER];
	size_t n = v->imbalance->sections.n;
	const char *dot = v->utf8 ? " · " : ", ";
	struct text how = { 0 };

	text_shortened(program, sizeof(program), *v->program ? v->program : v->file, NAME_COLUMNS);
	if (!v->exact_time)
		text_printf(&how, "%s%s: time is %s%s", dot, v->how,
			    v->counted->run->caches ? "estimated " : "", imbalance_unit(v));
	else if (v->how)
		text_printf(&how, "%s%s", dot, v->how);
	text_printf(out, "%s%s%s%s%s%zu parallel region%s", program, v->exact_time ? dot : "",
		    v->exact_time ? text_time(time, v->duration_ns) : "", how.n ? how.s : "", dot,
		    n, n == 1 ? "" : "s");
	text_release(&how);
}

/* Whether there is nothing to gain, because all threads end at nearly the same time. */
#define BALANCED 0.01
#define EVEN	 0.001 /* of thread time: below this, nobody looks for the lines that cause it */

/* Lines of counted regions are searched for from the same limit on. */
static bool is_balanced(const struct imbalance_view *v)
{
	double least = v->counted ? fmax(BALANCED, v->counted->min_idle) : BALANCED;

	vec_for_each (&v->imbalance->sections, const struct parallel_section, s)
		if (!(section_imbalance(s) < least))
			return false;
	return true;
}

static double largest_imbalance(const struct imbalance_view *v)
{
	double most = 0;

	vec_for_each (&v->imbalance->sections, const struct parallel_section, s)
		most = fmax(most, section_imbalance(s));
	return most;
}

static void report_balanced(const struct imbalance_view *v, struct text *out)
{
	const struct parallel_section *s = v->imbalance->sections.data;
	size_t n = v->imbalance->sections.n;
	char number[TEXT_COUNTED], most[TEXT_NUMBER];

	text_share(most, largest_imbalance(v));
	if (n > 1) {
		text_printf(out,
			    "No imbalance: threads wait for at most %s of the time at the end of "
			    "each of the %zu parallel regions.",
			    most, n);
		return;
	}
	text_printf(out, "No imbalance: the %s of the only parallel region found (",
		    text_counted(number, s->threads.n, "thread"));
	imbalance_section_name(s, out);
	text_printf(out, ") wait for %s of the time at its end.", most);
}

/* Returns how many times as long as an iteration of the others one of the slowest thread takes. */
static double times_others(const struct parallel_section *s, const struct section_thread *worst)
{
	double time = 0, n = 0;

	vec_for_each (&s->threads, const struct section_thread, t)
		if (t != worst) {
			time += t->time;
			n += (double)t->instances;
		}
	return time > 0 && worst->instances ? worst->time / (double)worst->instances / (time / n)
					    : 0;
}

#define TIMES_LEAST  1.05
#define EVENLY	     1.5 /* times as often as that */
#define OFTEN_FACTOR 2	 /* times as often as if each thread were the slowest equally often */

/* Whether one thread is slower than the others, and not another one in each iteration. */
static bool stands_out(const struct parallel_section *s, const struct section_thread *worst)
{
	return s->instances == 1 || times_others(s, worst) >= TIMES_LEAST ||
	       (double)worst->last >= OFTEN * (double)s->instances ||
	       worst->last * s->threads.n >= OFTEN_FACTOR * s->instances;
}

/* Whether each thread is the slowest about equally often; worst: that which is most often. */
static bool takes_turns(const struct parallel_section *s, const struct section_thread *worst)
{
	return worst->last * s->threads.n <= EVENLY * s->instances;
}

/* Adds "in 793 of 795 iterations". */
static void report_slowest(const struct parallel_section *s, const struct section_thread *worst,
			   const char *title, struct text *out)
{
	unsigned long long last = worst->last, all = s->instances;
	char number[TEXT_COUNTED];

	text_printf(out, "Thread %s is the slowest", title);
	if (last < all)
		text_printf(out, "%s in %llu of %s",
			    (double)last < OFTEN * (double)all ? " most often," : "", last,
			    text_counted(number, all, "iteration"));
	else if (all > 1)
		text_printf(out, " in all %s", text_counted(number, all, "iteration"));
}

/* Returns the thread whose iterations take longest on average. */
static const struct section_thread *longest(const struct parallel_section *s)
{
	const struct section_thread *most = s->threads.data;

	vec_for_each (&s->threads, const struct section_thread, t)
		if (times_others(s, t) > times_others(s, most))
			most = t;
	return most;
}

/* worst: the slowest thread of most iterations, and its title */
static void report_none_slowest(const struct imbalance_view *v, const struct parallel_section *s,
				const struct section_thread *worst, const char *title,
				struct text *out)
{
	const struct section_thread *most = longest(s);
	const double times = times_others(s, most);
	char number[TEXT_COUNTED], other[IMBALANCE_THREAD];

	if (times < TIMES_LEAST)
		text_add(out, "The threads share the work evenly. ");
	text_printf(out, "%s thread %s most often, in %llu of %s.",
		    takes_turns(s, worst) ? "A different thread is the slowest each time,"
					  : "The slowest thread varies:",
		    title, (unsigned long long)worst->last,
		    text_counted(number, s->instances, "iteration"));
	if (times >= TIMES_LEAST)
		text_printf(out, " Thread %s takes %.*fx as long as the other%s.",
			    imbalance_thread(v, s, most->thread, other), times < 10 ? 1 : 0, times,
			    s->threads.n > 2 ? "s on average" : "");
}

/* Says whether the slowest thread takes longer because of its work. */
static void report_why_slow(const struct imbalance_view *v, const struct parallel_section *s,
			    const struct section_thread *worst, struct text *out)
{
	double times = times_others(s, worst);
	char part[TEXT_NUMBER], all[TEXT_NUMBER];
	const char *but = ", but";

	if (times >= TIMES_LEAST)
		text_printf(out, "%s and takes %.*fx as long as the other%s",
			    worst->last < s->instances ? "," : "", times < 10 ? 1 : 0, times,
			    s->threads.n > 2 ? "s on average" : "");
	else
		but = "; it";
	if (v->exact_time && worst->asleep > CPU_WAIT * worst->time)
		text_printf(out, "%s sleeps for %s of its %s instead of working", but,
			    text_time(part, (uint64_t)worst->asleep),
			    text_time(all, (uint64_t)worst->time));
	else if (worst->cpu_wait > CPU_WAIT * worst->time)
		text_printf(out,
			    "%s waits for a CPU during %.0f%% of that: the work may be even, and "
			    "too few CPUs free",
			    but, 100 * worst->cpu_wait / worst->time);
}

void imbalance_headline(const struct imbalance_view *v, struct text *out)
{
	const struct parallel_section *s = v->imbalance->sections.data;
	const struct section_thread *worst = section_worst(s);
	char title[IMBALANCE_THREAD], number[TEXT_NUMBER];

	if (is_balanced(v)) {
		report_balanced(v, out);
		return;
	}
	text_printf(out, "At the end of ");
	imbalance_section_name(s, out);
	text_printf(out, ", threads wait %.0f%% of the time (%s%s%s). ", 100 * section_imbalance(s),
		    (v->exact_time ? text_time : text_count)(number, (uint64_t)s->lost),
		    v->exact_time ? "" : " ", v->exact_time ? "" : imbalance_unit(v));
	imbalance_thread(v, s, worst->thread, title);
	if (!stands_out(s, worst)) {
		report_none_slowest(v, s, worst, title, out);
		return;
	}
	report_slowest(s, worst, title, out);
	report_why_slow(v, s, worst, out);
	text_add(out, ".");
}

void imbalance_no_section(const struct imbalance_view *v, struct text *out)
{
	const double paused = (double)v->paused_ns / (double)v->duration_ns;
	char share[TEXT_NUMBER];

	if (v->joins_unknown && !v->paused_ns) {
		text_add(out,
			 "No parallel region was seen: no barrier, and no team of two or more "
			 "threads. Unknown if the program waited for the end of threads that it "
			 "created: neither joins nor the reasons for sleeps were recorded (sudo "
			 "ispot record adds them).");
		return;
	}
	if (!v->paused_ns) {
		text_add(out,
			 "No parallel region was seen: no barrier, no threads that were created "
			 "and joined, and no team of two or more threads.");
		return;
	}
	text_printf(
		out,
		"Unknown if threads wait for each other at a barrier or a join. Context switches "
		"were not recorded for %s of the time%s.",
		text_share(share, paused < 1 ? paused : 1),
		v->joins_unknown || paused >= 1
			? ""
			: ", and the rest of the time has no parallel region");
}

static void amount(const struct imbalance_view *v, struct table *t, double x, unsigned width)
{
	char number[TEXT_NUMBER];
	const char *none = v->utf8 ? "–" : "-";

	table_right(t,
		    x >= 1 ? (v->exact_time ? text_time : text_count)(number, (uint64_t)x) : none,
		    width);
}

static void thread_row(const struct imbalance_view *v, struct table *t,
		       const struct parallel_section *s, const struct section_thread *of,
		       double most)
{
	char title[IMBALANCE_THREAD], last[32];
	struct text cell = { 0 };

	table_left(t, "", 6);
	table_left(t, imbalance_thread(v, s, of->thread, title), 18);
	amount(v, t, of->time, 7);
	text_add(&cell, " ");
	bar(most > 0 ? of->time / most : 0, THREAD_BAR, v->utf8, &cell);
	table_left(t, cell.s, THREAD_BAR + 1);
	text_release(&cell);
	amount(v, t, v->exact_time ? of->asleep : 0, 7);
	amount(v, t, of->idle, 7);
	snprintf(last, sizeof(last), "%llux", (unsigned long long)of->last);
	table_right(t, last, 8);
	table_last(t, "");
}

/* Lists the time that each thread takes to the end, side by side. */
static void list_threads(const struct imbalance_view *v, const struct parallel_section *s,
			 struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	double most = 0;

	vec_for_each (&s->threads, const struct section_thread, of)
		most = fmax(most, of->time);
	table_left(&t, "", 6);
	table_left(&t, "THREAD", 18);
	table_right(&t, "TIME", 7);
	table_left(&t, " TO THE END", THREAD_BAR + 1);
	table_right(&t, "SLEEP", 7);
	table_right(&t, "WAITED", 7);
	table_right(&t, "SLOWEST", 8);
	table_last(&t, "");
	vec_for_each (&s->threads, const struct section_thread, of)
		thread_row(v, &t, s, of, most);
}

static void row(const struct imbalance_view *v, struct table *t, const struct parallel_section *s)
{
	const struct section_thread *worst = section_worst(s);
	double times[THREADS_DRAWN];
	size_t n = s->threads.n < THREADS_DRAWN ? s->threads.n : THREADS_DRAWN;
	struct text cell = { 0 };
	char buf[64], title[IMBALANCE_THREAD], number[TEXT_NUMBER];

	table_right(t, (v->exact_time ? text_time : text_count)(number, (uint64_t)s->lost), 7);
	snprintf(buf, sizeof(buf), "%.0f%%", 100 * section_imbalance(s));
	table_right(t, buf, 9);
	table_right(t, text_count(number, s->instances), 10);
	table_right(t, text_count(number, s->threads.n), 7);
	snprintf(buf, sizeof(buf), "%.0f%%", 100 * imbalance_share_last(s, worst));
	table_right(t, buf, 7);
	text_add(t->out, "  ");
	t->used += 2;
	table_left(t, imbalance_thread(v, s, worst->thread, title), 18);
	imbalance_section_name(s, &cell);
	text_whole(t, cell.s);
	text_release(&cell);
	if (s == v->imbalance->sections.data && s->threads.n <= THREADS_LISTED && !v->counted) {
		list_threads(v, s, t->out);
		return;
	}
	for (size_t i = 0; i < n; i++)
		times[i] = s->threads.data[i].time / (double)s->threads.data[i].instances;
	text_add(t->out, "        time to the end, by thread  ");
	spark_values(times, n, v->utf8, t->out);
	text_add(t->out, s->threads.n > n ? " …\n" : "\n");
	if (v->counted) {
		text_imbalance_causes(v, s, t->out);
		text_add(t->out, "\n");
	}
}

#define ROW_LINES 2 /* of the head, and of how many regions are left out */

/*
 * Adds as many regions as fit on the screen with the other lines, or as many as the user asked for;
 * the first one always.
 */
static void rows(const struct imbalance_view *v, unsigned others, struct text *out)
{
	struct table t = { .out = out, .width = v->width, .colours = v->colours };
	size_t top = v->top ? v->top : SECTIONS_DEFAULT, n = v->imbalance->sections.n, shown = 0;
	bool limited = !v->top && !v->counted;

	table_style(&t, TABLE_BOLD);
	table_right(&t, "WAITED", 7);
	table_right(&t, "IMBALANCE", 9);
	table_right(&t, "ITERATIONS", 10);
	table_right(&t, "THREADS", 7);
	table_right(&t, "SLOWEST", 7);
	table_left(&t, " THREAD", 19);
	table_last(&t, "REGION");
	others += ROW_LINES;
	while (shown < n && shown < top) {
		struct text one = { 0 };

		t.out = &one;
		row(v, &t, &v->imbalance->sections.data[shown]);
		others += text_lines(&one);
		if (limited && shown && others > SCREEN_LINES)
			top = shown;
		else
			text_add(out, one.s);
		shown += shown < top;
		text_release(&one);
	}
	if (n > shown)
		text_printf(out, "%zu more region%s with less waiting (--top)\n", n - shown,
			    n - shown == 1 ? "" : "s");
}

/* What the words of the table mean, what is not in it, and the notes. */
static void below_rows(const struct imbalance_view *v, struct text *out)
{
	struct text line = { 0 };

	if (!is_balanced(v)) {
		text_add(out, v->counted ? "score: how well the line explains who is slow\n" : "");
		text_add(out,
			 "WAITED: thread time spent waiting at the region's end; IMBALANCE: its "
			 "share\nof all thread time there\n");
	}
	if (largest_imbalance(v) >= EVEN)
		imbalance_left_out(v, &line);
	paragraph(v, &line, out);
}

static void notes(const struct imbalance_view *v, struct text *out)
{
	struct text line = { 0 };

	for (const char *const *n = v->notices; *n; n++) {
		text_printf(&line, "note: %s", *n);
		paragraph(v, &line, out);
	}
}

void report_imbalance_text(const struct imbalance_view *v, struct text *out)
{
	struct text line = { 0 }, below = { 0 };

	imbalance_title(v, out);
	text_add(out, "\n\n");
	if (v->imbalance->sections.n)
		imbalance_headline(v, &line);
	else
		imbalance_no_section(v, &line);
	paragraph(v, &line, out);
	if (v->imbalance->sections.n)
		below_rows(v, &below);
	notes(v, &below);
	if (v->imbalance->sections.n && !is_balanced(v)) {
		text_add(out, "\n");
		rows(v, text_lines(out) + text_lines(&below), out);
	}
	text_add(out, below.s ? below.s : "");
	text_release(&below);
}

/* ---- JSON ---- */

/* SECTION_MAKER becomes -1. */
static int32_t number_of(uint32_t thread)
{
	return (int32_t)thread;
}

static void set_time(struct json *j, const char *key, double ns)
{
	if (isnan(ns))
		json_set_null(j, key);
	else
		json_set_u64(j, key, (uint64_t)(ns + 0.5));
}

static struct json *thread_json(const struct imbalance_view *v, const struct parallel_section *s,
				const struct section_thread *t)
{
	struct json *j = json_new_object();
	bool own = s->kind != SECTION_JOIN && v->exact_time;

	json_set_i64(j, "number", number_of(t->thread));
	(own ? json_set_u64(j, "tid", name_of(v, t->thread)->tid) : json_set_null(j, "tid"));
	json_set_string(j, "comm", own ? name_of(v, t->thread)->comm : NULL);
	json_set_u64(j, "instances", t->instances);
	json_set_u64(j, "last", t->last);
	set_time(j, v->exact_time ? "time_ns" : "time", t->time);
	set_time(j, v->exact_time ? "idle_ns" : "idle", t->idle);
	set_time(j, "cpu_wait_ns", t->cpu_wait);
	set_time(j, "asleep_ns", t->asleep);
	return j;
}

/* Describes the iteration that lost most. */
static struct json *largest_json(const struct imbalance_view *v, const struct parallel_section *s)
{
	struct json *j = json_new_object(), *times = json_new_array(), *numbers = json_new_array();

	json_set_u64(j, "instance", s->largest);
	set_time(j, v->exact_time ? "lost_ns" : "lost", s->largest_lost);
	vec_for_each (&s->largest_parts, const struct section_part, p) {
		json_add_f64(numbers, number_of(p->thread));
		json_add_u64(times, (uint64_t)(p->time + 0.5));
	}
	json_set_take(j, "threads", numbers);
	json_set_take(j, v->exact_time ? "times_ns" : "times", times);
	return j;
}

static struct json *instance_json(const struct imbalance_view *v, const struct parallel_section *s,
				  const struct section_instance *of)
{
	struct json *j = json_new_object(), *times = json_new_array(), *numbers = json_new_array();

	(v->file ? json_set_u64(j, "begin_ns", of->begin_ns - v->start_ns)
		 : json_set_null(j, "begin_ns"));
	set_time(j, v->exact_time ? "duration_ns" : "duration", of->duration);
	set_time(j, v->exact_time ? "lost_ns" : "lost", of->lost);
	json_set_f64(j, "imbalance",
		     of->duration > 0 ? of->lost / (of->duration * (double)of->n) : 0);
	for (size_t i = of->first; i < of->first + of->n; i++) {
		json_add_f64(numbers, number_of(s->parts.data[i].thread));
		json_add_u64(times, (uint64_t)(s->parts.data[i].time + 0.5));
	}
	json_set_take(j, "threads", numbers);
	json_set_take(j, v->exact_time ? "times_ns" : "times", times);
	return j;
}

static void set_each(const struct imbalance_view *v, const struct parallel_section *s,
		     struct json *j)
{
	struct json *each;

	if (!v->each) {
		json_set_null(j, "each");
		return;
	}
	each = json_new_array();
	vec_for_each (&s->each, const struct section_instance, of)
		json_add_take(each, instance_json(v, s, of));
	json_set_take(j, "each", each);
}

static struct json *section_json(const struct imbalance_view *v, const struct parallel_section *s)
{
	struct json *j = json_new_object(), *threads = json_new_array();
	const struct section_thread *worst = section_worst(s);

	json_set_string(j, "kind", section_kind_name(s->kind));
	json_set_string(j, "name", s->name);
	json_set_string(j, "since", *s->since ? s->since : NULL);
	json_set_u64(j, "instances", s->instances);
	set_time(j, v->exact_time ? "duration_ns" : "duration", s->duration);
	set_time(j, v->exact_time ? "lost_ns" : "lost", s->lost);
	json_set_f64(j, "imbalance", section_imbalance(s));
	json_set_i64(j, "worst", number_of(worst->thread));
	json_set_f64(j, "worst_share", imbalance_share_last(s, worst));
	vec_for_each (&s->threads, const struct section_thread, t)
		json_add_take(threads, thread_json(v, s, t));
	json_set_take(j, "threads", threads);
	json_set_take(j, "largest", largest_json(v, s));
	set_each(v, s, j);
	report_set_imbalance_causes(j, v, s);
	return j;
}

void report_imbalance_json(const struct imbalance_view *v, struct text *out)
{
	struct json *j = json_new_object(), *trace = json_new_object();
	struct json *sections = json_new_array(), *notices = json_new_array();

	json_set_u64(j, "version", IMBALANCE_JSON_VERSION);
	json_set_string(trace, "file", v->file);
	json_set_string(trace, "command", v->command);
	(v->exact_time ? json_set_u64(trace, "duration_ns", v->duration_ns)
		       : json_set_null(trace, "duration_ns"));
	json_set_take(j, "trace", trace);
	json_set_string(j, "unit", imbalance_unit(v));
	json_set_string(j, "provider", v->provider);
	(v->counted ? json_set_f64(j, "min_idle", v->counted->min_idle)
		    : json_set_null(j, "min_idle"));
	(v->counted ? json_set_u64(j, "left_out", imbalance_n_left_out(v))
		    : json_set_null(j, "left_out"));
	for (const char *const *n = v->notices; *n; n++)
		json_add_string(notices, *n);
	json_set_take(j, "notices", notices);
	vec_for_each (&v->imbalance->sections, const struct parallel_section, s)
		json_add_take(sections, section_json(v, s));
	json_set_take(j, "sections", sections);
	json_print(j, out, true);
	text_add(out, "\n");
	json_free(j);
}
