/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/calls/ended.h"
#include "analysis/cause/kind.h"
#include "analysis/lock/holding.h"
#include "analysis/lock/table.h"
#include "analysis/result/result.h"
#include "base/text.h"
#include "report/block/rank.h"
#include "report/block/slowed.h"
#include "report/block/view.h"
#include "report/screen/headline.h"
#include "report/screen/runtime.h"
#include "report/screen/spin.h"
#include "report/screen/taken.h"
#include "report/screen/text.h"
#include "report/screen/told.h"
#include "report/screen/next.h"
#include "report/screen/row.h"
#include "report/screen/untold.h"
#include "report/table/table.h"
#include "report/table/wrap.h"
#include "trace/meta/meta.h"

#define NAME_BYTES (4 * 24 + 1) /* of the program's name */

/*
 * Returns the program's name as the recorder wrote it, "svc". An older recording has only the
 * command ("/usr/bin/svc -p 80"). If it attached to processes, the command is another program and
 * the name is "pid 7".
 */
static void program_name(const struct view *v, char *buf, size_t n)
{
	const struct meta_session *s = &v->result->meta->session;
	char word[256];
	size_t len = s->command && !s->attached ? strcspn(s->command, " ") : 0;

	if (s->program && *s->program) {
		text_shortened(buf, n, s->program, (n - 1) / 4);
		return;
	}
	if (!len) {
		if (s->pid == META_UNKNOWN || !s->pid)
			snprintf(buf, n, "program");
		else
			snprintf(buf, n, "pid %llu", (unsigned long long)s->pid);
		return;
	}
	if (len >= sizeof(word))
		len = sizeof(word) - 1;
	memcpy(word, s->command, len);
	word[len] = '\0';
	text_printable(buf, n < 32 ? n : 32, text_base_name(word));
}

static void counted(const struct view *v, struct text *out, uint64_t n, const char *what)
{
	char number[TEXT_COUNTED];

	text_printf(out, "%s%s", v->utf8 ? " · " : ", ", text_counted(number, n, what));
}

static void overhead(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	char slowed[TEXT_NUMBER];

	if (isnan(res->coverage))
		return;
	text_add(out, v->utf8 ? " · " : ", ");
	if (isnan(res->overhead))
		text_add(out, "overhead unknown");
	else {
		text_share(slowed, res->hardly_runs ? res->overhead_cpus : res->overhead);
		text_printf(out, "overhead %s%s%s",
			    res->overhead_is_least && !res->hardly_runs ? "over "
			    : *slowed == '<'				? ""
									: "~",
			    slowed, res->hardly_runs ? " of a CPU" : "");
	}
}

void text_program(const struct view *v, struct text *out)
{
	const struct meta_session *s = &v->result->meta->session;
	char name[NAME_BYTES];

	program_name(v, name, sizeof(name));
	text_add(out, name);
	if (strncmp(name, "pid ", 4) && s->pid && s->pid != META_UNKNOWN)
		text_printf(out, " (pid %llu)", (unsigned long long)s->pid);
}

static void recorded(const struct view *v, bool with_cpus, struct text *out)
{
	const struct result *res = v->result;
	const struct meta_session *s = &res->meta->session;
	char number[TEXT_NUMBER];

	if (res->duration_ns >= 1000000000)
		text_printf(out, "%.1f s", (double)res->duration_ns / 1e9);
	else
		text_add(out, text_time(number, res->duration_ns));
	if (s->cpus && with_cpus)
		counted(v, out, s->cpus, "CPU");
	counted(v, out, threads_count(&res->calls.threads), "thread");
	counted(v, out, res->calls.entries, "call");
	if (meta_period(res->meta) > 1 && res->estimated_calls)
		text_printf(out, " of %s", text_count(number, res->estimated_calls));
	if (res->lost_records)
		counted(v, out, res->lost_records, "dropped event");
	overhead(v, out);
}

void text_recorded(const struct view *v, struct text *out)
{
	recorded(v, true, out);
}

static void add_first_line(const struct view *v, bool with_cpus, struct text *line)
{
	text_program(v, line);
	text_add(line, v->utf8 ? " · " : ", ");
	recorded(v, with_cpus, line);
}

/* Prints the first line. The reader knows the number of CPUs, so it is left out if the line would
 * become two. */
static void first_line(const struct view *v, struct text *out)
{
	struct text line = { 0 }, shorter = { 0 };

	add_first_line(v, true, &line);
	add_first_line(v, false, &shorter);
	text_wrap(table_columns(line.s) > v->width && table_columns(shorter.s) <= v->width
			  ? shorter.s
			  : line.s,
		  v->width, out);
	text_release(&shorter);
	text_release(&line);
	if (v->result->windowed)
		text_printf(out, "only %.3f s to %.3f s of the recording\n",
			    (double)v->result->window_from_ns / 1e9,
			    (double)v->result->window_to_ns / 1e9);
}

/* Parts of thread time, in the order of the line and the bar. */
struct part {
	const char *name, *bar; /* bar: a character of the bar, in UTF-8 */
	double share;
};

#define PARTS_MAX  5
#define PART_LEAST 0.01 /* of thread time: a smaller part is not named */

static unsigned parts_of(const struct result *res, struct part parts[PARTS_MAX])
{
	double all = (double)res->threads_ns;
	unsigned n = 0;

	parts[n++] = (struct part){ "lost", "█", (double)res->lost_ns / all };
	if (res->working_ns == BLOCK_NONE)
		return n;
	if ((double)res->unexplained_ns / all >= PART_LEAST)
		parts[n++] = (struct part){ "unexplained", "▓", (double)res->unexplained_ns / all };
	parts[n++] =
		(struct part){ "running", "▒", (double)(res->working_ns - res->runnable_ns) / all };
	if ((double)res->runnable_ns / all >= PART_LEAST)
		parts[n++] = (struct part){ "run queue", "░", (double)res->runnable_ns / all };
	parts[n++] = (struct part){ "idle", "·", (double)res->idle_ns / all };
	return n;
}

static void bar(const struct view *v, const struct part *parts, unsigned n, struct text *out)
{
	unsigned columns = v->width > 82 ? 78 : v->width > 22 ? v->width - 4 : 18, drawn = 0;
	double sum = 0;

	if (!v->utf8 || n < 2)
		return;
	text_add(out, "  ");
	for (unsigned i = 0; i < n; i++)
		for (sum += parts[i].share; drawn < columns && drawn + 0.5 < sum * columns; drawn++)
			text_add(out, parts[i].bar);
	text_add(out, "\n");
}

/* A perf.data may know when threads stopped running, but not when they went on. */
static bool has_half_switches(const struct meta *meta)
{
	vec_for_each (&meta->notices, const struct meta_notice, n)
		if (n->code && !strcmp(n->code, "half-switches"))
			return true;
	return false;
}

/* Rounds each part but the first down to whole percents. Returns how many percents are missing to
 * 100 then; rest: what was cut off of each part. */
static int cut_off(const struct part *parts, unsigned n, int whole[], double rest[])
{
	double small = 0;
	int left = 100;

	for (unsigned i = 0; i < n; i++) {
		bool is_small = parts[i].share < PART_LEAST;

		whole[i] =
			is_small ? 0 : (int)(i ? 100 * parts[i].share : rint(100 * parts[i].share));
		rest[i] = is_small ? -1 : 100 * parts[i].share - whole[i];
		small += is_small ? 100 * parts[i].share : 0;
		left -= whole[i];
	}
	return left - (int)(small + 0.5);
}

/* Rounds parts to whole percents that add up to 100. The first, lost time, is rounded as it is in
 * all other places. Of the others, those from which rounding down takes most get one more. Parts
 * under one percent stay as they are. */
static void round_parts(const struct part *parts, unsigned n, int whole[])
{
	double rest[PARTS_MAX];
	int left = cut_off(parts, n, whole, rest);

	for (; left > 0 && n > 1; left--) {
		unsigned most = 1;

		for (unsigned i = 2; i < n; i++)
			most = rest[i] > rest[most] ? i : most;
		if (rest[most] < 0)
			break;
		whole[most]++;
		rest[most] = 0;
	}
}

/* whole: the percents of a part, or 0 for one that is rounded by itself. */
static void add_part(const struct part *part, int whole, struct text *out)
{
	char number[TEXT_NUMBER];

	if (!whole)
		text_printf(out, " %s %s", text_share(number, part->share), part->name);
	else
		text_printf(out, " %d%% %s", whole, part->name);
}

static void time_line(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	struct part parts[PARTS_MAX];
	char number[TEXT_NUMBER];
	struct text line = { 0 };
	int whole[PARTS_MAX];
	unsigned n;

	if (!res->duration_ns || !res->threads_ns)
		return;
	n = parts_of(res, parts);
	text_printf(&line, "thread time %s:", text_time(number, res->threads_ns));
	round_parts(parts, n, whole);
	for (unsigned i = 0; i < n; i++) {
		text_add(&line, i == 1 ? "; not lost:" : i ? "," : "");
		add_part(&parts[i], i ? whole[i] : 0, &line);
	}
	if (n == 1)
		text_printf(&line, " (%s: blocked time is unknown)",
			    has_half_switches(res->meta) ? "when threads ran again was not recorded"
							 : "no switch records");
	text_wrap(line.s, v->width, out);
	bar(v, parts, n, out);
	text_release(&line);
}

static void coverage_line(const struct view *v, struct text *out)
{
	char number[TEXT_NUMBER];

	if (v->all && !isnan(v->result->coverage))
		text_printf(out, "traced calls cover %s of thread time\n",
			    text_share(number, v->result->coverage));
}

static void note(const struct view *v, const char *s, struct text *out)
{
	struct text line = { 0 };
	char *copy = xmalloc(4096);

	text_printf(&line, "note: %s", text_printable(copy, 4096, s));
	text_wrap(line.s, v->width, out);
	text_release(&line);
	free(copy);
}

/* The note with the number of those that are left out. */
static void last_note(const struct view *v, const char *s, size_t more, struct text *out)
{
	struct text both = { 0 };

	text_add(&both, s);
	text_printf(&both, "%s%zu more note%s (-v)", both.n ? "; " : "", more,
		    more == 1 ? "" : "s");
	note(v, both.s, out);
	text_release(&both);
}

#define NOTES_MOST 3 /* on the first screen; the last one counts those that are left out */

static size_t notes_most(const struct view *v, size_t all)
{
	if (v->all)
		return all;
	if (v->shortened >= SHORTEN_NOTES)
		return v->shortened < SHORTEN_ALL_NOTES;
	return all <= NOTES_MOST ? all : NOTES_MOST - 1;
}

static void notes(const struct view *v, struct text *out)
{
	size_t all = 0, n = 0, most;

	vec_for_each (&v->result->notices, const struct notice, notice)
		all += v->all || !notice->small;
	most = notes_most(v, all);
	vec_for_each (&v->result->notices, const struct notice, notice) {
		if ((!v->all && notice->small) || n++ >= most)
			continue;
		if (n == most && all > most)
			last_note(v, notice->text, all - most, out);
		else
			note(v, notice->text, out);
	}
	if (!most && all)
		last_note(v, "", all, out);
}

void text_header(const struct view *v, struct text *out)
{
	first_line(v, out);
	time_line(v, out);
	coverage_line(v, out);
	if (v->result->damage)
		note(v, v->result->damage, out);
	notes(v, out);
}

/* Returns how the user can make visible what the program does outside of its traced functions. */
static const char *how_to_trace_more(const struct result *res)
{
	return meta_has_notice(res->meta, "no-symbols") ? "only the program's symbols make them "
							  "known"
							: "trace more of them (-F)";
}

#define MOST 0.5 /* of thread time outside of all blocks: from here on worth a sentence */

/* Reports how much thread time is neither in a traced block nor a wait, and where it is. */
static void outside(const struct result *res, struct text *out)
{
	double all = (double)res->threads_ns;
	double cpu = (double)res->outside_cpu_ns / all;
	double runnable = (double)res->outside_runnable_ns / all;
	char number[TEXT_NUMBER];

	if (res->lost_records >= res->records / 10)
		return;
	if (res->outside_cpu_ns == BLOCK_NONE) {
		if (1 - res->coverage > MOST)
			text_printf(out, " %s of thread time is outside every traced function: %s.",
				    text_share(number, 1 - res->coverage), how_to_trace_more(res));
	} else if (cpu + runnable > MOST && runnable > cpu) {
		text_printf(
			out,
			" %s of thread time waits for a CPU outside every traced function: more "
			"threads are ready to run than there are CPUs, or other programs have them.",
			text_share(number, runnable));
	} else if (cpu + runnable > MOST) {
		text_printf(out, " %s of thread time runs outside every traced function: %s.",
			    text_share(number, cpu), how_to_trace_more(res));
	}
}

static bool any_worth(const struct view *v)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (report_worth(v->rows[i]))
			return true;
	return false;
}

#define SELDOM_TRACED 0.5 /* of the recording: less tells little of the rest */

/* Adds the command that shows the functions of the same recording. */
static void report_command(const struct view *v, struct text *out)
{
	text_add(out, "`ispot report");
	text_input_option(v, out);
	text_add(out, "`");
}

/* Reports how much time is lost at the waiting places of locks that no traced call took. */
static void locks_outside(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	char number[TEXT_NUMBER];
	double lost = 0;

	if (res->keyed.rule.kind != BLOCK_LOCK)
		return;
	vec_for_each (&res->sites, const struct block, b) {
		const struct cause *cause = report_main_cause(b);

		if (report_worth(b) && cause && !strcmp(cause->kind, "lock"))
			lost += b->lost_threads;
	}
	if (lost < SCI_SMALL)
		return;
	text_printf(out, " Lock contention outside every traced function costs %s of thread time: ",
		    text_share(number, lost * (double)res->probed_ns / (double)res->threads_ns));
	report_command(v, out);
	text_add(out, " says where; record the functions that take those locks (-F).");
}

/* Returns the function that is no lock but loses most by waits like those for one, as sem_wait. */
static const struct block *most_like_a_lock(const struct result *res)
{
	const struct block *most = NULL;

	vec_for_each (&res->blocks, const struct block, b) {
		const struct cause *cause = report_main_cause(b);

		if (report_worth(b) && !lock_function_of(b->function) && cause &&
		    !strcmp(cause->kind, "lock") && (!most || b->lost_threads > most->lost_threads))
			most = b;
	}
	return most;
}

static bool is_semaphore(const struct block *b)
{
	const char *symbol = b->function->symbol;

	return symbol && standard_wait_of("libc.so.6", symbol) == STANDARD_SEMAPHORE;
}

/* Reports the waits that the functions' view calls lock contention, though they take no lock of
 * this view. */
static void waits_like_locks(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	const struct block *b = res->keyed.rule.kind == BLOCK_LOCK ? most_like_a_lock(res) : NULL;
	char number[TEXT_NUMBER], name[NAME_BYTES];
	double share;

	if (!b)
		return;
	share = b->lost_threads * (double)res->probed_ns / (double)res->threads_ns;
	if (share < SCI_SMALL)
		return;
	text_printf(out, " Waits in %s%s cost %s of thread time: ",
		    text_shortened(name, sizeof(name), b->name, (NAME_BYTES - 1) / 4),
		    is_semaphore(b)
			    ? ", which has no owner and so is no lock,"
			    : " look like those for a lock, of which no call was traced. They",
		    text_share(number, share));
	report_command(v, out);
	text_add(out, " has them.");
}

/* Returns a function that takes locks and was traced for less than half of the recording, and
 * stores for how long, or returns NULL. */
static const struct meta_not_traced *seldom_traced_lock(const struct result *res, uint64_t *ns)
{
	vec_for_each (&res->meta->not_traced, const struct meta_not_traced, f) {
		const struct meta_function function = { .symbol = f->name };
		const struct lock_function *lock = lock_function_of(&function);

		if (!lock || lock->action != LOCK_TAKE || !f->traced_until_ns || f->traced_again_ns)
			continue;
		*ns = result_since_start(res, f->traced_until_ns);
		if ((double)*ns < SELDOM_TRACED * (double)res->duration_ns)
			return f;
	}
	return NULL;
}

/* Says that a lock's row, which loses little, is of a small part of the recording alone. Returns
 * false if no row is. */
static bool lock_seldom_traced(const struct view *v, struct text *out)
{
	char until[TEXT_NUMBER], all[TEXT_NUMBER], name[NAME_BYTES];
	uint64_t ns;
	const struct meta_not_traced *f = seldom_traced_lock(v->result, &ns);

	if (f)
		text_printf(out,
			    "Cannot tell whether threads wait for locks: %s was called too often, "
			    "and is traced in the first %s of %s alone.",
			    text_printable(name, sizeof(name), f->name), text_time(until, ns),
			    text_time(all, v->result->duration_ns));
	return f;
}

/* Reports that no lock has a row, and why. */
static void no_lock_judged(const struct view *v, struct text *out)
{
	const struct meta_not_traced *costly = next_costly_lock(v->result->meta);
	char locks[TEXT_COUNTED], share[TEXT_NUMBER], name[NAME_BYTES];
	uint64_t taken = 0;

	vec_for_each (&v->result->groups, const struct block, b)
		taken += b->calls > 0;
	if (costly)
		text_printf(out,
			    "Cannot tell whether threads wait for locks: calls of %s would have "
			    "cost %s of the program's CPU time to trace.",
			    text_printable(name, sizeof(name), costly->name),
			    text_share(share, costly->cost_share));
	else if (taken)
		text_printf(out,
			    "Cannot tell whether threads wait for locks: %s %s taken, none of "
			    "them the %d times that a verdict needs. Record for longer.",
			    text_counted(locks, taken, "lock"), taken == 1 ? "was" : "were",
			    CALLS_MIN);
	else
		text_add(out, "No lock was taken: the recording has functions that take locks, "
			      "but no call of them. Record while threads take locks, or the "
			      "functions that this program locks with (-F).");
}

#define LOST_LEAST 0.01 /* of thread time: less is not worth a sentence */

/* Says where the headline's lost time is if there is no table that could. none: the sentence before
 * says that no row loses much. */
static void lost_all_the_same(const struct view *v, bool none, struct text *out)
{
	double all = (double)v->result->threads_ns, ns = report_elsewhere_ns(v), rows = 0;
	char number[TEXT_NUMBER];

	/* other sentences say of locks where else threads wait */
	if (report_any_listed(v) || !(all > 0) || v->result->keyed.rule.kind == BLOCK_LOCK)
		return;
	for (size_t i = 0; i < v->n_rows; i++)
		rows += report_counted_ns(v, v->rows[i]);
	if (none && rows >= LOST_LEAST * all)
		text_printf(out, " All together lose %s (-v).", text_share(number, rows / all));
	if (ns < LOST_LEAST * all)
		return;
	text_printf(out, " %s is lost %s (", text_share(number, ns / all), report_elsewhere(v));
	report_command(v, out);
	text_add(out, ").");
}

static void no_lock_lost(const struct view *v, struct text *out)
{
	if (lock_seldom_traced(v, out))
		return;
	if (report_any_listed(v))
		text_add(out, "No lock costs 1% of thread time.");
	else
		no_lock_judged(v, out);
}

static void nothing_lost(const struct view *v, struct text *out)
{
	const struct result *res = v->result;

	text_new_sentence(out);
	if (res->keyed.rule.kind == BLOCK_LOCK)
		no_lock_lost(v, out);
	else
		text_printf(
			out,
			"No %s%s loses 1%% of thread time to interference that ispot can measure.",
			res->sequences ? "sequence" : "function",
			any_worth(v) ? " itself, without its callees," : "");
	lost_all_the_same(v, true, out);
}

/* Returns whether no function and no place has enough calls for a verdict. Then it is unknown
 * whether time is lost. A single wait may be known to be idle, which tells nothing of others. */
static bool none_of(const struct blocks *blocks)
{
	vec_for_each (blocks, const struct block, b)
		if (b->calls >= CALLS_MIN && b->verdict != VERDICT_TOO_FEW_CALLS)
			return false;
	return true;
}

static bool none_judged(const struct result *res)
{
	return res->keyed.rule.kind != BLOCK_LOCK && !res->sequences && none_of(&res->blocks) &&
	       none_of(&res->sites);
}

/* Whether the program slept nearly all the time, so that there is nothing to tell. */
static bool hardly_ran(const struct result *res)
{
	const struct meta_end *end = &res->meta->end;

	return end->present && end->target_cpu_ns != META_UNKNOWN && !res->windowed &&
	       meta_hardly_runs((double)end->target_cpu_ns, 0, (double)res->duration_ns);
}

static void nothing_judged(const struct result *res, struct text *out)
{
	text_new_sentence(out);
	if (hardly_ran(res))
		text_add(out, "Cannot tell whether threads interfere: the program hardly ran. "
			      "Record it while it is busy.");
	else if (!res->calls.entries)
		text_add(out, "Cannot tell whether threads interfere: no call was recorded.");
	else
		text_printf(out,
			    "Cannot tell whether threads interfere: no function has the %d calls "
			    "that a verdict needs. Record for longer, or functions that are called "
			    "more often (-F).",
			    CALLS_MIN);
}

#define RUNS_LEAST   0.1 /* of thread time: below this, threads hardly run, wherever they do */
#define OUTSIDE_MOST 0.8 /* of the CPU time */

/* Returns the part of the CPU time that is outside every traced function, or 0 if that is little,
 * or other time is lost. Where no samples tell in what code it is, as without root, that is all
 * that is known of it. */
static double mostly_outside(const struct result *res)
{
	const double all = (double)res->threads_ns;
	double cpu = res->outside_cpu_ns == BLOCK_NONE || res->runnable_ns == BLOCK_NONE
			     ? 0
			     : (double)res->outside_cpu_ns;
	double part = cpu > 0 ? cpu / (double)(res->working_ns - res->runnable_ns) : 0;

	if (res->lost_ns != BLOCK_NONE && (double)res->lost_ns >= LOST_LEAST * all)
		return 0;
	return part > OUTSIDE_MOST && cpu > RUNS_LEAST * all ? part : 0;
}

static void runs_elsewhere(const struct result *res, struct text *out)
{
	text_new_sentence(out);
	text_add(out, report_alone(res));
	text_printf(out, "%.0f%% of the CPU time is outside every traced function: %s.",
		    100 * mostly_outside(res), how_to_trace_more(res));
}

#define UNTOLD_SLEEP 0.1 /* of thread time: with more, nothing can be said of all threads */

/* Whether threads sleep so long outside of the rows, for nobody knows what. */
static bool sleeps_untold(const struct result *res)
{
	return !res->calls.threads.have_waking && res->calls.threads.have_switch &&
	       res->unexplained_ns != BLOCK_NONE &&
	       (double)res->unexplained_ns >= UNTOLD_SLEEP * (double)res->threads_ns;
}

static void untold_sleep(const struct result *res, struct text *out)
{
	char share[TEXT_NUMBER];

	text_new_sentence(out);
	text_printf(out,
		    "Cannot tell whether threads interfere: they sleep for %s of thread time "
		    "outside the calls that were compared, and wakeups were not recorded.",
		    text_share(share, (double)res->unexplained_ns / (double)res->threads_ns));
}

/* Says that no row loses much, or why that is not known. What is left out here, where the time is
 * outside of the rows, is said behind it. no_score: samples tell where it is. */
static void no_row(const struct view *v, bool no_score, struct text *out)
{
	const struct result *res = v->result;
	const struct block *unjudged = report_most_unjudged(v);
	/* the calls that take a lock show its contention, whatever else runs */
	const bool locks = res->keyed.rule.kind == BLOCK_LOCK;

	if (no_score && !locks)
		lost_all_the_same(v, false, out);
	else if (unjudged)
		text_unjudged(v, unjudged, out);
	else if (!no_score && none_judged(res))
		nothing_judged(res, out);
	else if (!locks && sleeps_untold(res) && !(report_elsewhere_ns(v) > 0))
		untold_sleep(res, out);
	else if (locks || !(mostly_outside(res) > 0))
		nothing_lost(v, out);
}

#define CPUS_FULL    0.9  /* of the CPUs' time: above this, shorter waits gain nothing */
#define OTHERS_LEAST 0.05 /* of it, by other programs: a smaller share is not reported */

/* Returns how many CPUs were idle, on average, that the program could have used, or NAN if that is
 * unknown. */
static double free_cpus(const struct result *res)
{
	const struct meta *meta = res->meta;
	const uint64_t start_ns = meta->session.start_ns, end_ns = meta->end.end_ns;
	double cpus = (double)meta->session.cpus, free = res->usable_cpus - res->busy_cpus;

	if (meta->end.present && meta->end.cpus_busy_ns != META_UNKNOWN && end_ns > start_ns)
		free = fmin(free,
			    cpus - (double)meta->end.cpus_busy_ns / (double)(end_ns - start_ns));
	return free;
}

/* Returns how many CPUs the program did not ask for, or NAN if that is unknown. Its threads asked
 * for a CPU whenever they ran or were in the run queue. CPUs that other programs used count as not
 * asked for, because threads that are blocked less would compete for them. */
static double unasked_cpus(const struct result *res)
{
	double ready = res->ready_ns == BLOCK_NONE || !res->probed_ns
			       ? 0
			       : (double)res->ready_ns / (double)res->probed_ns;

	return res->usable_cpus - res->busy_cpus - ready;
}

static bool waits_behind_others(const struct block *b)
{
	const struct cause *cause = report_main_cause(b);

	return cause && !strcmp(cause->kind, "cpu-wait") && !cause_cpus_crowded(b);
}

/* Returns the part of a CPU that one of the block's threads asks for while it is not blocked.
 * Threads that sleep while they hold a lock ask for little, however many they are. */
static double cpu_asked(const struct result *res, const struct block *worst)
{
	double lost = worst->lost_threads * (double)res->probed_ns;
	double rest = fmin((double)worst->free_ns, (double)worst->observed_ns - lost);

	return worst->asked_ns && rest > (double)worst->asked_ns ? (double)worst->asked_ns / rest
								 : 1;
}

/* Returns how many CPUs the program does not ask for if the block loses nothing. Threads that spin
 * free the CPU that they run on; without other programs, it serves the threads behind them in the
 * run queue. Threads that give up the CPU only to look again do not ask for it any more. */
static double unasked_without(const struct result *res, const struct block *worst)
{
	double freed = worst->pools[POOL_RUNNING] - worst->unexplained[POOL_RUNNING];

	if (cause_gives_up(worst))
		freed += worst->pools[POOL_PREEMPTED];
	return unasked_cpus(res) + freed / (double)res->probed_ns;
}

/* Returns the most threads' time that can be recovered. Threads that are blocked less do more of
 * their other work, as far as there are CPUs for it. */
static double most_gained(const struct result *res, const struct block *worst)
{
	double told = report_told_share(worst) * worst->lost_threads;
	double gained = unasked_without(res, worst) / cpu_asked(res, worst);

	if (isnan(gained) || !res->meta->session.cpus || waits_behind_others(worst))
		return told;
	return fmin(told, fmax(0, gained));
}

/* How busy the CPUs are that the program may use; shares of their time. worst may be NULL. */
struct load {
	bool full;    /* threads that wait less find no CPU free */
	bool foreign; /* other programs have most of them */
	double busy, own;
};

static struct load load_of(const struct result *res, const struct block *worst)
{
	double unasked = worst ? unasked_without(res, worst) : unasked_cpus(res);
	double cpus = res->usable_cpus, free = free_cpus(res);
	struct load l = { .busy = 1 - fmax(0, free) / cpus, .own = fmin(1, res->busy_cpus / cpus) };

	l.full = cpus > 0 && !isnan(free) && l.busy >= CPUS_FULL &&
		 unasked <= (1 - CPUS_FULL) * cpus;
	l.foreign = l.busy - l.own > OTHERS_LEAST && l.own < l.busy / 2;
	return l;
}

/* spins: another sentence says what else keeps CPUs busy than work. */
static void full_cpus(const struct result *res, const struct block *worst, bool spins,
		      struct text *out)
{
	const struct load l = load_of(res, worst);
	const bool others = l.busy - l.own > OTHERS_LEAST;
	double cpus = res->usable_cpus;
	char all[TEXT_NUMBER], part[TEXT_NUMBER];

	if (!l.full)
		return;
	if (cpus < (double)res->meta->session.cpus)
		text_printf(
			out,
			"The program may use %g of the %u CPUs (affinity or cgroup), and %s of that "
			"is busy",
			round(100 * cpus) / 100, res->meta->session.cpus, text_share(all, l.busy));
	else if (others)
		text_printf(out, "The %u CPU%s %s busy, %s with this program", (unsigned)cpus,
			    cpus == 1 ? " is" : "s are", text_share(all, l.busy),
			    text_share(part, l.own));
	else
		text_printf(out, "The program keeps its %u CPU%s %s busy", (unsigned)cpus,
			    cpus == 1 ? "" : "s", text_share(all, l.busy));
	text_add(out,
		 l.foreign ? ". Other programs have the rest: stop them, or record on a quiet "
			     "machine."
		 : spins   ? ". No CPU is free."
		 : others
			 ? ". No CPU is free: stop the other programs, or do less work in this one."
			 : ". No CPU is free, so only less work helps.");
}

#define IDLE_MOST 0.75 /* of thread time: above this, shares of the remaining time are printed */

static bool mostly_idle(const struct result *res)
{
	return res->idle_ns != BLOCK_NONE && res->idle_ns < res->threads_ns &&
	       (double)res->idle_ns > IDLE_MOST * (double)res->threads_ns;
}

#define NOTHING 0.0005 /* of thread time: a smaller share gets no number */
#define BOUNDED 0.95   /* of the cost: the text adds if less can be recovered */

bool report_cpus_limit(const struct result *res, const struct block *worst)
{
	const struct load l = load_of(res, worst);

	if (l.busy - l.own > OTHERS_LEAST) /* on a quiet machine there are CPUs */
		return false;
	return l.full ||
	       most_gained(res, worst) * (double)res->probed_ns < NOTHING * (double)res->threads_ns;
}

/* Adds what the named causes cost. If the block has a row, in this view or another, that shows all
 * that the block loses: the sentence has its time, and says which part of it this is. */
static void part_of_row(const struct view *v, const struct block *worst, double ns,
			struct text *out)
{
	const struct result *res = v->result;
	double row_ns = worst->lost_threads * (double)res->probed_ns;
	const double part = row_ns > 0 ? 100 * ns / row_ns : 100;
	char time[TEXT_NUMBER], row[TEXT_NUMBER], all[TEXT_NUMBER], share[TEXT_NUMBER];
	bool is_all;

	text_time(time, (uint64_t)llround(ns));
	text_time(row, (uint64_t)llround(row_ns));
	is_all = !strcmp(row, time) || lround(part) >= 100;
	text_lost_share(share, (is_all ? row_ns : ns) / (double)res->threads_ns);
	text_printf(out, " %s of thread time ", share);
	if (!report_is_row(v, worst))
		text_printf(out, "(%s of the %s lost)", is_all ? row : time,
			    text_time(all, res->lost_ns));
	else if (is_all)
		text_printf(out, "(%s)", row);
	else
		text_printf(out, "(%.0f%% of the %s in its row)", part, row);
}

/* Adds what the named causes cost, and how much of it can be recovered if that is less.
 * full: an earlier sentence says that the CPUs have no room. */
static void costs(const struct view *v, const struct block *worst, bool full, struct text *out)
{
	const struct result *res = v->result;
	double told = report_told_share(worst) * worst->lost_threads;
	double gained = most_gained(res, worst);
	bool bounded = gained < BOUNDED * told && !full;
	double lost_ns = told * (double)res->probed_ns;
	char share[TEXT_NUMBER];

	part_of_row(v, worst, lost_ns, out);
	if (mostly_idle(res))
		text_printf(out, ", %s of the time that is not idle",
			    text_share(share, lost_ns / (double)(res->threads_ns - res->idle_ns)));
	text_add(out, ".");
	gained *= (double)res->probed_ns / (double)res->threads_ns;
	if (bounded && gained < NOTHING)
		text_add(out, " Fixing it recovers nothing: there are no more CPUs for its "
			      "threads.");
	else if (bounded)
		text_printf(out,
			    " Fixing it recovers at most %s of thread time: there are no more CPUs "
			    "for its threads.",
			    text_share(share, gained));
}

/* Why a lock is held for as long as others wait: that is what to change. */
static void holder(const struct view *v, const struct block *worst, struct text *out)
{
	const struct cause *cause = report_main_cause(worst);
	struct holding_most most = { 0 };
	struct text doing = { 0 };

	if (cause && !strcmp(cause->kind, "lock"))
		most = text_holding(v, worst, &doing);
	if (doing.n)
		text_printf(out, " While others wait, the lock's holder %s %.0f%% of the time%s%s.",
			    doing.s, 100 * most.share,
			    most.function != UINT32_MAX && most.mostly ? ", mostly " : "",
			    most.function != UINT32_MAX && most.mostly ? most.mostly : "");
	text_release(&doing);
}

/* Reports who keeps the CPUs busy. Returns whether none is free for threads that wait less. */
static bool busy_cpus(const struct result *res, const struct block *worst, bool spins,
		      struct text *out)
{
	full_cpus(res, worst, spins, out);
	if (out->n)
		return true;
	text_mostly_taken(res, out);
	return false;
}

/* Prints the paragraph, behind the caution if the program was slowed a lot. */
static void print_conclusion(const struct view *v, const struct text *sentences, struct text *out)
{
	struct text line = { 0 };

	text_slowed(v->result, &line);
	if (line.n)
		text_wrap(line.s, v->width, out);
	text_release(&line);
	text_wrap(sentences->n ? sentences->s : "", v->width, out);
}

/* Sentences on time that is in no row: a runtime's, that of threads that spin, and that of threads
 * that wait for work. first: those that the screen begins with; else the others. */
static void beside_rows(const struct view *v, const struct untold_functions *untold, bool first,
			struct text *out)
{
	struct giver giver = report_giver(v);

	if (report_runtime_leads(v) == first)
		text_runtime(v, out);
	if (report_spins_lead(v, untold) == first)
		text_spins(untold, out);
	if (giver.leads == first)
		text_giver(v, &giver, out);
}

void text_conclusion(const struct view *v, struct text *out)
{
	const struct result *res = v->result;
	const struct block *worst = report_told_row(v);
	const struct block *unexplained = report_most_unexplained(v);
	struct untold_functions untold = { 0 };
	struct text line = { 0 };
	bool no_score, is_full;
	size_t said; /* length of the text after the sentence about the CPUs */

	result_untold(res, &untold);
	no_score = untold.n && untold.share > MOST;
	if (!worst && !res->calls.entries && !no_score && !res->threads_ns)
		goto out;
	is_full = busy_cpus(res, worst, report_spins(&untold) || report_runtime(v), &line);
	said = line.n;
	beside_rows(v, &untold, true, &line);
	if (worst) {
		text_new_sentence(&line);
		text_headline(res, worst, &line);
		costs(v, worst, is_full, &line);
		holder(v, worst, &line);
		if (v->shortened >= SHORTEN_OTHERS) {
			if (unexplained && unexplained->unexplained_threads > worst->lost_threads)
				text_unexplained(v, unexplained, &line);
			goto wrap;
		}
	}
	beside_rows(v, &untold, false, &line);
	if (unexplained && (!worst || unexplained->unexplained_threads > worst->lost_threads))
		text_unexplained(v, unexplained, &line);
	if (line.n == said)
		no_row(v, no_score, &line);
	else
		lost_all_the_same(v, false, &line);
	locks_outside(v, &line);
	waits_like_locks(v, &line);
	if (no_score)
		text_untold(v->result, &untold, line.n == said, &line);
	else if (line.n == said)
		runs_elsewhere(res, &line);
	else
		outside(res, &line);
wrap:
	print_conclusion(v, &line, out);
out:
	text_release(&line);
	vec_release(&untold);
}
