// SPDX-License-Identifier: GPL-3.0-or-later
#include "probes/inject/targets.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "probes/inject/budget.h"
#include "probes/inject/choice.h"
#include "probes/inject/patched.h"
#include "probes/inject/refusal.h"
#include "probes/patch/plan.h"
#include "probes/inproc/inproc.h"
#include "probes/inproc/lines.h"
#include "probes/process/program.h"
#include "probes/process/translator.h"
#include "probes/recording/options.h"
#include "probes/select/arguments.h"
#include "probes/select/blocking.h"
#include "probes/select/missing.h"
#include "probes/select/pattern.h"
#include "symbol/dso/cache.h"
#include "symbol/dso/dso.h"
#include "symbol/dso/lines.h"
#include "symbol/dso/symbols.h"
#include "symbol/library/closure.h"
#include "symbol/maps.h"
#include "trace/meta/meta.h"
#include "trace/meta/print.h"
#include "trace/write/writer.h"

#define MOST_OF_COMMAND	 10000 /* functions chosen for a command, which no user waits for */
#define MOST_OF_ATTACHED 1000  /* fewer, as a process is stopped while it is patched */

#define NAMED 20 /* functions in the file for each reason why they were not patched */

/* ---- objects ---- */

static void add_object(struct inject_targets *t, struct dso *dso)
{
	vec_for_each (&t->objects, struct dso *, known)
		if (*known == dso)
			return;
	*vec_add(&t->objects) = dso;
}

static int objects_of_program(struct inject_targets *t, const struct command_program *p,
			      struct err *err)
{
	struct dso_closure closure = { 0 };
	struct stat st;
	int ret = dso_closure_in(t->dsos, p->path, p->environment, &closure, err);

	for (size_t i = 0; i < closure.n && !ret; i++) {
		struct dso *dso;

		ret = dso_get(t->dsos, closure.paths[i], &dso, err);
		if (!ret)
			add_object(t, dso);
	}
	dso_closure_release(&closure);
	if (ret)
		return ret;
	t->program = xstrdup(text_base_name(p->script ? p->script : p->path));
	if (!stat(p->path, &st)) {
		t->inode = st.st_ino;
		t->device = st.st_dev;
	}
	return refusal_of_program(t->objects.data[0], err);
}

static int objects_of_command(struct inject_targets *t, char *const *argv, struct err *err)
{
	struct command_program p;
	int ret = command_program_find(&p, argv, err);

	if (ret)
		return ret;
	if (p.is_shell)
		ret = err_set(
			err, -ENOTSUP,
			"%s runs in a shell, so ispot does not know which program to patch; give the "
			"program itself as the command",
			p.script ? p.script : "the command");
	else if (p.changes_user && geteuid())
		ret = err_set(
			err, -ENOTSUP,
			"sudo or doas gets no rights while --engine in-process traces it; run ispot "
			"itself with sudo");
	if (!ret)
		ret = translator_refuse(p.script ? p.script : p.path, err);
	if (!ret)
		ret = objects_of_program(t, &p, err);
	command_program_release(&p);
	return ret;
}

/* A Java machine makes code as it runs, and inspects its own. */
static int refuse_java(pid_t pid, const struct mapping *m, struct err *err)
{
	if (strcmp(text_base_name(m->path), "libjvm.so") != 0)
		return 0;
	return err_set(
		err, -ENOTSUP,
		"process %d is a Java machine, which is not patched; record its methods with "
		"--java, or its libraries with --engine kernel",
		pid);
}

static bool is_program_of(pid_t pid, const struct mapping *m)
{
	return m->inode && patched_program_of(pid).inode == m->inode;
}

static void add_mapped(struct inject_targets *t, pid_t pid, const struct mapping *m)
{
	struct err why = { 0 };
	char path[4200];
	struct dso *dso;

	if (mapping_path(m, pid, path, sizeof(path), &why) || dso_get(t->dsos, path, &dso, &why))
		log_detail("%s is left out: %s", m->path, why.text);
	else
		add_object(t, dso);
}

static int objects_of_process(struct inject_targets *t, pid_t pid, size_t *n_programs,
			      struct err *err)
{
	struct mappings maps = { 0 };
	int ret = refusal_of_process(pid, err);

	if (!ret)
		ret = mappings_read(&maps, pid, err);
	vec_for_each (&maps, const struct mapping, m)
		if (!ret)
			ret = refuse_java(pid, m, err);
	vec_for_each (&maps, const struct mapping, m)
		if (is_program_of(pid, m))
			add_mapped(t, pid, m);
	*n_programs = t->objects.n;
	if (!ret && t->objects.n)
		ret = refusal_of_program(t->objects.data[0], err);
	vec_for_each (&maps, const struct mapping, m)
		add_mapped(t, pid, m);
	if (!ret && !t->program)
		t->program = program_of_process(pid);
	mappings_release(&maps);
	return ret;
}

/* The program will lock itself up (seccomp), and then end at the system calls that the first record
 * of a new thread makes. */
static int refuse_libseccomp(const char *path, const char *who, struct err *err)
{
	if (strncmp(text_base_name(path), "libseccomp.so", 13) != 0)
		return 0;
	return err_set(err, -ENOTSUP,
		       "%s uses libseccomp, and may then end at a system call that it does not "
		       "expect; record with --engine kernel",
		       who);
}

static int refuse_seccomp(const struct inject_targets *t, struct err *err)
{
	int ret = 0;

	vec_for_each (&t->objects, struct dso *, dso)
		if (!ret)
			ret = refuse_libseccomp(dso_path(*dso),
						t->program ? t->program : "the program", err);
	return ret;
}

/* Checks the program of the process. If its file cannot be read, its functions are unknown, too. */
static int refuse_program(struct inject_targets *t, pid_t pid, const struct mapping *m,
			  struct err *err)
{
	struct err why = { 0 };
	char path[4200];
	struct dso *dso;

	if (!is_program_of(pid, m) || mapping_path(m, pid, path, sizeof(path), &why) ||
	    dso_get(t->dsos, path, &dso, &why))
		return 0;
	return refusal_of_program(dso, err);
}

int inject_targets_refuse_mapped(struct inject_targets *t, pid_t pid, struct err *err)
{
	struct mappings maps = { 0 };
	int ret = mappings_read(&maps, pid, err);
	char who[32];

	snprintf(who, sizeof(who), "process %d", pid);
	vec_for_each (&maps, const struct mapping, m) {
		if (!ret)
			ret = refuse_java(pid, m, err);
		if (!ret)
			ret = refuse_libseccomp(m->path, who, err);
		if (!ret)
			ret = refuse_program(t, pid, m, err);
	}
	mappings_release(&maps);
	return ret;
}

static uint64_t loaded_bytes(const struct inject_targets *t)
{
	uint64_t sum = 0, start, end;

	vec_for_each (&t->objects, struct dso *, dso)
		for (size_t i = 0; dso_loaded_stretch(*dso, i, &start, &end); i++)
			sum += end - start;
	return sum;
}

/* A library may call mlockall() without the program's ever using it, as libjack does in ffmpeg. The
 * call fails there if the files alone exceed the limit. */
static bool may_lock_memory(const struct inject_targets *t)
{
	vec_for_each (&t->objects, struct dso *, dso)
		if (dso_has_import(*dso, "mlockall"))
			return refusal_lock_limit() >= loaded_bytes(t);
	return false;
}

/* ---- functions ---- */

/* Asks the planner that `ispot check` asks, so that both name the same functions. */
static void add_planned(struct inject_targets *t, struct patched_function *f,
			const struct patch_function *planned)
{
	f->why = planned->refusal;
	for (size_t i = 0; !f->why && i < planned->n_sites; i++)
		*vec_add(&f->sites) = planned->sites[i];
	if (f->why)
		*vec_add(&t->left) = *f;
	else
		*vec_add(&t->functions) = *f;
}

static void set_gone(const struct selected *s, struct err *err)
{
	err_set(err, -ENOTSUP,
		"-F %s: where %s can be patched, that argument is gone; leave it out, or record "
		"with --engine kernel",
		s->pattern, s->function->symbol);
}

/* Counts the functions of patterns with arguments. */
static void count_with_arguments(struct inject_targets *t, const struct selected *s, bool are_all,
				 const struct err *why)
{
	if (!*s->arguments)
		return;
	t->n_with += are_all && !why->code;
	if (are_all && !why->code)
		return;
	if (!t->n_without++ && why->code)
		t->without = *why;
	else if (t->n_without == 1)
		set_gone(s, &t->without);
}

/* Chooses the arguments that are recorded of a function that is patched: those that its pattern
 * names and known ones, or some that may tell how much work a call has. */
static int choose_arguments(struct inject_targets *t, struct patched_function *f,
			    const struct selected *s, const struct no_key *no_key, struct err *err)
{
	struct err why = { 0 };
	bool are_all;
	int ret;

	f->arguments = xcalloc(1, sizeof(*f->arguments));
	ret = arguments_choose(f->arguments, s->arguments, !s->by_name, s->dso, s->function, no_key,
			       &why);
	are_all = patched_keep_arguments(f->arguments, f->sites.data, f->sites.n);
	if (!ret && !are_all && *s->arguments && s->by_name) {
		set_gone(s, &why);
		ret = why.code;
	}
	if (ret) {
		*err = why;
		return ret;
	}
	count_with_arguments(t, s, are_all, &why);
	arguments_add_occasional(f->arguments, s->dso, s->function,
				 f->sites.data->intact & INPROC_ARGUMENTS, no_key);
	arguments_add_caller(f->arguments, s->function);
	return 0;
}

/* A brief function has no time of its own to tell, but the end of a lock's release tells how long
 * the lock was held. */
static bool is_worth_patching(const struct patch_function *planned, const struct dso_function *f)
{
	return !planned->is_brief || blocking_is_unlock(f->symbol);
}

/* with_brief: all functions whose calls are brief are patched, too. */
static int plan_functions(struct inject_targets *t, const struct session_options *o,
			  bool with_brief, struct err *err)
{
	const struct no_key no_key = { o->no_key, o->n_no_key };
	struct patch_plan *plan = NULL;
	const struct dso *of = NULL;
	int ret = 0;

	vec_for_each (&t->selection.chosen, const struct selected, s) {
		struct patched_function f = { .dso = s->dso, .function = s->function };
		const struct patch_function *planned;

		if (!s->marker && of != s->dso) { /* functions are sorted by file */
			patch_plan_free(plan);
			plan = patch_plan_new(s->dso);
			of = s->dso;
		}
		if (s->marker) {
			f.why = "is a marker";
			*vec_add(&t->left) = f;
			continue;
		}
		planned = patch_plan_function(plan, s->function);
		if (!with_brief && !is_worth_patching(planned, s->function))
			continue;
		add_planned(t, &f, planned);
		if (!planned->refusal && !ret)
			ret = choose_arguments(t, &t->functions.data[t->functions.n - 1], s,
					       &no_key, err);
	}
	patch_plan_free(plan);
	if (!ret && t->n_without && !t->n_with) {
		*err = t->without;
		ret = err->code;
	}
	return ret;
}

static int select_functions(struct inject_targets *t, const struct session_options *o,
			    size_t n_programs, struct err *err)
{
	struct patterns *patterns = NULL;
	int ret = patterns_parse(&patterns, o->patterns, o->n_patterns, err);

	t->selection.is_final = true;
	if (!ret)
		ret = selection_add(&t->selection, patterns, t->objects.data, t->objects.n,
				    n_programs, err);
	if (!ret)
		ret = selection_missing(&t->selection, patterns, t->objects.data, t->objects.n,
					err);
	if (!ret)
		ret = plan_functions(t, o, true, err);
	patterns_free(patterns);
	return ret;
}

/* Chooses functions if -F names none, except for those that it excludes. */
static int choose_functions(struct inject_targets *t, const struct session_options *o,
			    size_t n_programs, struct err *err)
{
	const struct choice_of of = { .objects = t->objects.data,
				      .n = t->objects.n,
				      .n_programs = n_programs,
				      .most = o->argv ? MOST_OF_COMMAND : MOST_OF_ATTACHED };
	int ret = patterns_parse(&t->excluding, o->patterns, o->n_patterns, err);

	t->selection.excluding = t->excluding;
	if (!ret)
		ret = choice_make(&t->selection, &of, &t->named, err);
	if (!ret)
		ret = plan_functions(t, o, false, err);
	if (ret || t->functions.n)
		return ret;
	t->left.n = 0; /* brief functions are better than none */
	return plan_functions(t, o, true, err);
}

static int check_functions(const struct inject_targets *t, struct err *err)
{
	const struct patched_function *f = t->left.data;

	if (t->functions.n > INPROC_IDS_MAX)
		return err_set(err, -E2BIG,
			       "more functions are chosen than ispot takes; choose fewer");
	if (t->functions.n)
		return 0;
	if (!f && !t->is_chosen)
		return err_set(err, -ENOENT,
			       "%s has no functions with names that could be chosen; install its "
			       "debug symbols, or build it without stripping",
			       t->program ? t->program : "the program");
	if (!f)
		return err_set(err, -ENOENT, "-F chose no function; see ispot check");
	return err_set(err, -ENOTSUP,
		       "no chosen function can be patched (%s %s); record with --engine kernel",
		       f->function->symbol, f->why);
}

int inject_targets_find_objects(struct inject_targets *t, const struct session_options *o,
				size_t *n_programs, struct err *err)
{
	int ret = 0;

	*n_programs = 1;
	t->dsos = dso_cache_new();
	if (o->argv)
		ret = objects_of_command(t, o->argv, err);
	for (size_t i = 0; i < o->n_pids && !ret; i++)
		ret = objects_of_process(t, o->pids[i], n_programs, err);
	if (!ret)
		ret = refuse_seccomp(t, err);
	t->may_lock = !ret && o->argv && may_lock_memory(t);
	return ret;
}

static struct dso *nameless_of(const struct inject_targets *t, size_t n_programs)
{
	const struct dso_function *unused;

	for (size_t i = 0; i < n_programs && i < t->objects.n; i++)
		if (!dso_functions(t->objects.data[i], &unused))
			return t->objects.data[i];
	return NULL;
}

int inject_targets_find(struct inject_targets *t, const struct session_options *o, struct err *err)
{
	size_t n_programs;
	int ret = inject_targets_find_objects(t, o, &n_programs, err);

	t->nameless = ret ? NULL : nameless_of(t, n_programs);

	t->is_chosen = !patterns_only_exclude(o->patterns, o->n_patterns);
	if (!ret)
		ret = t->is_chosen ? select_functions(t, o, n_programs, err)
				   : choose_functions(t, o, n_programs, err);
	return ret ? ret : check_functions(t, err);
}

void inject_targets_release(struct inject_targets *t)
{
	patched_functions_release(&t->functions);
	vec_release(&t->left);
	vec_release(&t->objects);
	selection_release(&t->selection);
	patterns_free(t->named);
	patterns_free(t->excluding);
	free(t->program);
	dso_cache_free(t->dsos);
}

/* ---- lines ---- */

static void write_line(struct trace_writer *w, struct text *line)
{
	trace_writer_meta(w, line->s);
	text_release(line);
}

static uint32_t object_id(const struct inject_targets *t, const struct dso *dso)
{
	for (size_t i = 0; i < t->objects.n; i++)
		if (t->objects.data[i] == dso)
			return (uint32_t)i;
	return 0;
}

static void write_function(const struct inject_targets *t, uint32_t id, struct trace_writer *w)
{
	const struct patched_function *p = &t->functions.data[id];
	const struct dso_line at = dso_function_line(p->dso, p->function);
	struct meta_function f = { .id = id,
				   .object = object_id(t, p->dso),
				   .name = dso_function_name(p->dso, p->function),
				   .symbol = p->function->symbol,
				   .address = p->function->address,
				   .size_bytes = p->function->size,
				   .class = CLASS_UNKNOWN,
				   .exit = EXIT_RET_SITES,
				   .file = at.file,
				   .line = at.line,
				   .block = "function",
				   .blocking = blocking_kind(p->function->symbol) != NULL,
				   .in_process = true,
				   .chosen = t->is_chosen,
				   .parameters = META_UNKNOWN };
	struct text line = { 0 };

	if (p->arguments) {
		f.parameters = p->arguments->parameters;
		f.n_arguments = p->arguments->n;
		f.arguments = p->arguments->all;
		f.n_prototype = p->arguments->n_prototype;
		f.prototype = p->arguments->prototype;
	}
	meta_print_function(&f, &line);
	write_line(w, &line);
}

/* Reports functions that lack the wanted arguments. */
static void write_without(const struct inject_targets *t, struct trace_writer *w)
{
	char functions[TEXT_COUNTED], *words;

	if (!t->n_without)
		return;
	words = xasprintf("%s of -F %s recorded without an argument named behind @: %s%s",
			  text_counted(functions, t->n_without, "function"),
			  t->n_without == 1 ? "is" : "are", t->without.text,
			  t->n_without == 1 ? "" : "; and others (ispot check)");
	log_notice("%s", words);
	inproc_write_notice(w, "arguments", words);
	free(words);
}

void inject_targets_write(struct inject_targets *t, struct trace_writer *w)
{
	for (uint32_t i = 0; i < t->objects.n; i++) {
		struct meta_object o = { .id = i,
					 .path = dso_path(t->objects.data[i]),
					 .build_id = dso_build_id(t->objects.data[i]) };
		struct text line = { 0 };

		meta_print_object(&o, &line);
		write_line(w, &line);
	}
	for (uint32_t i = 0; i < t->functions.n; i++)
		write_function(t, i, w);
	write_without(t, w);
}

void inject_targets_write_given_up(const struct patched_function *p,
				   const struct budget_function *spent, uint64_t now_ns,
				   struct trace_writer *w)
{
	const bool passed = spent->passed_ns;
	struct meta_not_traced n = {
		.name = dso_function_name(p->dso, p->function),
		.object = dso_path(p->dso),
		.reason = passed ? "called too often for the budget or its buffer"
				 : "over the overhead budget once traced",
		.address = p->function->address,
		.traced_until_ns = passed ? spent->passed_ns : now_ns,
		.cpu_share = NAN,
		.calls_per_s = spent->calls_per_s,
		.cost_share = spent->share
	};
	struct text line = { 0 };

	meta_print_not_traced(&n, &line);
	write_line(w, &line);
}

struct reasons {
	struct strtab words;
	struct {
		VEC(struct reason_count)
	} counts;
};

struct reason_count {
	uint64_t n;
	const struct patched_function *first;
};

static void write_skipped(struct reasons *r, const struct patched_function *p, const char *why,
			  struct trace_writer *w)
{
	uint32_t reason = strtab_add(&r->words, why);
	struct meta_not_traced n = { .name = dso_function_name(p->dso, p->function),
				     .object = dso_path(p->dso),
				     .reason = why,
				     .address = p->function->address,
				     .cpu_share = NAN,
				     .calls_per_s = NAN,
				     .cost_share = NAN };
	struct text line = { 0 };

	if (r->counts.n <= reason)
		vec_add(&r->counts)->first = p;
	if (r->counts.data[reason].n++ >= NAMED)
		return;
	meta_print_not_traced(&n, &line);
	write_line(w, &line);
}

/* Writes every reason to the file, and shows the one of most functions on the terminal. */
static void report_reasons(const struct reasons *r, struct trace_writer *w)
{
	char words[512], of_most[512] = "", functions[TEXT_COUNTED];
	uint64_t all = 0, most = 0;

	for (size_t i = 0; i < r->counts.n; i++) {
		const struct reason_count *c = &r->counts.data[i];
		struct meta_notice n = { .code = "not-patched", .text = words };
		struct text line = { 0 };

		snprintf(words, sizeof(words), "%s not patched: %s (%.200s%s)",
			 text_counted(functions, c->n, "function"),
			 strtab_get(&r->words, (uint32_t)i), c->first->function->symbol,
			 c->n > 1 ? " and others" : "");
		meta_print_notice(&n, &line);
		write_line(w, &line);
		all += c->n;
		if (c->n <= most)
			continue;
		most = c->n;
		memcpy(of_most, words, sizeof(words));
	}
	if (all > most)
		log_notice("%s, and %llu more for other reasons; see ispot report -v for all",
			   of_most, (unsigned long long)(all - most));
	else if (most)
		log_notice("%s", of_most);
}

void inject_targets_write_skipped(struct inject_targets *t, struct trace_writer *w)
{
	struct reasons r = { 0 };

	vec_for_each (&t->left, const struct patched_function, f) {
		char why[160];

		snprintf(why, sizeof(why), "it %s", f->why);
		write_skipped(&r, f, why, w);
	}
	vec_for_each (&t->functions, const struct patched_function, f)
		if (!f->is_in)
			write_skipped(&r, f, f->left ? f->left : "its process was not patched", w);
	if (t->is_chosen) /* no user asked for functions that ispot chose */
		report_reasons(&r, w);
	strtab_release(&r.words);
	vec_release(&r.counts);
}
