/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/screen/next.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/cause/by_counters.h"
#include "analysis/cause/cause.h"
#include "analysis/cause/kind.h"
#include "analysis/cause/verdict.h"
#include "analysis/imbalance/section/parallel_role.h"
#include "analysis/lock/holding.h"
#include "analysis/lock/table.h"
#include "analysis/result/result.h"
#include "analysis/threads/ends.h"
#include "analysis/threads/standard.h"
#include "base/mem.h"
#include "symbol/name.h"
#include "base/text.h"
#include "report/block/rank.h"
#include "report/block/view.h"
#include "report/screen/headline.h"
#include "report/screen/screen.h"
#include "report/screen/told.h"
#include "report/table/table.h"
#include "trace/meta/meta.h"

#define BURST_NAMES   3
#define MOVED_COLUMNS 32   /* of a function in an advice */
#define UNTOLD_WORTH  0.3  /* of the CPU time: a function without a score is worth a command */
#define BURST_SHARE   0.05 /* of the CPU time: less does not explain few recorded calls */

/* Adds shell words on one line. A line break inside quotes becomes $'\n' between two quoted parts.
 */
static void add_on_one_line(const char *words, struct text *out)
{
	char *rest = xstrdup(words), *const all = rest, *line, *printable;
	size_t n = 0;

	while ((line = strsep(&rest, "\n"))) {
		printable = text_printable_new(line);
		text_printf(out, "%s%s", n++ ? "'$'\\n''" : "", printable);
		free(printable);
	}
	free(all);
}

/*
 * Adds the recorded command. The recording may come from anybody, so its words are quoted again. If
 * the command would fill several lines, only the program is printed.
 */
static void command_line(const char *command, size_t screen_width, struct text *out)
{
	struct text words = { 0 };

	text_shell_words(&words, command, SIZE_MAX);
	add_on_one_line(words.n ? words.s : "CMD", out);
	text_release(&words);
	if (out->n <= 2 * screen_width)
		return;
	text_release(out);
	text_shell_words(&words, command, 1);
	add_on_one_line(words.s, out);
	text_add(out, " ...");
	text_release(&words);
}

#define COMMAND_INDENT 7

/* Returns the bytes of the command's first words that fit into so many columns, if possible up to
 * an option, or those of its first word alone. A blank in quotes or behind a backslash is part of a
 * word. */
static size_t fitting_words(const char *s, size_t columns)
{
	size_t word = 0, option = 0, used = 0;
	bool quoted = false;

	for (size_t i = 0; s[i] && (used <= columns || !(word + option)); i++) {
		used += (s[i] & 0xc0) != 0x80;
		if (s[i] == '\'')
			quoted = !quoted;
		else if (s[i] == '\\' && !quoted && s[i + 1])
			i++, used++;
		else if (s[i] == ' ' && !quoted && s[i + 1] == '-')
			option = i;
		else if (s[i] == ' ' && !quoted)
			word = i;
	}
	if (used <= columns || !(word + option))
		return strlen(s);
	return option ? option : word;
}

/* Adds a command, on several lines if it is too long for one. These can be pasted as one command:
 * each but the last ends with a backslash. */
static void add_command(const char *command, size_t screen_width, struct text *out)
{
	size_t indent = COMMAND_INDENT, n;

	while (strlen(command) + indent > screen_width) {
		n = fitting_words(command,
				  screen_width > indent + 2 ? screen_width - indent - 2 : 1);
		if (!command[n])
			break;
		text_printf(out, "%.*s \\\n%*s", (int)n, command, COMMAND_INDENT + 2, "");
		command += n + 1;
		indent = COMMAND_INDENT + 2;
	}
	text_printf(out, "%s\n", command);
}

static void next_line(struct text *out, size_t screen_width, size_t width, const char *label,
		      const char *command, const char *what)
{
	text_printf(out, "%-5s  ", label);
	/* A command is never cut. If the line is too short, the words behind it are left out. */
	if (COMMAND_INDENT + width + strlen(NEXT_COMMENT) + strlen(what) > screen_width)
		add_command(command, screen_width, out);
	else
		text_printf(out, "%-*s%s%s\n", (int)width, command, NEXT_COMMENT, what);
}

void text_input_option(const struct view *v, struct text *out)
{
	char file[1024];

	if (!v->file || !strcmp(v->file, "ispot.data"))
		return;
	text_add(out, " -i ");
	text_shell_word(out, text_printable(file, sizeof(file), v->file));
}

/* Adds the processes that the recording attached to. The threads are sorted by process. */
static void attached_pids(const struct view *v, struct text *out)
{
	const struct meta *meta = v->result->meta;
	uint64_t first = meta->session.pid, latest = first;
	struct text others = { 0 };

	vec_for_each (&meta->threads, const struct meta_thread, t) {
		if (t->tgid != latest && t->tgid != first)
			text_printf(&others, ",%u", t->tgid);
		latest = t->tgid;
	}
	text_printf(out, "%llu%s", (unsigned long long)first,
		    !others.n		      ? ""
		    : others.n > v->width / 2 ? ",..."
					      : others.s);
	text_release(&others);
}

/* Adds the program to record again: " -- CMD", or " -d 10 -p PID". */
static void same_program(const struct view *v, struct text *out)
{
	const struct meta_session *s = &v->result->meta->session;
	struct text command = { 0 };

	if (s->attached) {
		text_add(out, " -d 10 -p ");
		attached_pids(v, out);
		return;
	}
	command_line(s->command, v->width, &command);
	text_printf(out, " -- %s", command.s);
	text_release(&command);
}

/* Returns whether the user chose the functions with -F, instead of ispot. */
static bool chosen_by_user(const struct view *v)
{
	vec_for_each (&v->result->meta->functions, const struct meta_function, f)
		if (f->chosen)
			return true;
	return false;
}

static bool is_in_process(const struct view *v)
{
	return v->result->meta->session.producer &&
	       !strcmp(v->result->meta->session.producer, "in-process");
}

/* Whether f is memcmp(), strlen() or the like: its calls are shorter than its probes, and take no
 * lock. */
static bool is_of_strings(const struct meta_not_traced *f)
{
	static const char *const begins[] = { "mem", "str", "wmem", "wcs" };
	const char *name = f->name + strspn(f->name, "_");

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return f->object && standard_is_library(f->object);
	return false;
}

/* Whether f does nothing but sleep for a time: its calls explain nothing. */
static bool is_nap(const struct meta_not_traced *f)
{
	static const char *const names[] = { "nanosleep", "clock_nanosleep", "usleep", "sleep",
					     "thrd_sleep" };
	const char *name = f->name + strspn(f->name, "_");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return f->object && standard_is_libc(f->object);
	return false;
}

#define NAME_MOST \
	64 /* columns of a function in a command: of a longer name templates are left out */

/* Adds a name to a command. Names with long templates become patterns: nobody can read a command of
 * ten lines. */
static void add_pattern(const char *name, struct text *out)
{
	struct text brief = { 0 };

	name_add_short(&brief, name);
	/* a thread's first function has another name there */
	if (table_columns(name) <= NAME_MOST || !strstr(brief.s, "<>") ||
	    strstr(name, "_State_impl") || *name == '<' || strstr(name, "[abi:"))
		text_add(out, name);
	else
		for (const char *c = brief.s; *c; c++)
			text_printf(out, "%s%c",
				    c > brief.s && c[-1] == '<' && *c == '>' ? "*" : "", *c);
	text_release(&brief);
}

static void add_for_f(const char *name, struct text *out)
{
	struct text pattern = { 0 };
	char printable[1024];

	add_pattern(name, &pattern);
	text_shell_word(out, text_printable(printable, sizeof(printable), pattern.s));
	text_release(&pattern);
}

#define NAMELESS_MOST 0.5 /* of the CPU time: with more of it, symbols are what is missing */

/* Whether most CPU time is in code without symbols, of which no command can record calls. The
 * program's own functions call the standard libraries. */
static bool is_mostly_nameless(const struct result *res)
{
	struct untold_functions untold = { 0 };
	double share = 0;

	result_untold(res, &untold);
	vec_for_each (&untold, const struct untold_function, f)
		if (!*f->frame->symbol && !standard_is_library(f->frame->object))
			share += f->share;
	vec_release(&untold);
	return share > NAMELESS_MOST;
}

/* Whether f gives a lock back: that takes long only if other calls wait for the lock. */
static bool is_release(const struct meta_not_traced *f)
{
	const struct lock_function *lock =
		lock_function_of(&(struct meta_function){ .symbol = f->name });

	return lock && lock->action == LOCK_RELEASE;
}

/* Suggests --burst if few calls were recorded because the running functions are called too often.
 * Returns false if that is not the reason. */
static bool next_is_burst(const struct view *v, struct text *out)
{
	const struct meta *meta = v->result->meta;
	struct text line = { 0 };
	unsigned n = 0;
	bool told;

	/* this recorder has no bursts, and few functions are too costly for it */
	if (is_in_process(v) || is_mostly_nameless(v->result))
		return false;
	text_add(&line, "ispot record --burst 50ms/500ms");
	vec_for_each (&meta->not_traced, const struct meta_not_traced, f)
		if (f->name && *f->name && !isnan(f->cost_share) && n < BURST_NAMES &&
		    (isnan(f->cpu_share) || f->cpu_share >= BURST_SHARE) && !is_of_strings(f) &&
		    !is_nap(f) && !is_release(f)) {
			n++;
			text_add(&line, " -F ");
			add_for_f(f->name, &line);
		}
	same_program(v, &line);
	told = n && !(v->result->coverage >= 0.5);
	if (told)
		next_line(out, v->width, line.n, "Next:", line.s,
			  "the functions that were too costly to trace");
	text_release(&line);
	return told;
}

void text_next_command(unsigned width, const char *command, const char *what, struct text *out)
{
	next_line(out, width, strlen(command), "Next:", command, what);
}

void text_next_line(const struct view *v, const char *command, const char *what, struct text *out)
{
	text_next_command(v->width, command, what, out);
}

/* Suggests another view of the same recording. */
static void next_view(const struct view *v, const char *command, const char *what, struct text *out)
{
	struct text line = { 0 };

	text_add(&line, command);
	text_input_option(v, &line);
	text_next_line(v, line.s, what, out);
	text_release(&line);
}

static bool has_role(const struct result *res, enum role role)
{
	vec_for_each (&res->blocks, const struct block, b)
		if (b->calls && b->function && parallel_role(b->function, NULL) == role)
			return true;
	return false;
}

/* Suggests to compare the threads of parallel regions: each has few calls, of which every one may
 * have another share of the work. Threads that are made and joined once have no calls at all. */
static bool next_is_imbalance(const struct view *v, struct text *out)
{
	if (!v->file ||
	    (!has_role(v->result, ROLE_REGION) && !threads_end_apart(&v->result->calls.threads)))
		return false;
	next_view(v, "ispot imbalance", "how evenly the threads share the work", out);
	return true;
}

/* Suggests what to record if no function was called. */
static void next_after_nothing(const struct view *v, struct text *out)
{
	const struct meta_session *s = &v->result->meta->session;
	const bool as_ever = chosen_by_user(v) || is_in_process(v);
	struct text again = { 0 }, check = { 0 };
	struct text command = { 0 };
	size_t width;

	if (v->file && meta_has_notice(v->result->meta, "go")) {
		next_view(v, "ispot report --by thread", "what each thread does", out);
		return;
	}
	/* the threads' ends are known without calls */
	if (!chosen_by_user(v) && (next_is_imbalance(v, out) || next_is_burst(v, out)))
		return;
	if (is_mostly_nameless(v->result)) /* a note says how to get symbols */
		return;
	if (s->attached) {
		text_add(&again, "ispot record -p ");
		attached_pids(v, &again);
		text_printf(&check, "ispot check -F '*' -p %llu", (unsigned long long)s->pid);
	} else {
		if (!s->command || !*s->command)
			return;
		command_line(s->command, v->width, &command);
		text_printf(&again, "ispot record %s-- %s", as_ever ? "" : "--two-pass ",
			    command.s);
		text_printf(&check, "ispot check -F '*' -- %s", command.s);
	}
	width = again.n > check.n ? again.n : check.n;
	next_line(out, v->width, width, "Next:", again.s,
		  chosen_by_user(v)  ? "without -F: the hot functions"
		  : s->attached	     ? "again, while it is busy"
		  : is_in_process(v) ? "again, for longer"
				     : "choose in one run, trace in another");
	next_line(out, v->width, width, "", check.s, "the functions that -F can name");
	text_release(&again);
	text_release(&check);
	text_release(&command);
}

/* Returns whether no record explains half of the block's lost time although it runs on a CPU.
 * Counters may explain it. */
static bool wants_counters(const struct block *worst)
{
	return worst->off_known && worst->unexplained[POOL_RUNNING] > block_pools_ns(worst) / 2;
}

static bool is_traced(const struct meta *meta, const char *symbol)
{
	vec_for_each (&meta->functions, const struct meta_function, f)
		if (f->name && !strcmp(f->name, symbol))
			return true;
	return false;
}

/* Whether the lines above name loops to mark. */
static bool names_loops(const struct view *v)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (block_loop(v->rows[i]))
			return true;
	return false;
}

/* Suggests how to score the function that takes the most CPU time without a score. */
static void next_for_untold(const struct view *v, struct text *out)
{
	struct untold_functions untold = { 0 };
	struct text line = { 0 };
	const struct meta_frame *f;

	result_untold(v->result, &untold);
	f = untold.n && untold.data[0].share >= UNTOLD_WORTH ? untold.data[0].frame : NULL;
	/* what is inlined cannot be traced by itself */
	if (f && *f->symbol && (f->inlined || is_traced(v->result->meta, f->symbol))) {
		if (loop_can_be_marked(f) && !names_loops(v))
			text_detail(
				v, "Try",
				"mark the iterations of its loop (ISPOT_LOOP_BEGIN in ispot.h): they are "
				"calls, too",
				out);
	} else if (f && *f->symbol) {
		text_add(&line, "ispot record -F ");
		add_for_f(f->symbol, &line);
		same_program(v, &line);
		next_line(out, v->width, line.n, "Next:", line.s, "traces that function");
	}
	text_release(&line);
	vec_release(&untold);
}

/* Suggests what shows more of any program, if nothing else is known to. */
static void next_of_last_resort(const struct view *v, struct text *out)
{
	struct text line = { 0 };

	if (v->result->threads.n < 2)
		return;
	if (is_in_process(v) && !v->result->meta->session.attached) {
		text_add(&line, "sudo ispot record");
		same_program(v, &line);
		next_line(out, v->width, line.n, "Next:", line.s, "who wakes whom, and causes");
	} else if (v->file) {
		next_view(v, "ispot report --by thread", "what each thread does", out);
	}
	text_release(&line);
}

#define GROUPS_MAX 2 /* suggested at most; the most telling groups come first */

static void groups_to_try(const struct view *v, const char *label, struct text *out)
{
	struct text line = { 0 };
	const char *group;

	for (size_t n = 0; n < GROUPS_MAX && (group = cause_undecided_group(v->result->meta, n));
	     n++)
		text_printf(&line, "%s-e %s",
			    n ? ", or " : "on a machine with hardware counters: record ", group);
	if (line.n)
		text_detail(v, label, line.s, out);
	text_release(&line);
}

/* Returns whether the function itself takes a lock, or waits: that is no work to do elsewhere. */
static bool is_wait(const struct meta *meta, const struct meta_function *f)
{
	const char *object =
		f->object < meta->objects.n ? meta->objects.data[f->object].path : NULL;

	return lock_function_of(f) || (object && f->symbol && standard_wait_of(object, f->symbol));
}

/* Advises to move what the lock's holder does out of the critical section. Returns false if that is
 * not known, or is a wait itself. */
static bool move_out(const struct view *v, const struct block *worst, const char *kind,
		     struct text *out)
{
	const struct meta *meta = v->result->meta;
	struct holding_most most = holding_most(worst->holding);
	char name[4 * MOVED_COLUMNS + 1];

	if (strcmp(kind, "lock") != 0 || most.function >= meta->functions.n ||
	    cause_kind_of(worst, kind) != cause_kind_find(kind) ||
	    is_wait(meta, &meta->functions.data[most.function]))
		return false;
	text_printf(out, "move %s out of the critical section, or shard the lock",
		    name_brief(name, sizeof(name), meta->functions.data[most.function].name,
			       MOVED_COLUMNS));
	return true;
}

#define ADVISED_LEAST 0.15 /* of the lost time: advice on a smaller second cause distracts */

void text_what_to_try(const struct view *v, const struct block *worst, const char *label,
		      struct text *out)
{
	const bool full = report_cpus_limit(v->result, worst);
	struct told told = report_told(worst);
	struct text moved = { 0 };
	const char *advice;
	size_t n = 0;

	if (!told.n && wants_counters(worst))
		groups_to_try(v, label, out);
	for (size_t c = 0; c < told.n; c++) {
		if (full && cause_needs_cpu(worst, told.causes[c]->kind))
			continue;
		if (c && report_cause_share(worst, told.causes[c]) < ADVISED_LEAST)
			continue;
		if (move_out(v, worst, told.causes[c]->kind, &moved)) {
			text_detail(v, n++ ? "" : label, moved.s, out);
			continue;
		}
		for (size_t i = 0; (advice = cause_advice(worst, told.causes[c]->kind, i)); i++)
			text_detail(v, n++ ? "" : label, advice, out);
	}
	text_release(&moved);
}

/* Suggests `ispot record`, because this recording is not in a file. */
static void next_is_record(const struct view *v, const struct block *worst, struct text *out)
{
	struct text line = { 0 };
	char name[1024];

	text_add(&line, "ispot record -F ");
	text_shell_word(&line, text_printable(name, sizeof(name), worst->name));
	same_program(v, &line);
	next_line(out, v->width, line.n, "Next:", line.s, "then ispot report");
	text_release(&line);
}

/* Returns the row, or for a sequence, which has several functions, the function with the most lost
 * time of all. */
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

#define BESIDE 0.1 /* of the waiting place's lost time, which a function must lose */

static bool same_main_cause(const struct block *a, const struct block *b)
{
	const struct cause *x = report_main_cause(a), *y = report_main_cause(b);

	return !x || (y && !strcmp(x->kind, y->kind));
}

/* Returns a function whose lost time is comparable to that of the place outside of all functions,
 * and has the same cause, or the place itself if there is none. */
static const struct block *function_beside(const struct view *v, const struct block *place)
{
	for (size_t i = 0; i < v->n_rows; i++)
		if (report_worth(v->rows[i]) && v->rows[i]->function &&
		    v->rows[i]->lost_threads >= BESIDE * place->lost_threads &&
		    same_main_cause(place, v->rows[i]))
			return v->rows[i];
	return place;
}

/* Returns whether the calls are split only by the memory address among their arguments. */
static bool split_by_place(const struct meta_function *f)
{
	const struct meta_argument *key = NULL;

	for (uint32_t i = 0; i < f->n_arguments; i++) {
		if (!f->arguments[i].key)
			continue;
		if (key)
			return false;
		key = &f->arguments[i];
	}
	return key && key->class == ARGUMENT_ADDRESS;
}

/* Returns whether --slow takes the pattern for the block: of the rows whose names match, it opens
 * the one that loses most. */
static bool means(const struct result *res, const struct block *b, const char *function,
		  const char *pattern)
{
	bool is_one = true;

	if (!strcmp(function, pattern)) /* the name has no long template */
		return true;
	vec_for_each (&res->blocks, const struct block, other) {
		struct text name = { 0 };

		add_pattern(other->name, &name);
		is_one &= !strcmp(other->name, function) || strcmp(name.s, pattern) != 0 ||
			  other->lost_threads < b->lost_threads;
		text_release(&name);
	}
	return is_one;
}

void text_slow_name(const struct result *res, const struct block *b, struct text *out)
{
	const char *function =
		b->kind == BLOCK_SEQUENCE || b->kind == BLOCK_LOCK ? b->function->name : b->name;
	const char *key =
		block_is_call(b) && b->grouped ? b->key
		: b->kind == BLOCK_LOCK && split_by_place(b->function) && strcmp(b->name, function)
			? b->name
			: NULL;
	struct text whole = { 0 };
	char name[2048];

	add_pattern(function, &whole);
	if (!means(res, b, function, whole.s)) {
		text_release(&whole);
		text_add(&whole, function);
	}
	if (key)
		text_printf(&whole, " %s", key);
	/* unprintable characters become '?': such a name is safe to show, but cannot be pasted */
	text_shell_word(out, text_printable(name, sizeof(name), whole.s));
	text_release(&whole);
}

#define SOLO_CPUS  1.2	   /* busy CPUs from which on threads run at the same time */
#define SOLO_SHARE 0.1	   /* of thread time in one function: from here on worth the command */
#define SOLO_NS	   5000000 /* a longer call seldom fits into a window */

/* Returns a function whose calls may all be slow, even the fastest, because other threads always
 * run concurrently. */
static const struct block *maybe_never_alone(const struct view *v)
{
	const struct result *res = v->result;
	const struct block *most = NULL;

	if (res->working_ns == BLOCK_NONE || !(res->busy_cpus > SOLO_CPUS) || res->meta->solos.n)
		return NULL;
	vec_for_each (&res->blocks, const struct block, b)
		if (block_is_call(b) && b->timed_calls >= CALLS_MIN && b->p50_ns < SOLO_NS &&
		    b->threads > 1 && (double)b->total_ns > SOLO_SHARE * (double)res->threads_ns &&
		    (!most || b->total_ns > most->total_ns))
			most = b;
	return most;
}

/* Suggests --solo, which uses another baseline, if no time is lost compared with the fastest call.
 */
static bool next_is_solo(const struct view *v, struct text *out)
{
	const struct block *b = maybe_never_alone(v);
	struct text line = { 0 };

	if (!b || strcmp(v->result->meta->session.producer, "bpf") != 0)
		return false;
	text_add(&line, "ispot record --solo -F ");
	add_for_f(b->name, &line);
	same_program(v, &line);
	next_line(out, v->width, line.n, "Next:", line.s, "whether its threads slow each other");
	text_release(&line);
	return true;
}

/* Returns the function, or the group of its calls, that loses most time, or else runs longest for
 * an unknown reason; NULL: report would name none. */
static const struct block *function_of_report(const struct result *res)
{
	const struct blocks *both[] = { &res->blocks, &res->groups };
	const struct block *most = NULL, *varies = NULL;

	for (unsigned i = 0; i < 2; i++)
		vec_for_each (both[i], const struct block, b) {
			if (!b->function)
				continue;
			if (report_worth(b) && (!most || b->lost_threads > most->lost_threads))
				most = b;
			if (report_unexplained(b) &&
			    (!varies || b->unexplained_threads > varies->unexplained_threads))
				varies = b;
		}
	return most ? most : varies;
}

#define ALL_OF_SLOW "its callers, stacks, slowest calls"

/* Leads from the threads to the calls that lose most. If `ispot report` names a row, the user came
 * from there, so it is suggested only if it names none. */
static void next_of_threads(const struct view *v, struct text *out)
{
	const struct block *b = function_of_report(v->result);
	struct text line = { 0 };

	if (!v->n_rows)
		return;
	if (!b)
		return;
	text_add(&line, "ispot report -v --slow ");
	text_slow_name(v->result, b, &line);
	next_view(v, line.s, ALL_OF_SLOW, out);
	text_release(&line);
}

/* Whether the slow calls of a function may lead to the locks: threads queue in it for one. */
static bool any_queue_for_lock(const struct result *res)
{
	const struct blocks *both[] = { &res->blocks, &res->groups };

	for (unsigned i = 0; i < 2; i++)
		vec_for_each (both[i], const struct block, b) {
			const struct cause *cause = report_main_cause(b);
			const struct lock_function *l =
				b->function ? lock_function_of(b->function) : NULL;

			if (l && l->action != LOCK_WAIT && report_worth(b) && cause &&
			    !strcmp(cause->kind, "lock"))
				return true;
		}
	return false;
}

const struct meta_not_traced *next_costly_release(const struct meta *meta,
						  const struct lock_function *lock)
{
	vec_for_each (&meta->not_traced, const struct meta_not_traced, f)
		if (f->cost_share > 0 && !f->traced_until_ns && is_release(f) &&
		    lock_function_of(&(struct meta_function){ .symbol = f->name })->kind ==
			    lock->kind)
			return f;
	return NULL;
}

const struct meta_not_traced *next_costly_lock(const struct meta *meta)
{
	vec_for_each (&meta->not_traced, const struct meta_not_traced, f) {
		const struct meta_function function = { .symbol = f->name };
		const struct lock_function *lock = lock_function_of(&function);

		if (f->cost_share > 0 && lock && lock->action == LOCK_TAKE)
			return f;
	}
	return NULL;
}

/* Suggests bursts of the function that takes locks and was too costly to trace. Returns false if
 * there is none, or this recorder has no bursts. */
static bool next_is_burst_of_locks(const struct view *v, struct text *out)
{
	const struct meta_not_traced *f = next_costly_lock(v->result->meta);
	struct text line = { 0 };

	if (!f || is_in_process(v))
		return false;
	/* without the release there are no hold times */
	text_printf(&line, "ispot record --burst 50ms/500ms -F '%s'",
		    lock_pattern_of(
			    lock_function_of(&(struct meta_function){ .symbol = f->name })->kind));
	same_program(v, &line);
	next_line(out, v->width, line.n, "Next:", line.s, "waits for locks, in bursts");
	text_release(&line);
	return true;
}

/* Suggests what to run if no lock loses time: the report, or the threads if the report suggested
 * the locks. */
static void next_of_harmless_locks(const struct view *v, struct text *out)
{
	if (any_queue_for_lock(v->result))
		next_view(v, "ispot report --by thread", "the threads that lose time", out);
	else
		next_view(v, "ispot report", "the functions that lose time, and why", out);
}

/* Returns whether the block's threads mainly wait for the last one to arrive. */
static bool is_at_barrier(const struct block *b)
{
	return b->causes.n && !strcmp(b->causes.data[0].kind, "barrier");
}

/*
 * Suggests the views that lead on. The suggestions form no circle: `report` leads to --slow and
 * --by thread, --slow of a lock to --by lock, that to --by thread, each to -v --slow, and that to
 * `dump --events`.
 */
static void what_next(const struct view *v, struct text *out)
{
	const bool locks = v->result->keyed.rule.kind == BLOCK_LOCK;
	const struct block *lost = report_worst(v);
	const struct block *worst = lost ? lost : report_most_unexplained(v);
	struct text slow = { 0 }, thread = { 0 };
	size_t width;

	if (!lost && worst && !block_waits_for_unknown(worst))
		text_what_to_try(v, worst, "Try", out);
	if (!lost && worst && next_is_solo(v, out))
		return;
	if (worst && !worst->function)
		worst = function_beside(v, worst);
	if (!worst && locks && next_is_burst_of_locks(v, out))
		return;
	if (!worst && locks && v->file) {
		next_of_harmless_locks(v, out);
		return;
	}
	if (!worst) {
		const size_t before = out->n;

		if (!next_is_imbalance(v, out) && !next_is_burst(v, out) && !next_is_solo(v, out))
			next_for_untold(v, out);
		if (out->n == before)
			next_of_last_resort(v, out);
		return;
	}
	if (v->file && is_at_barrier(worst) &&
	    (has_role(v->result, ROLE_BARRIER) || has_role(v->result, ROLE_REGION))) {
		next_view(v, "ispot imbalance", "which threads come late, and why", out);
		return;
	}
	if (!worst->function) {
		if (v->file)
			next_view(v, "ispot report --by thread", "the threads that lose it", out);
		return;
	}
	worst = worst_function(v, worst);
	if (!v->file) {
		next_is_record(v, worst, out);
		return;
	}
	text_add(&slow, locks ? "ispot report -v --slow " : "ispot report --slow ");
	text_slow_name(v->result, worst, &slow);
	text_input_option(v, &slow);
	text_add(&thread, "ispot report --by thread");
	text_input_option(v, &thread);
	width = slow.n > thread.n ? slow.n : thread.n;
	next_line(out, v->width, width, "Next:", slow.s,
		  locks ? ALL_OF_SLOW : "what its slow calls have in common");
	next_line(out, v->width, width, "", thread.s, "the threads that lose it");
	text_release(&slow);
	text_release(&thread);
}

void text_next(const struct view *v, struct text *out)
{
	if (v->by_thread)
		next_of_threads(v, out);
	else if (v->result->calls.entries || (v->file && report_worst(v)))
		what_next(v, out);
	else
		next_after_nothing(v, out);
}
