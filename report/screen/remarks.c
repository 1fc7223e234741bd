/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/remarks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calls/paircost.h"
#include "analysis/cause/kind.h"
#include "analysis/cause/verdict.h"
#include "analysis/result/result.h"
#include "analysis/score/pools.h"
#include "analysis/threads/wait.h"
#include "base/mem.h"
#include "symbol/name.h"
#include "base/text.h"
#include "report/block/column.h"
#include "report/block/left_out.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/next.h"
#include "report/screen/taken.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define NAMED_MAX	 2 /* functions that a line names; it counts the others */
#define LABEL		 "%-17s "
#define NAME_MAX_COLUMNS 48
#define MORE		 " (-v)"
#define PLACE_LEAST	 0.05 /* lost threads; a place that loses less is not named */

/* Prints a line with -v. Otherwise adds a sentence to the paragraph, which keeps the first screen
 * short. Line breaks separate the sentences until the paragraph is complete. */
static void print_labelled(const struct view *v, const char *label, const char *s, struct text *out)
{
	struct text wrapped = { 0 };
	const char *line;

	if (!v->all) {
		text_printf(out, "%s%s%s%s",
			    !out->n  ? ""
			    : *label ? "\n"
				     : ", ",
			    label, *label ? ": " : "", s);
		return;
	}

	text_wrap(s, v->width - 18, &wrapped);
	for (line = wrapped.s; line && *line;) {
		size_t n = strcspn(line, "\n");

		text_printf(out, LABEL, label);
		text_addn(out, line, n + 1);
		line += n + 1;
		label = "";
	}
	text_release(&wrapped);
}

/* Returns the remark's amount. CPU time that other programs took is not work of the block. */
static double amount_of(const struct block *b)
{
	double all_ns = block_pools_ns(b), foreign_ns = block_foreign_ns(b);

	if (b->verdict == VERDICT_IDLE)
		return b->idle_threads;
	if (b->verdict == VERDICT_WORKLOAD && foreign_ns > 0)
		return b->lost_threads * (1 - foreign_ns / all_ns);
	return b->lost_threads;
}

static bool is_left_out(const struct view *v, size_t row)
{
	return !report_listed(v, v->rows[row]);
}

static int more_threads(const void *a, const void *b)
{
	double x = amount_of(*(const struct block *const *)a);
	double y = amount_of(*(const struct block *const *)b);

	return (x < y) - (x > y);
}

static void name_all(const struct block *const *blocks, size_t n, struct text *line)
{
	char name[4 * NAME_MAX_COLUMNS + 1];
	size_t named = 0;

	for (size_t i = 0; i < n && named < NAMED_MAX; i++) {
		/* rows of one function are adjacent */
		if (i && !strcmp(blocks[i]->name, blocks[i - 1]->name))
			continue;
		text_printf(line, "%s%s", !named++ ? "" : ", ",
			    name_brief(name, sizeof(name), blocks[i]->name, NAME_MAX_COLUMNS));
	}
	if (n > named)
		text_printf(line, ", %zu in all", n);
}

/* The function whose threads sleep again and again for what is not known; NULL: no such block. */
static const char *tries_for_something(const struct block *b)
{
	const char *function = b->verdict == VERDICT_IDLE && b->waits
				       ? wait_maybe_tried(b->all_threads, b->waits)
				       : NULL;

	return function && *function ? function : NULL;
}

/* The same for a lock, where the sleeps are all as long as the shortest, so that none is lost. */
static const char *tries_for_a_lock(const struct block *b)
{
	const char *function = b->verdict == VERDICT_NOISE && b->waits
				       ? wait_tried(b->all_threads, b->waits)
				       : NULL;

	return function && *function ? function : NULL;
}

/* The row with the longest such sleeps, of those that are left out where not all are listed. */
static const struct block *longest(const struct view *v, const char *(*in)(const struct block *))
{
	const struct block *most = NULL;

	for (size_t i = 0; i < v->n_rows; i++)
		if ((v->all || is_left_out(v, i)) && in(v->rows[i]) &&
		    (!most || v->rows[i]->total_ns > most->total_ns))
			most = v->rows[i];
	return most;
}

static void tries(const struct view *v, struct text *out)
{
	const struct block *lock = longest(v, tries_for_a_lock);
	const struct block *some = longest(v, tries_for_something);
	char name[4 * NAME_MAX_COLUMNS + 1];
	struct text line = { 0 };

	if (lock)
		text_printf(&line,
			    "how much %s loses, which sleeps between tries, probably for a lock",
			    text_shortened(name, sizeof(name), tries_for_a_lock(lock),
					   NAME_MAX_COLUMNS));
	if (some)
		text_printf(
			&line,
			"%swhether %s, which sleeps again and again for a time, waits for a lock or for work",
			lock ? "; " : "",
			text_shortened(name, sizeof(name), tries_for_something(some),
				       NAME_MAX_COLUMNS));
	if (line.n)
		print_labelled(v, "Cannot tell", line.s, out);
	text_release(&line);
}

static void not_interference(const struct view *v, struct text *out)
{
	struct {
		VEC(const struct block *)
	} blocks = { 0 };
	struct text line = { 0 };

	for (size_t i = 0; i < v->n_rows; i++)
		if (is_left_out(v, i) && !tries_for_something(v->rows[i]) &&
		    (v->rows[i]->verdict == VERDICT_IDLE ||
		     v->rows[i]->verdict == VERDICT_WORKLOAD))
			*vec_add(&blocks) = v->rows[i];
	vec_sort(&blocks, more_threads);
	name_all(blocks.data, blocks.n, &line);
	if (blocks.n)
		print_labelled(v, "Idle or more work", line.s, out);
	text_release(&line);
	vec_release(&blocks);
}

/* Reports the whole of each function that is split by an argument. The losses of the rows do not
 * add up to the function's. */
static void as_a_whole(const struct view *v, struct text *out)
{
	const struct blocks *groups = &v->result->groups;
	struct text line = { 0 };

	vec_for_each (&v->result->blocks, const struct block, b) {
		unsigned keys = 0;
		struct value lost = { .type = VALUE_THREADS, .ratio = b->lost_threads };

		if (!b->split || v->totals || !report_worth(b) || isnan(b->lost_threads))
			continue;
		vec_for_each (groups, const struct block, g)
			keys += g->function == b->function;
		text_printf(&line, "%s%s ", line.n ? "; " : "", b->name);
		value_print(&lost, &line);
		text_printf(&line,
			    b->alike ? ", in %u keys of which none stands out" : " in %u keys",
			    keys);
	}
	if (line.n) {
		text_add(&line, " (-v)");
		print_labelled(v, "Not split", line.s, out);
	}
	text_release(&line);
}

static unsigned count_verdict(const struct view *v, enum verdict verdict)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_rows; i++)
		n += is_left_out(v, i) && v->rows[i]->verdict == verdict;
	return n;
}

static unsigned count_never_fast(const struct view *v)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_rows; i++)
		n += is_left_out(v, i) && v->rows[i]->verdict == VERDICT_CANNOT_TELL &&
		     v->rows[i]->never_fast;
	return n;
}

/* Returns whether the block has too few calls or sleeps and is in no shown row. */
static bool is_few(const struct view *v, size_t row, bool waits)
{
	const struct block *b = v->rows[row];

	return is_left_out(v, row) && b->verdict == VERDICT_TOO_FEW_CALLS &&
	       block_is_wait(b) == waits;
}

/* Counts those blocks, by what they have too few of. */
static unsigned count_few(const struct view *v, bool waits, bool often)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_rows; i++)
		n += is_few(v, i, waits) && (v->rows[i]->calls >= CALLS_MIN) == often;
	return n;
}

/* Adds the place that loses the most of those with too few sleeps, if it loses enough to matter. */
static void longest_place(const struct view *v, struct text *line)
{
	const struct block *most = NULL;
	char name[4 * NAME_MAX_COLUMNS + 1], share[TEXT_NUMBER];

	for (size_t i = 0; i < v->n_rows; i++)
		if (is_few(v, i, true) && (!most || v->rows[i]->lost_threads > most->lost_threads))
			most = v->rows[i];
	if (!most || !(most->lost_threads >= PLACE_LEAST))
		return;
	text_printf(line, " (most thread time: %s, %s)",
		    name_brief(name, sizeof(name), most->name, NAME_MAX_COLUMNS),
		    text_share(share, most->lost_threads * (double)v->result->probed_ns /
					      (double)v->result->threads_ns));
}

static void few_calls(const struct view *v, struct text *line)
{
	unsigned few = count_few(v, false, false) + count_few(v, false, true);
	unsigned places = count_few(v, true, false) + count_few(v, true, true);

	if (few + places)
		text_printf(line, "%s%u with too few calls%s", line->n ? ", " : "", few + places,
			    places ? " or waits" : "");
	if (places)
		longest_place(v, line);
}

static void add_unknown(const struct view *v, struct text *out)
{
	unsigned noise = count_verdict(v, VERDICT_NOISE);
	unsigned slow = count_never_fast(v);
	unsigned blind = count_verdict(v, VERDICT_CANNOT_TELL) - slow;
	struct text line = { 0 }, rest = { 0 };

	if (slow)
		text_printf(
			&line,
			"%u never seen fast: even the fastest call waited (--baseline takes a quiet "
			"recording)",
			slow);
	if (noise)
		text_printf(&rest, "%u below noise", noise);
	few_calls(v, &rest);
	if (blind)
		text_printf(&rest, "%s%u not measurable", rest.n ? ", " : "", blind);
	if (rest.n)
		text_printf(&line, "%s%s", line.n ? "; " : "", rest.s);
	if (line.n)
		print_labelled(v, "Not scored", line.s, out);
	text_release(&line);
	text_release(&rest);
}

/* Reports functions that -F named and that were never called. If no function was called, a notice
 * reports that instead. */
static void not_called(const struct view *v, struct text *out)
{
	const struct meta *meta = v->result->meta;
	char name[4 * NAME_MAX_COLUMNS + 1];
	bool *called = xcalloc(meta->functions.n + 1, sizeof(*called));
	/* calls that sampling left out are counted when the recording ends */
	bool counted = v->result->recorded_part >= 1 || meta->end.present;
	struct text line = { 0 };
	unsigned n = 0;

	vec_for_each (&v->result->blocks, const struct block, b)
		if (b->function)
			called[b->function - meta->functions.data] = true;
	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->chosen && !called[f - meta->functions.data] && (n++ < NAMED_MAX || v->all))
			text_printf(&line, "%s%s", line.n ? ", " : "",
				    name_brief(name, sizeof(name), f->name, NAME_MAX_COLUMNS));
	if (n > NAMED_MAX && !v->all)
		text_printf(&line, ", %u more", n - NAMED_MAX);
	if (line.n && v->result->blocks.n)
		print_labelled(v, counted ? "Not called" : "Not recorded", line.s, out);
	text_release(&line);
	free(called);
}

/* Reports functions whose calls were all left out, because they were called less often than the
 * sampling period. */
static void none_recorded(const struct view *v, struct text *out)
{
	char name[4 * NAME_MAX_COLUMNS + 1], calls[TEXT_COUNTED];
	struct text line = { 0 };
	unsigned n = 0;

	if (meta_period(v->result->meta) <= 1 || !v->result->calls.entries)
		return;
	vec_for_each (&v->result->blocks, const struct block, b) {
		if (b->calls || b->estimated_calls == BLOCK_NONE || !b->estimated_calls)
			continue;
		if (n++ < NAMED_MAX || v->all)
			text_printf(&line, "%s%s (%s)", line.n ? ", " : "",
				    name_brief(name, sizeof(name), b->name, NAME_MAX_COLUMNS),
				    text_counted(calls, b->estimated_calls, "call"));
	}
	if (n > NAMED_MAX && !v->all)
		text_printf(&line, ", %u more", n - NAMED_MAX);
	if (n) {
		text_add(&line, "; record with a smaller -c");
		print_labelled(v, "Not recorded", line.s, out);
	}
	text_release(&line);
}

/* Suggests markers for loops. A function that runs once has no score, but the iterations of its
 * loop can have one. */
static void loops_to_mark(const struct view *v, struct text *out)
{
	char name[4 * NAME_MAX_COLUMNS + 1];
	struct text line = { 0 };
	unsigned n = 0;

	for (size_t i = 0; i < v->n_rows; i++) {
		const struct block *b = v->rows[i];
		const struct meta_frame *loop = block_loop(b);

		if (!loop || n++ >= NAMED_MAX)
			continue;
		text_printf(&line, "%sline %u of %s", n > 1 ? "; " : "", loop->loop,
			    name_brief(name, sizeof(name), b->name, NAME_MAX_COLUMNS));
		if (loop->inner_loop && loop->inner_loop != loop->loop)
			text_printf(&line, " (inside it line %u)", loop->inner_loop);
		text_printf(&line, ", %.0f%% of its threads' time", 100 * block_loop_share(b));
	}
	if (n > NAMED_MAX)
		text_printf(&line, "; %u more", n - NAMED_MAX);
	if (n) {
		text_printf(&line,
			    ". %s calls are too few to judge; marked iterations count as calls "
			    "(ISPOT_LOOP_BEGIN in ispot.h)",
			    n > 1 ? "Their" : "Its");
		print_labelled(v, "Loops to mark", line.s, out);
	}
	text_release(&line);
}

#define PROBE_DEAR_NS 5000 /* of a single-stepped probe; cheaper ones matter little */

static bool mostly_probe(const struct view *v, size_t row)
{
	const struct block *b = v->rows[row];

	if (!report_listed(v, b) || !b->cost || b->p50_ns == BLOCK_NONE)
		return false;
	for (size_t i = 0; i < row; i++)
		if (v->rows[i]->function == b->function && report_listed(v, v->rows[i]))
			return false;
	/* A call that is much faster than an empty one has the cheaper exit probe of a jump. */
	return b->cost->inner_min_ns >= PROBE_DEAR_NS && 2 * b->min_ns >= b->cost->inner_min_ns &&
	       b->p50_ns < 2 * b->cost->inner_min_ns;
}

/* Reports functions whose calls last mostly as long as their own probe. A caller's duration leaves
 * that cost out, so a callee may seem to take longer than its caller. */
static void own_probe(const struct view *v, struct text *out)
{
	char name[4 * NAME_MAX_COLUMNS + 1], time[TEXT_NUMBER];
	uint64_t least_ns = UINT64_MAX;
	struct text line = { 0 };
	unsigned n = 0;

	for (size_t i = 0; i < v->n_rows; i++) {
		const struct block *b = v->rows[i];

		if (!mostly_probe(v, i))
			continue;
		if (n++ < NAMED_MAX)
			text_printf(&line, "%s%s", n > 1 ? ", " : "",
				    name_brief(name, sizeof(name), b->name, NAME_MAX_COLUMNS));
		if (b->cost->inner_min_ns < least_ns)
			least_ns = b->cost->inner_min_ns;
	}
	if (n > NAMED_MAX)
		text_printf(&line, ", %u more", n - NAMED_MAX);
	if (n) {
		text_printf(&line, ": at least %s of each call is its own probe",
			    text_time(time, least_ns));
		print_labelled(v, "Costly probes", line.s, out);
	}
	text_release(&line);
}

/* Returns how many functions, from the first on, have the same label. */
static size_t left_out_alike(const struct view *v, const struct left_out *all, size_t first,
			     struct text *out)
{
	const struct left_out_function *f = &all->data[first];
	size_t n = 0, room;

	while (first + n < all->n && !f[n].gaps == !f[0].gaps)
		n++;
	room = v->all ? n : 1;
	for (size_t i = 0; i < room; i++) {
		struct text line = { 0 };

		(v->all ? report_left_out_line : report_left_out_brief)(v->result, &f[i], &line);
		if (i + 1 == room && n > room)
			text_printf(&line, ", %zu more", n - room);
		print_labelled(v, i ? "" : report_left_out_label(f), line.s, out);
		text_release(&line);
	}
	return n;
}

static void left_out(const struct view *v, struct text *out)
{
	struct left_out all = { 0 };

	report_left_out(v->result, &all);
	for (size_t i = 0; i < all.n;)
		i += left_out_alike(v, &all, i, out);
	vec_release(&all);
}

static unsigned lines_of(const struct text *paragraph, unsigned width)
{
	struct text wrapped = { 0 };
	unsigned n = 0;

	text_wrap(paragraph->s, width - (unsigned)strlen(MORE), &wrapped);
	for (size_t i = 0; i < wrapped.n; i++)
		n += wrapped.s[i] == '\n';
	text_release(&wrapped);
	return n;
}

/* Drops all parts of a remark that has too many lines, because a few of them would mislead. */
static void shorten(const struct view *v, const char *label, unsigned lines, struct text *s)
{
	struct text whole = { 0 };

	text_printf(&whole, "%s: %s", label, s->s);
	if (lines_of(&whole, v->width) > lines) {
		s->n = strcspn(s->s, ",;");
		s->s[s->n] = '\0';
	}
	text_release(&whole);
}

static void run_queue(const struct view *v, unsigned lines, struct text *out)
{
	const char *label = "Run queue in all"; /* the head has a part of it */
	struct text line = { 0 };

	text_taken(v->result, v->all, &line);
	if (line.n && !v->all)
		shorten(v, label, lines, &line);
	if (line.n)
		print_labelled(v, label, line.s, out);
	text_release(&line);
}

static void remarks(const struct view *v, unsigned lines, struct text *out)
{
	tries(v, out);
	run_queue(v, lines, out);
	not_called(v, out);
	none_recorded(v, out);
	if (!v->all) {
		not_interference(v, out);
		add_unknown(v, out);
	}
	if (v->all)
		as_a_whole(v, out);
	left_out(v, out);
	own_probe(v, out);
}

/* Adds a sentence if the paragraph has room for it. */
static void add_fitting(const struct view *v, const char *s, size_t n, unsigned lines,
			struct text *paragraph)
{
	struct text longer = { 0 };

	text_printf(&longer, "%s%s%.*s", paragraph->n ? paragraph->s : "", paragraph->n ? ". " : "",
		    (int)n, s);
	if (paragraph->n && lines_of(&longer, v->width) > lines) {
		text_release(&longer);
		return;
	}
	text_release(paragraph);
	*paragraph = longer;
}

/* Prints as many sentences as fit, or all with -v. */
static void print_fitting(const struct view *v, const struct text *sentences, unsigned lines,
			  struct text *out)
{
	struct text paragraph = { 0 };

	for (const char *s = sentences->s; *s;) {
		size_t n = strcspn(s, "\n");

		add_fitting(v, s, n, lines, &paragraph);
		s += n + (s[n] == '\n');
	}
	text_add(&paragraph, MORE);
	text_wrap(paragraph.s, v->width, out);
	text_release(&paragraph);
}

void text_remarks(const struct view *v, unsigned lines, struct text *out)
{
	struct text sentences = { 0 };

	if (v->all)
		remarks(v, lines, out);
	else if (!v->by_thread && v->shortened < SHORTEN_REMARKS)
		remarks(v, lines, &sentences);
	if (sentences.n)
		print_fitting(v, &sentences, lines, out);
	text_release(&sentences);
}

void text_to_do(const struct view *v, struct text *out)
{
	struct text loops = { 0 };

	if (!v->all && !v->by_thread && v->shortened < SHORTEN_NOTES)
		loops_to_mark(v, &loops);
	if (loops.n)
		text_wrap(loops.s, v->width, out);
	text_release(&loops);
	text_next(v, out);
}
