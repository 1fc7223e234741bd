/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines under the table: what is not interference, what nobody can say, what to do next. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause_kind.h"
#include "analysis/result.h"
#include "base/text.h"
#include "report/column.h"
#include "report/report.h"
#include "trace/meta.h"

#define NAMED_MAX	 4 /* blocks named in a line, the rest is counted */
#define LABEL		 "%-17s "
#define NAME_MAX_COLUMNS 48

static void print_labelled(const struct view *v, const char *label, const char *s, struct text *out)
{
	struct text wrapped = { 0 };
	const char *line;

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

static const char *what_it_does(const struct block *b)
{
	const struct cause_kind *kind =
		b->causes.n ? cause_kind_find(b->causes.data[0].kind) : NULL;

	if (b->verdict == VERDICT_WORKLOAD)
		return "workload";
	return kind && kind->idle ? kind->idle : "waits";
}

static double amount_of(const struct block *b)
{
	return b->verdict == VERDICT_IDLE ? b->idle_threads : b->lost_threads;
}

static void name_one(const struct block *b, struct text *out)
{
	char name[4 * NAME_MAX_COLUMNS + 1];

	text_add(out, text_shortened(name, sizeof(name), b->name, NAME_MAX_COLUMNS));
	if (b->key && b->kind == BLOCK_FUNCTION)
		text_printf(out, " %s",
			    text_shortened(name, sizeof(name), b->key, NAME_MAX_COLUMNS));
	text_printf(out, " %s", what_it_does(b));
	if (!isnan(amount_of(b)))
		text_printf(out, amount_of(b) >= 0.095 ? " %.1f" : " %.2f", amount_of(b));
}

static int more_threads(const void *a, const void *b)
{
	double x = amount_of(*(const struct block *const *)a);
	double y = amount_of(*(const struct block *const *)b);

	return (x < y) - (x > y);
}

static void not_interference(const struct view *v, struct text *out)
{
	struct {
		VEC(const struct block *)
	} blocks = { 0 };
	struct text line = { 0 };

	for (size_t i = 0; i < v->n_rows; i++)
		if (v->rows[i]->verdict == VERDICT_IDLE || v->rows[i]->verdict == VERDICT_WORKLOAD)
			*vec_add(&blocks) = v->rows[i];
	vec_sort(&blocks, more_threads);
	for (size_t i = 0; i < blocks.n && i < NAMED_MAX; i++) {
		text_add(&line, i ? "; " : "");
		name_one(blocks.data[i], &line);
	}
	if (blocks.n > NAMED_MAX)
		text_printf(&line, "; %zu more (-v)", blocks.n - NAMED_MAX);
	if (blocks.n)
		print_labelled(v, "not interference", line.s, out);
	text_release(&line);
	vec_release(&blocks);
}

/* Functions that are split by their arguments, as a whole: keys' losses do not add up to theirs. */
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
		print_labelled(v, "lost as a whole", line.s, out);
	}
	text_release(&line);
}

static unsigned count_verdict(const struct view *v, enum verdict verdict)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_rows; i++)
		n += v->rows[i]->verdict == verdict;
	return n;
}

static void too_small(const struct view *v, struct text *out)
{
	unsigned n = 0;
	char line[64];

	for (size_t i = 0; i < v->n_rows; i++)
		n += v->rows[i]->verdict == VERDICT_INTERFERENCE && !report_worth(v->rows[i]);
	snprintf(line, sizeof(line), "%u block%s with an SCI under %.2f (-v)", n, n == 1 ? "" : "s",
		 SCI_SMALL);
	if (n && !v->sort)
		print_labelled(v, "small", line, out);
}

static unsigned count_never_fast(const struct view *v)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_rows; i++)
		n += v->rows[i]->verdict == VERDICT_CANNOT_TELL && v->rows[i]->never_fast;
	return n;
}

static void cannot_say(const struct view *v, struct text *out)
{
	unsigned noise = count_verdict(v, VERDICT_NOISE);
	unsigned few = count_verdict(v, VERDICT_TOO_FEW_CALLS);
	unsigned blind = count_verdict(v, VERDICT_CANNOT_TELL);
	unsigned slow = count_never_fast(v);
	struct text line = { 0 };

	blind -= slow;
	if (slow)
		text_printf(&line,
			    "%u never seen fast, as even the fastest call waited: give --baseline "
			    "a quiet recording%s",
			    slow, noise || few || blind ? "; " : "");
	if (noise)
		text_printf(&line, "%u block%s under twice %s floor", noise, noise > 1 ? "s" : "",
			    noise > 1 ? "their" : "its");
	if (few)
		text_printf(&line, "%s%u with < %d timed calls", noise ? ", " : "", few, CALLS_MIN);
	if (blind)
		text_printf(&line, "%s%u not measured well enough", noise || few ? ", " : "",
			    blind);
	if (line.n) {
		text_add(&line, " (-v)");
		print_labelled(v, "cannot say", line.s, out);
	}
	text_release(&line);
}

/* A function that runs once and long says nothing; the iterations of its loop do. */
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
			    text_shortened(name, sizeof(name), b->name, NAME_MAX_COLUMNS));
		if (loop->inner_loop && loop->inner_loop != loop->loop)
			text_printf(&line, " (inside it line %u)", loop->inner_loop);
		text_printf(&line, ", %.0f %% of its threads' time", 100 * block_loop_share(b));
	}
	if (n > NAMED_MAX)
		text_printf(&line, "; %u more", n - NAMED_MAX);
	if (n) {
		text_add(&line, ": too few calls; mark iterations, ISPOT_LOOP_BEGIN in ispot.h");
		print_labelled(v, "loops to mark", line.s, out);
	}
	text_release(&line);
}

static void describe(const struct meta_not_traced *f, struct text *out)
{
	char name[4 * NAME_MAX_COLUMNS + 1], reason[256], number[TEXT_NUMBER];

	text_add(out,
		 text_shortened(name, sizeof(name), f->name ? f->name : "?", NAME_MAX_COLUMNS));
	if (!isnan(f->cpu_share))
		text_printf(out, " %.0f %% of CPU", 100 * f->cpu_share);
	if (!isnan(f->calls_per_s) && !isnan(f->cost_share))
		text_printf(out, ": %s calls/s would cost %.0f %%",
			    text_count(number, (uint64_t)f->calls_per_s), 100 * f->cost_share);
	else if (f->reason && *f->reason)
		text_printf(out, ": %s", text_printable(reason, sizeof(reason), f->reason));
}

static int hotter(const void *a, const void *b)
{
	const struct meta_not_traced *x = *(const struct meta_not_traced *const *)a;
	const struct meta_not_traced *y = *(const struct meta_not_traced *const *)b;
	double x_share = isnan(x->cpu_share) ? -1 : x->cpu_share;
	double y_share = isnan(y->cpu_share) ? -1 : y->cpu_share;

	return x_share != y_share ? (x_share < y_share ? 1 : -1) : (x > y) - (x < y);
}

static void not_traced(const struct view *v, struct text *out)
{
	const struct meta *meta = v->result->meta;
	struct {
		VEC(const struct meta_not_traced *)
	} all = { 0 };
	size_t room = v->all ? meta->not_traced.n : NAMED_MAX;

	vec_for_each (&meta->not_traced, const struct meta_not_traced, f)
		*vec_add(&all) = f;
	vec_sort(&all, hotter);
	for (size_t i = 0; i < all.n && i < room; i++) {
		struct text line = { 0 };

		describe(all.data[i], &line);
		if (i + 1 == room && all.n > room)
			text_printf(&line, "; %zu more (-v)", all.n - room);
		print_labelled(v,
			       i			       ? ""
			       : isnan(all.data[i]->cpu_share) ? "not traced"
							       : "hot, not traced",
			       line.s, out);
		text_release(&line);
	}
	vec_release(&all);
}

/* A word that a shell takes as it is, or the same in quotes. */
static void shell_word(const char *s, struct text *out)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:./+-@";

	if (*s && s[strspn(s, plain)] == '\0') {
		text_add(out, s);
		return;
	}
	text_add(out, "'");
	for (; *s; s++)
		if (*s == '\'')
			text_add(out, "'\\''");
		else
			text_addn(out, s, 1);
	text_add(out, "'");
}

/*
 * The command is in a shell's words; a line break in it stands inside of quotes: out of them, as
 * $'\n', and in again. Of one that would fill lines the program alone is left.
 */
static void command_line(const char *command, size_t screen_width, struct text *out)
{
	for (const char *c = command; *c; c++)
		if (*c == '\n')
			text_add(out, "'$'\\n''");
		else
			text_addn(out, (unsigned char)*c < ' ' || *c == 127 ? "?" : c, 1);
	if (out->n <= 2 * screen_width)
		return;
	text_release(out);
	for (const char *c = command; *c && *c != ' '; c++)
		text_addn(out, (unsigned char)*c < ' ' || *c == 127 ? "?" : c, 1);
	text_add(out, " ...");
}

static void next_line(struct text *out, size_t screen_width, size_t width, const char *label,
		      const char *command, const char *what)
{
	/* A command is never cut or broken: what it answers is left out where the line is too
	 * short. */
	if (6 + width + 2 + strlen(what) > screen_width)
		text_printf(out, "%-5s %s\n", label, command);
	else
		text_printf(out, "%-5s %-*s  %s\n", label, (int)width, command, what);
}

static void input_option(const struct view *v, struct text *out)
{
	char file[1024];

	if (!v->file || !strcmp(v->file, "ispot.data"))
		return;
	text_add(out, " -i ");
	shell_word(text_printable(file, sizeof(file), v->file), out);
}

/* By -F; else ispot chose, or had not got to it. */
static bool chosen_by_user(const struct view *v)
{
	vec_for_each (&v->result->meta->functions, const struct meta_function, f)
		if (f->chosen)
			return true;
	return false;
}

/* Nothing was called: what would show something. */
static void next_after_nothing(const struct view *v, struct text *out)
{
	const struct meta_session *s = &v->result->meta->session;
	struct text again = { 0 }, check = { 0 };
	struct text command = { 0 };
	size_t width;

	if (s->attached) {
		text_printf(&again, "ispot record -p %llu", (unsigned long long)s->pid);
		text_printf(&check, "ispot check -p %llu", (unsigned long long)s->pid);
	} else {
		if (!s->command || !*s->command)
			return;
		command_line(s->command, v->width, &command);
		text_printf(&again, "ispot record %s-- %s", chosen_by_user(v) ? "" : "--two-pass ",
			    command.s);
		text_printf(&check, "ispot check -- %s", command.s);
	}
	width = again.n > check.n ? again.n : check.n;
	next_line(out, v->width, width, "next", again.s,
		  chosen_by_user(v) ? "without -F: what is hot"
		  : s->attached	    ? "again, while it is busy"
				    : "chooses in one run, traces in another");
	next_line(out, v->width, width, "", check.s, "what -F can name");
	text_release(&again);
	text_release(&check);
	text_release(&command);
}

/* What people do about the worst block's cause. */
static void what_to_try(const struct block *worst, struct text *out)
{
	const struct cause *cause = report_main_cause(worst);
	const char *advice;

	for (size_t i = 0; cause && (advice = cause_advice(worst, cause->kind, i)); i++)
		text_printf(out, "%-5s %s\n", i ? "" : "try", advice);
}

/* What was recorded is in no file: to see more, make one. */
static void next_is_record(const struct view *v, const struct block *worst, struct text *out)
{
	const struct meta_session *s = &v->result->meta->session;
	struct text line = { 0 }, command = { 0 };
	char name[1024];

	text_add(&line, "ispot record -F ");
	shell_word(text_printable(name, sizeof(name), worst->name), &line);
	if (s->attached) {
		text_printf(&line, " -p %llu -d 10", (unsigned long long)s->pid);
	} else {
		command_line(s->command, v->width, &command);
		text_printf(&line, " -- %s", command.s ? command.s : "CMD");
	}
	next_line(out, v->width, line.n, "next", line.s, "then ispot report: who, where, when");
	text_release(&line);
	text_release(&command);
}

/* Where one function cannot stand for the row, as of calls beside each other: the worst of all. */
static const struct block *worst_function(const struct view *v, const struct block *row)
{
	const struct block *worst = row;

	if (row->kind != BLOCK_SEQUENCE)
		return row;
	vec_for_each (&v->result->blocks, const struct block, b)
		if (b->kind == BLOCK_FUNCTION && b->function && report_worth(b) &&
		    (worst == row || b->lost_threads > worst->lost_threads))
			worst = b;
	return worst;
}

static void what_next(const struct view *v, struct text *out)
{
	const struct block *worst = NULL;
	struct text slow = { 0 }, thread = { 0 };
	char name[1024];
	size_t width;

	for (size_t i = 0; i < v->n_rows && !worst; i++)
		if (report_worth(v->rows[i]))
			worst = v->rows[i];
	if (worst)
		what_to_try(worst, out);
	for (size_t i = 0; i < v->n_rows && worst && !worst->function; i++)
		if (report_worth(v->rows[i]) && v->rows[i]->function)
			worst = v->rows[i];
	if (!worst || !worst->function)
		return;
	worst = worst_function(v, worst);
	if (!v->file) {
		next_is_record(v, worst, out);
		return;
	}
	text_add(&slow, "ispot report --slow ");
	/* what is not printable becomes '?': safe to show, if not to paste */
	shell_word(text_printable(name, sizeof(name),
				  worst->kind == BLOCK_SEQUENCE || worst->kind == BLOCK_LOCK
					  ? worst->function->name
					  : worst->name),
		   &slow);
	input_option(v, &slow);
	text_add(&thread, "ispot report --by thread");
	input_option(v, &thread);
	width = slow.n > thread.n ? slow.n : thread.n;
	next_line(out, v->width, width, "next", slow.s, "who is slow, where, when");
	next_line(out, v->width, width, "", thread.s, "which threads lose it");
	text_release(&slow);
	text_release(&thread);
}

void text_remarks(const struct view *v, struct text *out)
{
	if (v->by_thread)
		return;
	if (!v->all) {
		as_a_whole(v, out);
		not_interference(v, out);
		cannot_say(v, out);
		loops_to_mark(v, out);
		too_small(v, out);
	}
	not_traced(v, out);
	if (v->result->calls.entries)
		what_next(v, out);
	else
		next_after_nothing(v, out);
}
